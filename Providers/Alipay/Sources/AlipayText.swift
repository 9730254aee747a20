import Domain
import FoundationEssentials
import ProviderKit

/// Converts texts for Alipay and from it.
enum AlipayText {
    /// Returns a code or status of Alipay's that is safe to show and log, such as `ACQ.SYSTEM_ERROR`; nil for another
    /// form.
    static func word(_ text: String?) -> String? { ServiceText.word(text, further: "-.") }

    /// Formats a time as `yyyy-MM-dd HH:mm:ss` in China (GMT+8, without summer time).
    static func time(_ time: Timestamp) -> String {
        let shifted = Date(timeIntervalSince1970: Double(time.adding(seconds: 8 * 3_600).rawValue))
        return shifted.formatted(
            Date.ISO8601FormatStyle(dateTimeSeparator: .space).year().month().day().time(
                includingFractionalSeconds: false))
    }

    /// Returns the title of the purchase without the characters that Alipay refuses in a subject, cut to 256.
    static func subject(_ title: String) -> String {
        let scalars = title.unicodeScalars.prefix(256).map { scalar -> Unicode.Scalar in
            let isRefused = ["/", "=", "&"].contains(scalar) || Character(scalar).isNewline
            return isRefused ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Parses an amount of Alipay's, `39.90`.
    ///
    /// - Parameter currency: the currency in the answer or notification; nil for CNY.
    /// - Returns: nil for text that is no amount of the currency, or negative.
    static func money(_ text: String?, _ currency: String? = nil) -> Money? {
        guard let text, text.utf8.count <= 20, let currency = Currency(currency ?? "CNY"),
            let money = Money(decimal: text, currency: currency), money.value >= 0
        else { return nil }
        return money
    }
}
