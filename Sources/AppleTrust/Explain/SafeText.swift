/// A peer's text made safe for one line of a log or a terminal.
enum SafeText {
    static let limit = 200

    /// The text cut to `limit` scalars, with U+FFFD for each scalar that is not printable.
    static func line(_ text: String, limit: Int = limit) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) { line.append(isPrintable(scalar) ? scalar : "\u{FFFD}") }
        return text.unicodeScalars.dropFirst(limit).isEmpty ? String(line) : String(line) + "…"
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
