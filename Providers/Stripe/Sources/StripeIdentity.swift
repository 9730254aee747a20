import ProviderKit

/// The names under which our ids stand in the metadata of Stripe's objects.
enum StripeMetadata {
    static let payment = "payment_id"
    static let order = "order_id"
    static let refund = "refund_id"
    /// `url` on the PaymentIntents of Checkout Sessions: the session is the payment then, and tells of its end.
    static let contract = "contract"
    /// `apple_pay` on a PaymentIntent that charges a wallet's token.
    static let instrument = "instrument"
}

/// Texts of Stripe's that go into paths, logs and reasons.
enum StripeText {
    /// An id as a part of a path; nil for anything that could lead elsewhere.
    static func id(_ text: String) -> String? { ServiceText.word(text, limit: 255, further: "") }

    /// A code of Stripe's, as safe to show as to log; nil for anything but words.
    static func word(_ text: String?) -> String? { ServiceText.word(text) }

    /// An API version such as `2026-10-28.endive`; nil for anything but letters, digits, `_`, `-` and `.`.
    static func version(_ text: String) -> String? { ServiceText.word(text, further: "-.") }
}
