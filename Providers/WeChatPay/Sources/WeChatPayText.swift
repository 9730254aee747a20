import Domain
import FoundationEssentials
import ProviderKit

/// Texts of WeChat Pay's that go into paths, logs and reasons, and ours that go to it.
enum WeChatPayText {
    /// A code of WeChat Pay's, as safe to show as to log; nil for anything but words.
    static func word(_ text: String?) -> String? { ServiceText.word(text) }

    /// A certificate's serial number as WeChat Pay writes it: upper-case hexadecimal digits without leading zeros.
    ///
    /// - Returns: nil for anything else than up to 40 hexadecimal digits.
    static func serial(_ text: String) -> String? {
        guard text.hasBytes(1...40, where: { Hex.value($0) != nil }) else { return nil }
        let digits = text.uppercased().drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
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
}
