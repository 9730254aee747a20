import Domain
import ProviderKit

/// The calls about payments.
extension StripeAPI {
    private static let expanding = StripeForm([("expand", .list([.text("payment_intent")]))])

    /// Reads a payment by Stripe's id.
    ///
    /// - Throws: `foreign` for a reference of neither a PaymentIntent nor a session.
    func payment(_ reference: String) async throws(StripeFailure) -> StripePayment {
        guard let id = StripeText.id(reference) else { throw .foreign }
        let known: StripePayment
        if id.hasPrefix("pi_") {
            known = try StripePayment(try await get("payment_intents/\(id)") as StripeObject.PaymentIntent)
        } else if id.hasPrefix("cs_") {
            let session: StripeObject.CheckoutSession = try await get("checkout/sessions/\(id)", Self.expanding)
            known = try StripePayment(session)
        } else {
            throw .foreign
        }
        guard known.id == id else { throw .foreign }
        return known
    }

    /// Makes a payment, or returns the current state of the one that this key made.
    func make(
        _ mode: StripeSettings.Mode, _ form: StripeForm, key: String
    ) async throws(StripeFailure) -> StripePayment {
        let made: (payment: StripePayment, isReplayed: Bool)
        switch mode {
        case .paymentIntent:
            let answer: (value: StripeObject.PaymentIntent, isReplayed: Bool) = try await post(
                "payment_intents", form, key: key)
            made = (try StripePayment(answer.value), answer.isReplayed)
        case .checkoutSession:
            let answer: (value: StripeObject.CheckoutSession, isReplayed: Bool) = try await post(
                "checkout/sessions", form, key: key)
            made = (try StripePayment(answer.value), answer.isReplayed)
        }
        // A repeated answer has the state of the first call.
        return made.isReplayed ? try await payment(made.payment.id) : made.payment
    }

    /// Cancels a PaymentIntent or expires a session, without a key: see ``post(_:_:key:)``.
    func close(_ payment: StripePayment) async throws(StripeFailure) -> StripePayment {
        guard let id = StripeText.id(payment.id) else { throw .foreign }
        let closed: StripePayment
        switch payment.kind {
        case .intent:
            let answer: (value: StripeObject.PaymentIntent, isReplayed: Bool) = try await post(
                "payment_intents/\(id)/cancel", StripeForm(), key: nil)
            closed = try StripePayment(answer.value)
        case .session:
            let answer: (value: StripeObject.CheckoutSession, isReplayed: Bool) = try await post(
                "checkout/sessions/\(id)/expire", StripeForm(), key: nil)
            closed = try StripePayment(answer.value)
        }
        guard closed.id == id else { throw .foreign }
        return closed
    }
}
