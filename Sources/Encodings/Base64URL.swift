/// The base64 of URLs and file names (RFC 4648 section 5), without padding, as JOSE writes it (RFC 7515 section 2).
public enum Base64URL {
    /// Writes bytes in the letters of URLs, without `=` at the end.
    public static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        Base64.encode(Array(bytes), Base64.urlAlphabet, padding: nil)
    }

    /// Reads a text as liberally as other readers of tokens and key sets do: the letters of plain base64 (`+`, `/`), its
    /// padding, and bits behind the last byte are taken, too.
    ///
    /// ``Base64/decodeURL(_:)`` takes the one canonical spelling alone.
    /// - Parameter limit: the most bytes that the text may have in UTF-8.
    /// - Returns: nil for another form, and for a longer text.
    public static func decoded(_ text: some StringProtocol, limit: Int = 1 << 16) -> [UInt8]? {
        guard text.utf8.count <= limit else { return nil }
        var letters = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        if letters.count.isMultiple(of: 4) {
            for _ in 0..<2 where letters.last == UInt8(ascii: "=") { letters.removeLast() }
        }
        return Base64.decode(letters[...], Base64.urlTable, isCanonical: false)
    }
}
