import Domain
import Foundation
import ProviderKit
import ProviderTesting

/// Plays the fake's payer and payment service.
struct FakeRehearsal: Rehearsal {
    let flaw: Flaw?
    let service = FakeService()

    var secrets: [String] { [FakeProvider.secret] }
    var signatureWindow: Int64? { 300 }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        FakeProvider(context: context, flaw: flaw)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply { try service.answer(request) }

    func changesSomething(_ request: OutgoingRequest) -> Bool {
        // A query also closes a payment that was never opened, but its answer may be lost without harm.
        !request.url.hasSuffix("/query") && !request.url.hasSuffix("/look")
    }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        guard let known = service.payment(payment.rawValue), known.state == "open" else { return false }
        service.change(payment.rawValue, known.amount) { $0.state = act == .succeed ? "paid" : "failed" }
        return true
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        guard let known = service.payment(payment.rawValue) else { return false }
        service.change(payment.rawValue, known.amount) { $0.state = "teleported" }
        return true
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        let known = service.payment(payment.rawValue)
        return UpstreamEffects(payments: known?.copies ?? 0, refunds: known?.refunds.map(\.amount) ?? [])
    }

    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        let amount = event.payment.amount
        let text: String
        switch event.what {
        case .paymentSucceeded(let amount): text = body(event, "paid", amount)
        case .paymentPending: text = body(event, "waiting", amount)
        case .paymentFailed, .paymentCancelled: return nil
        case .refundCreated(let id, let amount): text = body(event, "refund-created", amount, id)
        case .refundSucceeded(let id, let amount): text = body(event, "refund-succeeded", amount, id)
        case .refundFailed(let id, let amount): text = body(event, "refund-failed", amount, id)
        case .disputeOpened(let amount): text = body(event, "dispute-opened", amount)
        case .disputeWon(let amount): text = body(event, "dispute-won", amount)
        case .disputeLost(let amount): text = body(event, "dispute-lost", amount)
        case .foreignPaymentSucceeded(let amount):
            text = body(event, "paid", amount).replacing(event.payment.payment.rawValue, with: "invoice-77")
        case .anothersPaymentSucceeded(let amount): text = body(event, "paid", amount) + " account=another"
        case .unknownStatus: text = body(event, "teleported", amount)
        case .unreadable: text = "unreadable"
        }
        let time = context.time.now.rawValue
        let data = Data(text.utf8)
        let code: String? =
            switch signature {
            case .genuine: FakeProvider.sign(data, time)
            case .forged: "0badc0de"
            case .anothers: FakeProvider.sign(data, time, "another")
            case .missing: nil
            }
        return RawNotification(
            method: .post, headers: code.map { [(name: "x-signature", value: "\(time),\($0)")] } ?? [], body: data)
    }

    private func body(_ event: RehearsedEvent, _ word: String, _ amount: Money, _ refund: ID<Refund>? = nil) -> String {
        let id = event.id.replacing(" ", with: "-").replacing("=", with: "-")
        let words = [
            id, event.payment.payment.rawValue, word, "\(amount.value)", amount.currency.code,
            refund?.rawValue ?? "-",
        ]
        return (words + (event.hasUnknownFields ? ["mood=good"] : [])).joined(separator: " ")
    }
}
