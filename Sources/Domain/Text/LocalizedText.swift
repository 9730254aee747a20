import Encodings

/// A phrase for people in English and Chinese, written where it is needed as an English text with its values:
/// `"must be \(1) to \(90)"`.
///
/// The Chinese one is found by the English pattern in ``ChineseTexts``; a test reads every pattern of the sources.
package struct LocalizedText: Sendable, Equatable, ExpressibleByStringInterpolation {
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pattern = ""
        fileprivate var values: [String] = []

        package init(literalCapacity: Int, interpolationCount _: Int) { pattern.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { pattern += literal }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            pattern += LocalizedText.mark
            values.append(value.description)
        }
    }

    /// The mark that stands in a pattern for each value.
    package static let mark = "%@"

    /// The English text with a mark in the place of each value.
    package let pattern: String
    package let values: [String]
    /// The machine-readable members, for an error's `details`.
    package var details: [String: JSONValue] = [:]

    package init(stringLiteral value: String) { (pattern, values) = (value, []) }

    package init(stringInterpolation: StringInterpolation) {
        (pattern, values) = (stringInterpolation.pattern, stringInterpolation.values)
    }

    /// Returns the phrase with one more machine-readable member in ``details``.
    package func with(_ name: String, _ value: JSONValue) -> LocalizedText {
        var text = self
        text.details[name] = value
        return text
    }

    package var english: String { Self.filled(pattern, values) }
    /// The Chinese text; a phrase without a translation says only that something does not fit.
    package var chinese: String {
        if let exact = ChineseTexts.byPattern[pattern] { return Self.filled(exact, values) }
        let (general, numbers) = Self.general(pattern, values)
        return Self.filled(ChineseTexts.byPattern[general] ?? "不符合要求", numbers)
    }

    /// Replaces each number in a pattern by a mark, so that one translation serves all limits.
    package static func general(_ pattern: String, _ values: [String] = []) -> (pattern: String, values: [String]) {
        var (general, numbers, others, rest) = ("", [String](), values[...], pattern[...])
        func isNumeric(_ character: Character) -> Bool { character.utf8.allSatisfy(\.isDigit) }
        while let first = rest.first {
            if rest.hasPrefix(mark) {
                general += mark
                if let value = others.popFirst() { numbers.append(value) }
                rest = rest.dropFirst(mark.count)
            } else if isNumeric(first) || (first == "-" && rest.dropFirst().first.map(isNumeric) == true) {
                var number = rest.prefix { isNumeric($0) || $0 == "," || $0 == "-" }
                while number.last == "," || number.last == "-" { number = number.dropLast() }
                general += mark
                numbers.append(String(number))
                rest = rest[number.endIndex...]
            } else {
                general.append(first)
                rest = rest.dropFirst()
            }
        }
        return (general, numbers)
    }

    package static func == (one: LocalizedText, other: LocalizedText) -> Bool { one.english == other.english }

    /// Fills `%@` in order, and `%1`, `%2` … where another language needs another order; a text may leave values out.
    private static func filled(_ pattern: String, _ values: [String]) -> String {
        var (filled, next, rest) = ("", 0, pattern[...])
        while let sign = rest.firstIndex(of: "%") {
            filled += rest[..<sign]
            let kind = rest.index(after: sign)
            guard kind < rest.endIndex else { return filled + rest[sign...] }
            let index: Int?
            if rest[kind] == "@" {
                index = next
                next += 1
            } else {
                index = rest[kind].wholeNumberValue.map { $0 - 1 }
            }
            if let index, values.indices.contains(index) {
                filled += values[index]
            } else {
                filled += rest[sign...kind]
            }
            rest = rest[rest.index(after: kind)...]
        }
        return filled + rest
    }
}

extension LocalizedText: CustomStringConvertible {
    package var description: String { english }
}
