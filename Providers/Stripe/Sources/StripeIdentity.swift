import Domain
import ProviderKit

/// The names of our ids in the metadata of Stripe's objects.
enum StripeMetadata {
    static let payment = "payment_id"
    static let order = "order_id"
    static let refund = "refund_id"
    /// `url` on the PaymentIntents of Checkout Sessions, where the session is the payment and reports its end.
    static let contract = "contract"
    /// `apple_pay` on a PaymentIntent that charges a wallet's token.
    static let instrument = "instrument"
    static let subscription = "subscription_id"
    static let period = "period_index"
    static let setup = "setup_id"
    /// `mandate` on a PaymentIntent that charges a mandate, without a payer who is present.
    static let charge = "charge"
    static let chargesMandate = "mandate"

    static func payment(in metadata: [String: String]?) -> ID<Payment>? {
        metadata?[payment].flatMap { ID<Payment>($0) }
    }

    static func subscription(in metadata: [String: String]?) -> ID<Subscription>? {
        metadata?[subscription].flatMap { ID<Subscription>($0) }
    }

    static func setup(in metadata: [String: String]?) -> ID<Setup>? { metadata?[setup].flatMap { ID<Setup>($0) } }
}

/// Checks Stripe's texts for paths, logs and reasons.
enum StripeText {
    /// Returns an id for a path; nil for text that could change the path.
    static func id(_ text: String) -> String? { ServiceText.word(text, limit: 255, further: "") }

    /// Returns a code of Stripe's that is safe to show and log; nil for another form.
    static func word(_ text: String?) -> String? { ServiceText.word(text) }

    /// An API version such as `2026-10-28.endive`; nil for anything but letters, digits, `_`, `-` and `.`.
    static func version(_ text: String) -> String? { ServiceText.word(text, further: "-.") }
}
