import Domain
import Foundation

/// Texts, amounts and times as the pages write them; `Assets/sdk/words.js` does the same in the browser.
enum PageWords {
    static func fill(_ text: String, _ values: [String: String]) -> String {
        var (result, afterValue, rest) = ("", false, text[...])
        func append(_ piece: String, isValue: Bool) {
            guard !piece.isEmpty else { return }
            if isValue || afterValue, touches(result, piece) { result += " " }
            result += piece
            afterValue = isValue
        }
        while let match = rest.firstMatch(of: /\{([a-z_]+)\}/) {
            append(String(rest[..<match.range.lowerBound]), isValue: false)
            append(values[String(match.output.1)] ?? String(match.output.0), isValue: true)
            rest = rest[match.range.upperBound...]
        }
        append(String(rest), isValue: false)
        return result
    }

    /// Splits a text at the place of one value: the texts before and after it, with the spaces that the value wants.
    static func split(
        _ text: String, at name: String, _ value: String, _ values: [String: String]
    ) -> (before: String, after: String) {
        let parts = text.split(separator: "{\(name)}", maxSplits: 1, omittingEmptySubsequences: false)
        let before = fill(String(parts.first ?? ""), values)
        let after = fill(parts.count > 1 ? String(parts[1]) : "", values)
        return (touches(before, value) ? before + " " : before, touches(value, after) ? " " + after : after)
    }

    private static func touches(_ left: String, _ right: String) -> Bool {
        guard let last = left.unicodeScalars.last, let first = right.unicodeScalars.first else { return false }
        return (isHan(last) && isLatin(first)) || (isLatin(last) && isHan(first))
    }

    private static func isHan(_ letter: Unicode.Scalar) -> Bool {
        (0x3400...0x9FFF).contains(letter.value) || (0x20000...0x2FFFF).contains(letter.value)
    }

    private static func isLatin(_ letter: Unicode.Scalar) -> Bool {
        letter.properties.isASCIIHexDigit || ("a"..."z").contains(letter) || ("A"..."Z").contains(letter)
            || "¥$€£".unicodeScalars.contains(letter)
    }

    /// Splits a text after its first sentence; `rest` is nil where there is no more.
    static func sentences(_ text: String) -> (first: String, rest: String?) {
        guard let match = text.wholeMatch(of: /(.+?(?:[.] |。))(.+)/) else { return (text, nil) }
        return (match.output.1.trimmingCharacters(in: .whitespaces), String(match.output.2))
    }

    /// Writes an amount in the payer's notation: ¥39.90 for CNY in every language.
    static func amount(_ money: Money, _ locale: PageLocale) -> String {
        money.written(in: locale.rawValue)
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Writes a day in UTC, `25 Dec 2026` or `2026年12月25日`; the module writes it in the payer's zone.
    static func day(_ time: Timestamp, _ locale: PageLocale) -> String {
        let parts = parts(time)
        guard let (year, month, day) = parts.date else { return "" }
        return locale == .chinese ? "\(year)年\(month)月\(day)日" : "\(day) \(months[month - 1]) \(year)"
    }

    /// Writes a minute in UTC, `25 Nov 2026, 17:12`.
    static func minute(_ time: Timestamp, _ locale: PageLocale) -> String {
        let clock = parts(time).clock
        return locale == .chinese ? "\(day(time, locale)) \(clock)" : "\(day(time, locale)), \(clock)"
    }

    private static func parts(_ time: Timestamp) -> (date: (Int, Int, Int)?, clock: String) {
        let text = iso(time)
        let numbers = text.prefix(10).split(separator: "-").compactMap { Int($0) }
        guard numbers.count == 3, (1...12).contains(numbers[1]) else { return (nil, "") }
        return ((numbers[0], numbers[1], numbers[2]), String(text.dropFirst(11).prefix(5)))
    }

    /// Writes a time as ISO 8601 in UTC.
    static func iso(_ time: Timestamp) -> String {
        Date(timeIntervalSince1970: TimeInterval(time.rawValue)).formatted(.iso8601)
    }

    /// Writes the time left as `14:32` or `1:02:03`; never below `0:00`.
    static func left(_ seconds: Int64) -> String {
        let whole = max(0, seconds)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let (hours, minutes, rest) = (whole / 3_600, whole / 60 % 60, whole % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
    }

    /// Writes for how long something is bought; nil for what is used up.
    static func period(_ product: ProductFacts, days: Int64?, _ t: PageTexts) -> String? {
        if product.isManaged, let period = product.period {
            let key = period.count == 1 ? "every_\(period.unit)" : "every_\(period.unit)s"
            return t.fill(key, ["count": "\(period.count)"])
        }
        if product.kind == .nonConsumable { return t["for_ever"] }
        guard let whole = days ?? product.duration_days, product.kind != .consumable else { return nil }
        return t.fill(whole == 1 ? "for_day" : "for_days", ["count": "\(whole)"])
    }
}
