import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization

/// Stripe's rehearsal for the conformance kit, in one of the two modes.
struct StripeRehearsal: Rehearsal {
    let mode: String
    let standIn = FakeStripeServer()

    var secrets: [String] { [FakeStripeServer.key, StripeFixture.secret] }
    var signatureWindow: Int64? { 300 }
    private var hasSessions: Bool { mode == "checkout_session" }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        try StripeProvider(
            account: StripeFixture.account(["mode": .text(mode)]), context: context, pause: { _ in })
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply {
        standIn.answer(request, now: context.time.now.rawValue)
    }

    /// A customer alone changes nothing, and a repetition finds it.
    func changesSomething(_ request: OutgoingRequest) -> Bool {
        request.method != "GET" && !request.url.hasSuffix("/v1/customers")
    }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        standIn.act(succeed: act == .succeed, on: payment.rawValue)
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        standIn.state.withLock { state in
            for index in state.intents.indices where state.intents[index].metadata["payment_id"] == payment.rawValue {
                state.intents[index].status = "teleported"
            }
            for index in state.sessions.indices where state.sessions[index].metadata["payment_id"] == payment.rawValue {
                state.sessions[index].status = "teleported"
            }
        }
        return true
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        standIn.state.withLock { state in
            let id = payment.rawValue
            let intents = state.intents.filter { $0.metadata["payment_id"] == id }
            let sessions = state.sessions.filter { $0.metadata["payment_id"] == id }
            let refunds = state.refunds.filter { refund in intents.contains { $0.id == refund.intent } }
            return UpstreamEffects(
                payments: sessions.count + intents.count { $0.session == nil },
                refunds: refunds.map { money($0.amount, $0.currency.uppercased()) })
        }
    }

    func notification(
        _ event: RehearsedEvent, _ signing: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        var body = event.what == .unreadable ? Data("[1, 2".utf8) : body(event)
        if event.hasUnknownFields { body = UnknownFields.adding(to: body) ?? body }
        let now = context.time.now.rawValue
        let signature =
            switch signing {
            case .genuine: [FakeStripeServer.signature(body, at: now, secret: StripeFixture.secret)]
            case .forged: ["t=\(now),v1=" + String(repeating: "0a", count: 32)]
            case .missing: [String]()
            case .anothers: [FakeStripeServer.signature(body, at: now, secret: "whsec_of_another")]
            }
        return FakeStripeServer.notification(body, signature)
    }

    private func body(_ event: RehearsedEvent) -> Data {
        let payment = event.payment.payment.rawValue
        let amount = event.payment.amount
        func put(_ type: String, _ object: [String: Any], account: String? = nil) -> Data {
            FakeStripeServer.event(type, object, id: "evt_\(event.id)", account: account)
        }
        func state(_ type: String, _ status: String, _ money: Money) -> Data {
            put("payment_intent.\(type)", intent(payment, status, money))
        }
        func state(session type: String, _ status: String, _ paid: String, _ money: Money) -> Data {
            put("checkout.session.\(type)", session(payment, status, paid, money))
        }
        switch event.what {
        case .paymentSucceeded(let money):
            return hasSessions
                ? state(session: "completed", "complete", "paid", money) : state("succeeded", "succeeded", money)
        case .paymentFailed:
            return hasSessions
                ? state(session: "async_payment_failed", "complete", "unpaid", amount)
                : state("payment_failed", "requires_payment_method", amount)
        case .paymentCancelled:
            return hasSessions
                ? state(session: "expired", "expired", "unpaid", amount) : state("canceled", "canceled", amount)
        case .paymentPending:
            return hasSessions
                ? state(session: "completed", "complete", "unpaid", amount) : state("processing", "processing", amount)
        case .unknownStatus:
            return hasSessions
                ? state(session: "teleported", "teleported", "unpaid", amount)
                : state("teleported", "teleported", amount)
        case .foreignPaymentSucceeded(let money):
            var object = hasSessions ? session("", "complete", "paid", money) : intent("", "succeeded", money)
            object["metadata"] = ["order": "invoice-77"]
            return put(hasSessions ? "checkout.session.completed" : "payment_intent.succeeded", object)
        case .anothersPaymentSucceeded(let money):
            return put("payment_intent.succeeded", intent(payment, "succeeded", money), account: "acct_of_another")
        case .refundCreated(let id, let money): return put("refund.created", refund(payment, id, "pending", money))
        case .refundSucceeded(let id, let money): return put("refund.updated", refund(payment, id, "succeeded", money))
        case .refundFailed(let id, let money): return put("refund.failed", refund(payment, id, "failed", money))
        case .disputeOpened(let money): return put("charge.dispute.created", dispute(payment, "needs_response", money))
        case .disputeWon(let money): return put("charge.dispute.closed", dispute(payment, "won", money))
        case .disputeLost(let money): return put("charge.dispute.closed", dispute(payment, "lost", money))
        case .unreadable: return Data()
        }
    }

    private func intent(_ payment: String, _ status: String, _ amount: Money) -> [String: Any] {
        FakeStripeServer.Intent(
            id: "pi_of_\(payment)", amount: amount.value, currency: amount.currency.code.lowercased(), status: status,
            received: status == "succeeded" ? amount.value : 0, metadata: ["payment_id": payment], created: 0
        ).json
    }

    private func session(_ payment: String, _ status: String, _ paid: String, _ amount: Money) -> [String: Any] {
        FakeStripeServer.Session(
            id: "cs_of_\(payment)", amount: amount.value, currency: amount.currency.code.lowercased(), status: status,
            paid: paid, metadata: ["payment_id": payment], intentMetadata: [:], created: 0, expires: 0
        ).json(FakeStripeServer.State(), expands: false)
    }

    private func refund(_ payment: String, _ id: ID<Refund>, _ status: String, _ amount: Money) -> [String: Any] {
        FakeStripeServer.Refund(
            id: "re_of_\(id)", intent: "pi_of_\(payment)", amount: amount.value,
            currency: amount.currency.code.lowercased(), status: status,
            metadata: ["payment_id": payment, "refund_id": id.rawValue], created: 0
        ).json
    }

    /// Makes a dispute; it does not name its payment, but its PaymentIntent does.
    private func dispute(_ payment: String, _ status: String, _ amount: Money) -> [String: Any] {
        standIn.adopt("pi_of_\(payment)", payment: payment)
        return [
            "id": "du_of_\(payment)", "object": "dispute", "amount": amount.value,
            "currency": amount.currency.code.lowercased(), "status": status, "payment_intent": "pi_of_\(payment)",
            "metadata": [String: String](),
        ]
    }
}
