import Domain

/// Texts of a service's that go into paths, logs and reasons.
public enum ServiceText {
    /// Takes an id or a code only where it can lead nowhere else in a path and change nothing in a log.
    ///
    /// - Parameters:
    ///   - limit: the most bytes.
    ///   - further: the characters that it may have besides ASCII's letters, digits and `_`.
    /// - Returns: the text; nil where it is missing, empty, too long or has anything else.
    public static func word(_ text: String?, limit: Int = 64, further: String = "-") -> String? {
        guard let text, text.isWord(1...limit, or: further) else { return nil }
        return text
    }
}
