/// The names of our ids in the metadata of Stripe's objects.
enum StripeMetadata {
    static let payment = "payment_id"
    static let order = "order_id"
    static let refund = "refund_id"
    /// `url` on the PaymentIntents of Checkout Sessions, where the session is the payment and reports its end.
    static let contract = "contract"
    /// `apple_pay` on a PaymentIntent that charges a wallet's token.
    static let instrument = "instrument"
}

/// Checks Stripe's texts for paths, logs and reasons.
enum StripeText {
    /// Returns an id for a path; nil for text that could change the path.
    static func id(_ text: String) -> String? {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy(isWord) ? text : nil
    }

    /// Returns a code of Stripe's that is safe to show and log; nil for another form.
    static func word(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ isWord($0) || $0 == 0x2D }) else {
            return nil
        }
        return text
    }

    /// Returns an API version such as `2026-10-28.endive`; nil for other characters than letters, digits, `-` and `.`.
    static func version(_ text: String) -> String? {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy({ isWord($0) || $0 == 0x2D || $0 == 0x2E })
            ? text : nil
    }

    /// Returns true for letters, digits and the underscore.
    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
