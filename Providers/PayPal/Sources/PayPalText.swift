import Domain

/// Checks PayPal's texts for paths, logs and reasons, and converts ours for PayPal.
enum PayPalText {
    /// Returns an id for a path; nil for text that could change the path.
    static func id(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ isWord($0) || $0 == 0x2D }) else {
            return nil
        }
        return text
    }

    /// Returns a code of PayPal's that is safe to show and log; nil for another form.
    static func word(_ text: String?) -> String? { id(text) }

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
