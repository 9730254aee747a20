import Domain
import FoundationEssentials
import ProviderKit

/// Texts that go to and come from Alipay.
enum AlipayText {
    /// A code or status of Alipay's, as safe to show as to log; nil for anything but words such as `ACQ.SYSTEM_ERROR`.
    static func word(_ text: String?) -> String? { ServiceText.word(text, further: "-.") }

    /// `yyyy-MM-dd HH:mm:ss` of the time in China, GMT+8, which has no summer time.
    static func time(_ time: Timestamp) -> String {
        let shifted = Date(timeIntervalSince1970: Double(time.adding(seconds: 8 * 3_600).rawValue))
        return shifted.formatted(
            Date.ISO8601FormatStyle(dateTimeSeparator: .space).year().month().day().time(
                includingFractionalSeconds: false))
    }

    /// Returns the title of the purchase without the characters that Alipay refuses in a subject, and within its 256.
    static func subject(_ title: String) -> String {
        let scalars = title.unicodeScalars.prefix(256).map { scalar -> Unicode.Scalar in
            let isRefused = ["/", "=", "&"].contains(scalar) || Character(scalar).isNewline
            return isRefused ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// An amount as Alipay writes it, `39.90`.
    ///
    /// - Parameter currency: as an answer or a notification names it; nil means CNY.
    /// - Returns: nil for what is no amount of the currency, or negative.
    static func money(_ text: String?, _ currency: String? = nil) -> Money? {
        guard let text, text.utf8.count <= 20, let currency = Currency(currency ?? "CNY"),
            let money = Money(decimal: text, currency: currency), money.value >= 0
        else { return nil }
        return money
    }
}
