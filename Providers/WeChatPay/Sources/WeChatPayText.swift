import Domain
import FoundationEssentials
import ProviderKit

/// Texts of WeChat Pay's that go into paths, logs and reasons, and ours that go to it.
enum WeChatPayText {
    /// A code of WeChat Pay's, as safe to show as to log; nil for anything but words.
    static func word(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ isWord($0) || $0 == 0x2D }) else {
            return nil
        }
        return text
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

    /// A certificate's serial number as WeChat Pay writes it: upper-case hexadecimal digits without leading zeros.
    ///
    /// - Returns: nil for anything else than up to 40 hexadecimal digits.
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

    /// At most 127 bytes: what `description` may hold.
    static func title(_ text: String) -> String { text.cut(bytes: 127) }

    /// `2026-03-01T20:00:00+08:00`, the form and the zone of WeChat Pay's documentation.
    static func time(_ time: Timestamp) -> String {
        let local = time.adding(seconds: 8 * 3_600)
        let second = ((local.rawValue % 86_400) + 86_400) % 86_400
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
        return "\(local.utcDate)T\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))+08:00"
    }

    /// Percent-encoding of all but the unreserved characters (RFC 3986 section 2.3).
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            isWord(byte) || [0x2D, 0x2E, 0x7E].contains(byte)
                ? String(UnicodeScalar(byte)) : "%\(hex([byte]))"
        }.joined()
    }
}
