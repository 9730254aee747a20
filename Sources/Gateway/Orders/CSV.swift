/// Comma-separated values (RFC 4180).
enum CSV {
    /// One record with its line end.
    static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    /// A cell that a spreadsheet would take for a formula gets an apostrophe before it (OWASP, CSV injection).
    private static func cell(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } ?? false
        let guarded = isFormula ? "'" + text : text
        let isPlain = guarded.unicodeScalars.allSatisfy { !"\",\r\n".unicodeScalars.contains($0) }
        return isPlain ? guarded : "\"" + guarded.replacing("\"", with: "\"\"") + "\""
    }
}
