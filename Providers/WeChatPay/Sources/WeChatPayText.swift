import Domain
import FoundationEssentials
import ProviderKit

/// Checks WeChat Pay's texts for paths, logs and reasons, and converts ours for WeChat Pay.
enum WeChatPayText {
    /// Returns a code of WeChat Pay's that is safe to show and log; nil for another form.
    static func word(_ text: String?) -> String? { ServiceText.word(text) }

    /// Returns a certificate's serial number in WeChat Pay's form: upper-case hexadecimal without leading zeros.
    ///
    /// - Returns: nil for anything other than up to 40 hexadecimal digits.
    static func serial(_ text: String) -> String? {
        guard text.hasBytes(1...40, where: { Hex.value($0) != nil }) else { return nil }
        let digits = text.uppercased().drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
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
}
