import Domain
import FoundationEssentials
import ProviderKit

/// Checks WeChat Pay's texts for paths, logs and reasons, and converts ours for WeChat Pay.
enum WeChatPayText {
    /// Returns a code of WeChat Pay's that is safe to show and log; nil for another form.
    static func word(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ isWord($0) || $0 == 0x2D }) else {
            return nil
        }
        return text
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

    /// Returns a certificate's serial number in WeChat Pay's form: upper-case hexadecimal without leading zeros.
    ///
    /// - Returns: nil for anything other than up to 40 hexadecimal digits.
    static func serial(_ text: String) -> String? {
        guard (1...40).contains(text.utf8.count), text.utf8.allSatisfy({ isHex($0) }) else { return nil }
        let digits = text.uppercased().drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
    }

    /// Cuts a title to 127 bytes, the limit of `description`.
    static func title(_ text: String) -> String { text.cut(bytes: 127) }

    /// Formats a time as `2026-03-01T20:00:00+08:00`, the form and the zone in WeChat Pay's documentation.
    static func time(_ time: Timestamp) -> String {
        let local = time.adding(seconds: 8 * 3_600)
        let second = ((local.rawValue % 86_400) + 86_400) % 86_400
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
        return "\(local.utcDate)T\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))+08:00"
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986 section 2.3).
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            isWord(byte) || [0x2D, 0x2E, 0x7E].contains(byte)
                ? String(UnicodeScalar(byte)) : "%\(hex([byte]))"
        }.joined()
    }
}
