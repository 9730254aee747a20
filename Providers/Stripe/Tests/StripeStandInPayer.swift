import Crypto
import Domain
import Foundation
import ProviderKit
import Synchronization

/// Events at Stripe that the provider does not cause: payers, the back office, notifications.
extension FakeStripeServer {
    /// Pays or is declined like the payer.
    ///
    /// - Returns: false where nothing can be paid any more.
    func act(succeed: Bool, on payment: String) -> Bool {
        state.withLock { state in
            if let index = state.sessions.firstIndex(where: { $0.metadata["payment_id"] == payment }) {
                guard state.sessions[index].status == "open" else { return false }
                let session = state.sessions[index]
                let known = state.intents.firstIndex { $0.id == session.intent }
                var intent =
                    known.map { state.intents[$0] }
                    ?? Intent(
                        id: state.id("pi"), amount: session.amount, currency: session.currency,
                        metadata: session.intentMetadata, created: session.created, session: session.id,
                        customer: session.customer, isForFuture: session.isForFuture)
                Self.pay(&intent, succeed)
                if succeed { Self.keepMethod(of: &intent, &state) }
                if let known { state.intents[known] = intent } else { state.intents.append(intent) }
                state.sessions[index].intent = intent.id
                if succeed { (state.sessions[index].status, state.sessions[index].paid) = ("complete", "paid") }
                return true
            }
            guard let index = state.intents.firstIndex(where: { $0.metadata["payment_id"] == payment }),
                state.intents[index].status.hasPrefix("requires_")
            else { return false }
            Self.pay(&state.intents[index], succeed)
            if succeed {
                var intent = state.intents[index]
                Self.keepMethod(of: &intent, &state)
                state.intents[index] = intent
            }
            return true
        }
    }

    /// Confirms like the payer's browser, with one of Stripe's test cards.
    static func confirm(_ id: String, _ call: FakeStripeServerCall, _ state: inout State) -> IncomingReply {
        if call.stranger(["payment_method", "return_url"]) != nil {
            return .stripe(400, "invalid_request_error", "parameter_unknown")
        }
        guard let index = state.intents.firstIndex(where: { $0.id == id }) else { return .missing }
        guard state.intents[index].status.hasPrefix("requires_") else {
            return .stripe(400, "invalid_request_error", "payment_intent_unexpected_state")
        }
        let isGood = call.values["payment_method"] == "pm_card_visa"
        pay(&state.intents[index], isGood)
        return isGood ? .json(state.intents[index].json) : .stripe(402, "card_error", "card_declined")
    }

    static func pay(_ intent: inout Intent, _ succeed: Bool) {
        intent.failure = succeed ? nil : "insufficient_funds"
        if succeed { (intent.status, intent.received) = ("succeeded", intent.amount) }
    }

    /// Stores a PaymentIntent for a refund or a dispute, which the provider reads.
    func adopt(_ id: String, payment: String, contract: String? = nil) {
        var metadata = ["payment_id": payment]
        metadata["contract"] = contract
        state.withLock { state in
            guard !state.intents.contains(where: { $0.id == id }) else { return }
            state.intents.append(
                Intent(
                    id: id, amount: 1, currency: "aed", status: "succeeded", received: 1, metadata: metadata,
                    created: 0,
                    session: "cs_elsewhere"))
        }
    }

    /// The time of every event.
    static let eventTime = Timestamp(1_736_860_000)

    /// Makes an event's body like Stripe.
    static func event(
        _ type: String, _ object: Any, id: String = "evt_1", livemode: Bool = false, account: String? = nil,
        before: [String: Any]? = nil
    ) -> Data {
        var fields: [String: Any] = [
            "id": id, "object": "event", "type": type, "api_version": "2026-10-28.endive", "livemode": livemode,
            "created": 1_736_860_000, "pending_webhooks": 1, "data": ["object": object],
            "request": ["id": NSNull(), "idempotency_key": NSNull()],
        ]
        fields["account"] = account
        if let before { fields["data"] = ["object": object, "previous_attributes": before] }
        return (try? JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys, .prettyPrinted])) ?? Data()
    }

    /// Computes the header's value independently of the provider's code.
    static func signature(_ body: Data, at time: Int64, secret: String) -> String {
        let key = SymmetricKey(data: Data(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(time).".utf8) + body, using: key)
        return "t=\(time),v1=" + Hex.encoded(code)
    }

    static func notification(_ body: Data, _ signatures: [String]) -> RawNotification {
        RawNotification(
            method: .post,
            headers: [(name: "content-type", value: "application/json; charset=utf-8")]
                + signatures.map { (name: "stripe-signature", value: $0) },
            body: body)
    }
}
