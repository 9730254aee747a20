import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization

/// PayPal's part in the conformance kit.
struct PayPalRehearsal: Rehearsal {
    let settings: [String: SettingValue]
    let standIn = FakePayPalServer()

    init(_ settings: [String: SettingValue], rel: String = "payer-action") {
        self.settings = settings
        standIn.state.withLock { $0.rel = rel }
    }

    var secrets: [String] { [FakePayPalServer.clientSecret, "A21AA-planted-token-1"] }
    // PayPal sends a notification again for days, with the time of the first.
    var signatureWindow: Int64? { nil }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        try PayPalProvider(account: PayPalFixture.account(settings), context: context)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply {
        standIn.answer(request, now: context.time.now.rawValue)
    }

    func changesSomething(_ request: OutgoingRequest) -> Bool { PayPalFixture.changesSomething(request) }

    /// The payer approves at PayPal and comes back, upon which the account captures.
    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        guard standIn.approve(payment.rawValue, declining: act == .fail) else { return false }
        let standIn = standIn
        let line = RecordingTransport { standIn.answer($0, now: context.time.now.rawValue) }
        let back = ProviderContext(
            http: line, time: context.time, random: context.random, book: context.book, notifyURL: context.notifyURL,
            publicURL: context.publicURL)
        let provider = try PayPalProvider(account: PayPalFixture.account(settings), context: back)
        guard let order = standIn.order(payment.rawValue) else { return false }
        _ = try await provider.query(
            ProviderReference(payment: payment, reference: order.id, amount: usd(1)))
        return act == .fail || standIn.order(payment.rawValue)?.captures.isEmpty == false
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        standIn.state.withLock { state in
            for index in state.orders.indices where state.orders[index].custom == payment.rawValue {
                state.orders[index].status = "TELEPORTED"
            }
        }
        return true
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        standIn.state.withLock { state in
            let orders = state.orders.filter { $0.custom == payment.rawValue }
            return UpstreamEffects(
                payments: orders.count,
                refunds: orders.flatMap(\.refunds).compactMap { refund in
                    Currency(refund.amount["currency_code"] ?? "").flatMap {
                        Money(decimal: refund.amount["value"] ?? "", currency: $0)
                    }
                })
        }
    }

    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        guard var body = try await body(event, context.book) else { return nil }
        if event.hasUnknownFields { body = UnknownFields.adding(to: body) ?? body }
        let now = context.time.now.rawValue
        var headers = PayPalTestCertificates.headers(body, at: now)
        switch signature {
        case .genuine: break
        case .forged: headers[2].value = Data(repeating: 0x0A, count: 256).base64EncodedString()
        case .missing: headers.remove(at: 2)
        case .anothers: headers = PayPalTestCertificates.headers(body, at: now, webhookID: "1JE4291016473214C")
        }
        return PayPalTestCertificates.notification(body, headers)
    }

    private func body(_ event: RehearsedEvent, _ book: any AccountBook) async throws -> Data? {
        let (payment, amount) = (event.payment.payment.rawValue, event.payment.amount)
        // Each event is about an object of its own.
        let id = String(abs(event.id.utf8.reduce(5_381) { ($0 &* 33) &+ Int($1) }))
        func capture(
            _ type: String, _ money: Money, _ status: String, custom: String? = nil, isKnown: Bool = true
        ) async throws -> Data {
            let made = FakePayPalServer.Capture(
                id: "CAP\(id)", order: "ORDER\(id)", custom: custom ?? payment, amount: Self.json(money), status: status
            )
            if isKnown { try await standIn.take(made, into: book) }
            return PayPalTestCertificates.event("PAYMENT.CAPTURE.\(type)", made.json, id: "WH-\(event.id)")
        }
        /// The capture that took the payment's money.
        func taken() async throws -> String {
            let made = FakePayPalServer.Capture(
                id: "CAP-\(payment)", order: "ORDER-\(payment)", custom: payment, amount: Self.json(amount))
            try await standIn.take(made, into: book)
            return made.id
        }
        func refund(_ refund: ID<Refund>, _ money: Money, _ status: String) async throws -> Data {
            let made = FakePayPalServer.Refund(
                id: "REF\(id)", capture: try await taken(), custom: payment, invoice: refund.rawValue,
                amount: Self.json(money), status: status)
            standIn.state.withLock { $0.refunds.append(made) }
            return PayPalTestCertificates.event("PAYMENT.REFUND.\(status)", made.json, id: "WH-\(event.id)")
        }
        func dispute(_ money: Money, _ status: String, _ code: String?) async throws -> Data {
            let object = Self.dispute(
                "PP-D-\(id)", payment, Self.json(money), status, code, capture: try await taken())
            standIn.state.withLock {
                $0.disputes["PP-D-\(id)"] = try? JSONSerialization.data(withJSONObject: object)
            }
            return PayPalTestCertificates.event("CUSTOMER.DISPUTE.UPDATED", object, id: "WH-\(event.id)")
        }
        switch event.what {
        case .paymentSucceeded(let money): return try await capture("COMPLETED", money, "COMPLETED")
        case .paymentFailed: return try await capture("DECLINED", amount, "DECLINED")
        case .paymentPending: return try await capture("PENDING", amount, "PENDING")
        case .unknownStatus: return try await capture("COMPLETED", amount, "TELEPORTED")
        case .foreignPaymentSucceeded(let money):
            return try await capture("COMPLETED", money, "COMPLETED", custom: "invoice-77")
        case .anothersPaymentSucceeded(let money):
            return try await capture("COMPLETED", money, "COMPLETED", isKnown: false)
        case .paymentCancelled:
            var order = FakePayPalServer.Order(
                id: try await FakePayPalServer.keep("VOID\(id)", of: payment, in: book), custom: payment,
                invoice: payment,
                amount: Self.json(amount))
            order.status = "VOIDED"
            let voided = order
            standIn.state.withLock { state in
                state.orders.removeAll { $0.id == voided.id }
                state.orders.append(voided)
            }
            return PayPalTestCertificates.event("CHECKOUT.ORDER.VOIDED", voided.json, id: "WH-\(event.id)")
        case .refundCreated(let id, let money): return try await refund(id, money, "PENDING")
        case .refundSucceeded(let id, let money): return try await refund(id, money, "COMPLETED")
        case .refundFailed(let id, let money): return try await refund(id, money, "FAILED")
        case .disputeOpened(let money): return try await dispute(money, "OPEN", nil)
        case .disputeWon(let money): return try await dispute(money, "RESOLVED", "RESOLVED_SELLER_FAVOUR")
        case .disputeLost(let money): return try await dispute(money, "RESOLVED", "RESOLVED_BUYER_FAVOUR")
        case .unreadable: return Data(#"{"hello":"world"}"#.utf8)
        }
    }

    static func json(_ money: Money) -> [String: String] {
        ["currency_code": money.currency.code, "value": money.decimal]
    }

    static func dispute(
        _ id: String, _ payment: String, _ amount: [String: String], _ status: String, _ code: String?,
        capture: String = "3C67"
    ) -> [String: Any] {
        var fields: [String: Any] = [
            "dispute_id": id, "reason": "UNAUTHORISED", "status": status, "dispute_amount": amount,
            "dispute_life_cycle_stage": "CHARGEBACK",
            "disputed_transactions": [["seller_transaction_id": capture, "custom": payment]],
        ]
        if let code { fields["dispute_outcome"] = ["outcome_code": code, "amount_refunded": amount] }
        return fields
    }
}
