/// Titles as services take them: cut between Unicode scalars, because services count those or bytes and never what a
/// reader takes for one character.
extension String {
    /// At most so many Unicode scalars.
    public func cut(scalars limit: Int) -> String { String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) }

    /// At most so many bytes of UTF-8.
    public func cut(bytes limit: Int) -> String {
        var bytes = 0
        let kept = unicodeScalars.prefix { scalar in
            bytes += UTF8.width(scalar)
            return bytes <= limit
        }
        return String(String.UnicodeScalarView(kept))
    }

    /// True where the text is blank: no scalar, or white space alone.
    public var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
