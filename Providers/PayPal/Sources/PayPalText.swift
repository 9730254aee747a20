import Domain

/// Texts of PayPal's that go into paths, logs and reasons, and ours that go to it.
enum PayPalText {
    /// An id as a part of a path; nil for anything that could lead elsewhere.
    static func id(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ isWord($0) || $0 == 0x2D }) else {
            return nil
        }
        return text
    }

    /// A code of PayPal's, as safe to show as to log; nil for anything but words.
    static func word(_ text: String?) -> String? { id(text) }

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
