import Foundation
import Synchronization

/// The payment service's record, the third party of the comparison, which no fault reaches.
final class PaymentBook: Sendable {
    private enum State: String {
        case waiting, cancelled
        case paid = "succeeded"
    }

    private struct Payment {
        let amount: Int64
        var state = State.waiting
    }

    private struct Refund {
        let payment: String
        let amount: Int64
    }

    private struct Content {
        var payments: [String: Payment] = [:]
        var refunds: [String: Refund] = [:]
        /// Calls that no server may make.
        var complaints: [String] = []
        var calls = 0
    }

    private let content = Mutex(Content())

    /// Plays the payer's payment.
    ///
    /// - Returns: false where the payment is closed.
    func pay(_ payment: String) -> Bool {
        content.withLock { content in
            guard let known = content.payments[payment], known.state != .cancelled else { return false }
            content.payments[payment]?.state = .paid
            return true
        }
    }

    // MARK: Calls

    /// A payment or a refund in the form of the protocol.
    struct Standing: Encodable {
        var payment_id: String
        var refund_id: String?
        var status: String
        var amount: Price?

        init(payment: String, refund: String? = nil, status: String, amount: Int64?) {
            payment_id = payment
            refund_id = refund
            self.status = status
            self.amount = amount.map { Price(value: $0, currency: "CNY") }
        }
    }

    /// The body of the answer to any call.
    struct Said: Encodable {
        struct Contract: Encodable {
            let type = "url"
            let checkout_url: String
        }

        var payment: Standing?
        var refund: Standing?
        var contract: Contract?
        // The members of the manifest.
        var `protocol`: Int?
        var display_name: String?
        var contract_types: [String]?
        var currencies: [String]?
        var cancel: String?
        var refunds: String?
        var notifications: Bool?

        static let manifest = Said(
            protocol: 1, display_name: "Fault test", contract_types: ["url"], currencies: ["CNY"], cancel: "definite",
            refunds: "partial", notifications: true)
    }

    private struct Asked: Decodable {
        let payment_id: String?
        let refund_id: String?
        let amount: Price?
    }

    /// - Returns: the answer's body and the number of the call; nil for an unknown call.
    func answer(_ call: String, _ body: Data) -> (said: Said, number: Int)? {
        guard let asked = try? JSONDecoder().decode(Asked.self, from: body), let payment = asked.payment_id else {
            return nil
        }
        return content.withLock { content in
            content.calls += 1
            return Self.answer(call, payment, asked, &content).map { ($0, content.calls) }
        }
    }

    private static func answer(
        _ call: String, _ payment: String, _ asked: Asked, _ content: inout Content
    ) -> Said? {
        switch call {
        case "payments/open": return open(payment, asked.amount?.value ?? 0, &content)
        case "payments/query": return Said(payment: standing(payment, content))
        case "payments/cancel":
            if content.payments[payment]?.state == .waiting { content.payments[payment]?.state = .cancelled }
            return Said(payment: standing(payment, content))
        case "refunds/make": return refund(payment, asked, &content)
        case "refunds/query": return Said(refund: refunded(payment, asked.refund_id ?? "", content))
        default: return nil
        }
    }

    private static func open(_ payment: String, _ amount: Int64, _ content: inout Content) -> Said {
        if content.payments[payment] == nil { content.payments[payment] = Payment(amount: amount) }
        if content.payments[payment]?.amount != amount {
            content.complaints.append("payment \(payment): was opened again with \(amount)")
        }
        let contract = Said.Contract(checkout_url: "https://pay.example/\(payment)")
        return Said(payment: standing(payment, content), contract: contract)
    }

    private static func standing(_ payment: String, _ content: Content) -> Standing {
        let known = content.payments[payment]
        return Standing(payment: payment, status: known?.state.rawValue ?? "not_found", amount: known?.amount)
    }

    /// Gives money back once for each refund id.
    private static func refund(_ payment: String, _ asked: Asked, _ content: inout Content) -> Said {
        let (id, amount) = (asked.refund_id ?? "", asked.amount?.value ?? 0)
        if let known = content.refunds[id] {
            if known.payment != payment || known.amount != amount {
                content.complaints.append("refund \(id): was asked for again with \(amount) of \(payment)")
            }
            return Said(refund: refunded(payment, id, content))
        }
        let given = content.refunds.values.reduce(0) { $0 + ($1.payment == payment ? $1.amount : 0) }
        guard let known = content.payments[payment], known.state == .paid, given + amount <= known.amount else {
            content.complaints.append("refund \(id): \(amount) of \(payment) are more than were paid and are left")
            return Said(refund: Standing(payment: payment, refund: id, status: "failed", amount: amount))
        }
        content.refunds[id] = Refund(payment: payment, amount: amount)
        return Said(refund: refunded(payment, id, content))
    }

    private static func refunded(_ payment: String, _ refund: String, _ content: Content) -> Standing {
        let known = content.refunds[refund]
        return Standing(
            payment: payment, refund: refund, status: known == nil ? "not_found" : "succeeded", amount: known?.amount)
    }

    // MARK: The comparison

    /// Makes losses from what the service did: statements that forget or change it.
    ///
    /// - Throws: an error when the load was too short.
    func losses() throws -> [Loss] {
        let content = content.withLock { $0 }
        let returned = Set(content.refunds.values.map(\.payment))
        guard let paid = content.payments.first(where: { $0.value.state == .paid && !returned.contains($0.key) })?.key,
            let closed = content.payments.first(where: { $0.value.state == .cancelled })?.key,
            let refund = content.refunds.keys.first
        else { throw Server.Failure(description: "the payment service had too little to do") }
        return [
            Loss(
                name: "a payment of the service is another account's",
                sql: "UPDATE payments SET account = '\(Configuration.urlAccount)' WHERE id = ?", arguments: [paid]),
            Loss(
                name: "a payment that the service took is cancelled",
                sql: """
                    UPDATE payments SET state = 'cancelled', captured = 0, refunding = 0, refunded = 0, lost = 0
                    WHERE id = ?
                    """, arguments: [paid]),
            Loss(
                name: "a payment that the service closed is paid",
                sql: "UPDATE payments SET state = 'succeeded', captured = amount WHERE id = ?", arguments: [closed]),
            Loss(
                name: "a refund that the service made failed", sql: "UPDATE refunds SET state = 'failed' WHERE id = ?",
                arguments: [refund]),
        ]
    }

    /// Lists the differences between the book and the database; at the end the server must know every payment.
    func violations(_ facts: Facts, isEnd: Bool) -> [String] {
        let content = content.withLock { $0 }
        var violations = content.complaints
        let payments = Dictionary(
            facts.payments.values.joined().filter { $0.account == Configuration.serviceAccount }.map { ($0.id, $0) }
        ) { first, _ in first }
        for (id, known) in content.payments {
            guard let payment = payments[id] else {
                violations.append("payment \(id): the service has it, and the server does not")
                continue
            }
            let holds =
                known.state == .paid
                ? payment.state == "succeeded" || (!isEnd && !["failed", "cancelled"].contains(payment.state))
                : payment.state != "succeeded"
            if !holds { violations.append("payment \(id): is \(payment.state), and \(known.state.rawValue) there") }
        }
        let refunds = Dictionary(facts.refunds.values.joined().map { ($0.id, $0) }) { first, _ in first }
        for (id, known) in content.refunds {
            let state = refunds[id]?.state ?? "not there"
            let holds = state == "succeeded" || (!isEnd && !["failed", "not there"].contains(state))
            if !holds || refunds[id]?.amount != known.amount {
                violations.append("refund \(id): the service gave \(known.amount) back, and it is \(state)")
            }
        }
        for (order, made) in facts.refunds
        where facts.payments[order]?.contains(where: { payments[$0.id] != nil }) == true {
            for refund in made where refund.state == "succeeded" && content.refunds[refund.id] == nil {
                violations.append("refund \(refund.id): succeeded, and the service never heard of it")
            }
        }
        return violations
    }
}
