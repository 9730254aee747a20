import Domain
import Foundation
import ProviderKit
import Synchronization

/// Piggy itself, in memory, as its documentation would describe it.
final class PiggyService: Sendable {
    struct Payment {
        var status = "open"
        let amount: Money
        var refunds: [String: Money] = [:]
    }

    private let payments = Mutex<[String: Payment]>([:])

    func payment(_ number: String) -> Payment? { payments.withLock { $0[number] } }

    /// Sets a payment's status as the payer does on Piggy's page: only an open payment changes.
    func payerSets(_ status: String, _ number: String) -> Bool {
        payments.withLock { payments in
            guard payments[number]?.status == "open" else { return false }
            payments[number]?.status = status
            return true
        }
    }

    func answer(_ request: OutgoingRequest) -> IncomingReply {
        let path = request.url.split(separator: "/").map(String.init)
        guard let start = path.firstIndex(of: "payments"), path.count > start + 1 else { return Self.no(404, "path") }
        let body = (try? JSONDecoder().decode([String: String].self, from: request.body)) ?? [:]
        let amount = Currency(body["currency"] ?? "").flatMap { Money(decimal: body["amount"] ?? "", currency: $0) }
        return payments.withLock { payments in
            let (number, rest) = (path[start + 1], Array(path[(start + 2)...]))
            switch (request.method, rest.first) {
            case ("PUT", nil): return Self.open(number, amount, &payments)
            case ("GET", nil): return payments[number].map { Self.json(number, $0) } ?? Self.no(404, "unknown")
            case ("POST", "close"): return Self.close(number, amount, &payments)
            case ("PUT", "refunds"): return Self.refund(rest[1], amount, &payments[number])
            default:
                guard let made = payments[number]?.refunds[rest[1]] else { return Self.no(404, "unknown") }
                return Self.json(rest[1], "done", made)
            }
        }
    }

    private static func open(_ number: String, _ amount: Money?, _ all: inout [String: Payment]) -> IncomingReply {
        guard let amount else { return no(422, "amount") }
        let payment = all[number] ?? Payment(amount: amount)
        guard payment.amount == amount else { return no(409, "amount_differs") }
        guard payment.status != "closed" else { return no(409, "closed") }
        all[number] = payment
        return json(number, payment)
    }

    /// A number that is closed before it was opened stays closed.
    private static func close(_ number: String, _ amount: Money?, _ all: inout [String: Payment]) -> IncomingReply {
        guard let amount else { return no(422, "amount") }
        var payment = all[number] ?? Payment(amount: amount)
        if payment.status == "open" { payment.status = "closed" }
        all[number] = payment
        return json(number, payment)
    }

    private static func refund(_ number: String, _ amount: Money?, _ payment: inout Payment?) -> IncomingReply {
        guard var paid = payment, let amount else { return no(404, "unknown") }
        guard paid.status == "paid" else { return no(409, "not_paid") }
        if paid.refunds[number] == nil {
            let left = paid.refunds.values.reduce(paid.amount.value) { $0 - $1.value }
            guard amount.value <= left else { return no(409, "too_much") }
            paid.refunds[number] = amount
            payment = paid
        }
        return json(number, "done", amount)
    }

    private static func json(_ number: String, _ payment: Payment) -> IncomingReply {
        json(number, payment.status, payment.amount, page: "https://pay.piggy.example/\(number)")
    }

    private static func json(
        _ number: String, _ status: String, _ amount: Money, page: String? = nil
    ) -> IncomingReply {
        var fields = ["number": number, "status": status, "amount": amount.decimal, "currency": amount.currency.code]
        fields["page"] = page
        return IncomingReply(status: 200, body: (try? JSONEncoder().encode(fields)) ?? Data())
    }

    private static func no(_ status: Int, _ error: String) -> IncomingReply {
        IncomingReply(status: status, body: Data(#"{"error":"\#(error)"}"#.utf8))
    }
}
