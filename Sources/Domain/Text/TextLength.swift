// Lengths of text from outside are counted in Unicode scalars or in bytes of UTF-8, never in characters as Swift counts
// them: one of those (an extended grapheme cluster, UAX 29) can be of any size.
extension StringProtocol {
    /// Returns whether the number of Unicode scalars is in the range.
    ///
    /// A text of more than four bytes for each allowed scalar is refused without counting.
    package func hasScalars(_ range: ClosedRange<Int>) -> Bool {
        guard utf8.count >= range.lowerBound else { return false }
        // A scalar has at most four bytes.
        guard utf8.count <= range.upperBound * 4 else { return false }
        return range.contains(unicodeScalars.count)
    }

    /// The first Unicode scalars, at most `count`.
    package func firstScalars(_ count: Int) -> String {
        // No text has more scalars than bytes.
        guard utf8.count > count else { return String(self) }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
    }

    /// The longest prefix of whole Unicode scalars that has at most `count` bytes in UTF-8.
    package func firstBytes(_ count: Int) -> String {
        guard utf8.count > count else { return String(self) }
        var (bytes, taken) = (0, String.UnicodeScalarView())
        for scalar in unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= count else { break }
            taken.append(scalar)
        }
        return String(taken)
    }

    /// True where there is no control character and no line break in the text (Unicode: categories Cc, Zl and Zp).
    package var isPlain: Bool { !unicodeScalars.contains(where: \.isControl) }

    /// True where there is nothing in the text but what ``isPlain`` allows, tabs and line breaks.
    package var isPlainText: Bool {
        !unicodeScalars.contains { $0.isControl && !["\t", "\n", "\r", "\u{2028}", "\u{2029}"].contains($0) }
    }
}

extension String {
    /// This text for one line of a terminal: characters that move the cursor, begin an escape sequence, break the line
    /// or turn the direction of writing are shown as `\u{1B}`.
    package var shownOnOneLine: String {
        guard unicodeScalars.contains(where: { $0.isControl || $0.turnsDirection }) else { return self }
        return unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.isControl || scalar.turnsDirection {
                line += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool {
        switch value {
        case 0...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }

    /// True for the marks that reorder the text beside them (UAX 9 section 2).
    fileprivate var turnsDirection: Bool {
        switch value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
