import Domain
import ProviderKit

/// The reason and the kind of a refused charge.
///
/// Source: docs.stripe.com/declines/codes, docs.stripe.com/declines/card. Codes that are not listed here are soft, so
/// that a new one ends nobody's subscription at once.
struct StripeDecline: Sendable, Equatable {
    /// Stripe's code, which may be shown to users.
    let reason: String
    let refusal: ChargeRefusal

    init(reason: String, _ refusal: ChargeRefusal) {
        self.reason = reason
        self.refusal = refusal
    }

    init(_ refusal: StripeRefusal) {
        self.init(
            type: refusal.type, code: refusal.code, declineCode: refusal.declineCode, adviceCode: refusal.adviceCode,
            otherwise: "refused")
    }

    init(_ error: StripeObject.PaymentIntent.PaymentError) {
        self.init(
            type: error.type, code: error.code, declineCode: error.decline_code, adviceCode: error.advice_code,
            otherwise: "payment_failed")
    }

    private init(type: String?, code: String?, declineCode: String?, adviceCode: String?, otherwise: String) {
        let word =
            StripeText.word(declineCode) ?? StripeText.word(code) ?? StripeText.word(type) ?? otherwise
        // Stripe demands that payers are not told of these.
        reason = Self.hidden.contains(word) ? "card_declined" : word
        let words = [code, declineCode].compactMap(\.self)
        if words.contains(where: Self.authentication.contains) {
            refusal = .actionRequired
        } else if adviceCode == "do_not_try_again" || words.contains(where: Self.hard.contains) {
            refusal = .hard
        } else {
            refusal = .soft
        }
    }

    /// A charge that waits for its payer, who is not present.
    static let needsPayer = StripeDecline(reason: "authentication_required", .actionRequired)
    /// A charge that failed without a code.
    static let unnamed = StripeDecline(reason: "payment_failed", .soft)

    private static let hidden: Set = ["fraudulent", "lost_card", "stolen_card", "merchant_blacklist"]
    private static let authentication: Set = ["authentication_required", "payment_intent_authentication_failure"]
    private static let hard: Set = [
        "lost_card", "stolen_card", "pickup_card", "restricted_card", "fraudulent", "merchant_blacklist",
        "revocation_of_authorization", "revocation_of_all_authorizations", "stop_payment_order", "invalid_account",
        "new_account_information_available", "incorrect_number", "invalid_number", "expired_card",
        "card_not_supported", "currency_not_supported", "transaction_not_allowed", "not_permitted",
        "do_not_try_again",
    ]
}

extension StripeRefusal {
    /// True for the refusal of a charge by the payer's bank or by Stripe on its behalf.
    var isDecline: Bool { status == 402 || type == "card_error" }

    /// True where the payment method or its customer is gone, so that the mandate can never be charged again.
    var endsMandate: Bool {
        guard code == "resource_missing" || code == "payment_method_unexpected_state" else { return false }
        return parameter == nil || parameter == "payment_method" || parameter == "customer"
    }
}
