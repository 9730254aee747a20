import Crypto
import Domain
import Foundation
import PiggyProvider
import ProviderKit
import ProviderTesting

/// The simulation of Piggy and its payers for the conformance kit.
struct PiggyRehearsal: Rehearsal {
    let service = PiggyService()

    var secrets: [String] { ["pk_of_the_tests", "the webhook secret of the tests"] }
    var signatureWindow: Int64? { 300 }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        let settings = ProviderSettings([
            "api_key": .text(secrets[0]), "webhook_secret": .text(secrets[1]),
            "api_base": .text("https://api.piggy.example"),
        ])
        return try PiggyProvider(
            account: ProviderAccount(id: AccountID("piggy-main")!, settings: settings, isDevelopment: true),
            context: context)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply { service.answer(request) }

    func changesSomething(_ request: OutgoingRequest) -> Bool { request.method != "GET" }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        service.payerSets(act == .succeed ? "paid" : "declined", payment.rawValue)
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        service.payerSets("teleported", payment.rawValue)
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        let known = service.payment(payment.rawValue)
        return UpstreamEffects(payments: known == nil ? 0 : 1, refunds: known.map { Array($0.refunds.values) } ?? [])
    }

    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        guard var body = try body(event) else { return nil }
        if event.hasUnknownFields, let more = UnknownFields.adding(to: body) { body = more }
        let time = context.time.now.rawValue
        let header: String? =
            switch signature {
            case .genuine: "\(time),\(code(body, time, secrets[1]))"
            case .forged: "\(time),\(String(repeating: "0a", count: 32))"
            case .missing: nil
            case .anothers: "\(time),\(code(body, time, "the secret of another"))"
            }
        return RawNotification(
            method: .post, headers: header.map { [(name: "x-piggy-signature", value: $0)] } ?? [], body: body)
    }

    private func code(_ body: Data, _ time: Int64, _ secret: String) -> String {
        let key = SymmetricKey(data: Data(secret.utf8))
        return Hex.encoded(HMAC<SHA256>.authenticationCode(for: Data("\(time).".utf8) + body, using: key))
    }

    /// - Returns: nil for what Piggy never sends.
    private func body(_ event: RehearsedEvent) throws -> Data? {
        var fields = ["event": event.id, "payment": event.payment.payment.rawValue]
        func put(_ type: String, _ amount: Money? = nil, _ refund: ID<Refund>? = nil) {
            fields["type"] = type
            fields["amount"] = amount?.decimal
            fields["currency"] = amount?.currency.code
            fields["refund"] = refund?.rawValue
        }
        switch event.what {
        case .paymentSucceeded(let amount): put("payment.paid", amount)
        case .paymentFailed: put("payment.declined")
        case .paymentCancelled: put("payment.closed")
        case .paymentPending: put("payment.open")
        case .refundCreated(let id, let amount): put("refund.made", amount, id)
        case .refundSucceeded(let id, let amount): put("refund.done", amount, id)
        case .refundFailed(let id, let amount): put("refund.failed", amount, id)
        case .unknownStatus: put("payment.teleported", event.payment.amount)
        case .foreignPaymentSucceeded(let amount):
            put("payment.paid", amount)
            fields["payment"] = "invoice-77"
        case .anothersPaymentSucceeded, .disputeOpened, .disputeWon, .disputeLost: return nil
        case .unreadable: return Data("[1, 2".utf8)
        }
        return try JSONEncoder().encode(fields)
    }
}
