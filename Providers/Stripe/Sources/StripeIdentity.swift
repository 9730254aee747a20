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
    static func id(_ text: String) -> String? {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy(isWord) ? text : nil
    }

    /// A code of Stripe's, as safe to show as to log; nil for anything but words.
    static func word(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ isWord($0) || $0 == 0x2D }) else {
            return nil
        }
        return text
    }

    /// An API version such as `2026-10-28.endive`; nil for anything but letters, digits, `-` and `.`.
    static func version(_ text: String) -> String? {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy({ isWord($0) || $0 == 0x2D || $0 == 0x2E })
            ? text : nil
    }

    /// Letters, digits and the underscore.
    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
