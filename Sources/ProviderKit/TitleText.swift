/// Titles for services, cut between Unicode scalars, because services count scalars or bytes, not the characters that a
/// reader sees.
extension String {
    /// Cuts the text to a number of Unicode scalars.
    public func cut(scalars limit: Int) -> String { String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) }

    /// Cuts the text to a number of UTF-8 bytes.
    public func cut(bytes limit: Int) -> String {
        var bytes = 0
        let kept = unicodeScalars.prefix { scalar in
            bytes += UTF8.width(scalar)
            return bytes <= limit
        }
        return String(String.UnicodeScalarView(kept))
    }

    /// True where the text is blank: empty or only white space.
    public var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
