package import FoundationEssentials

/// The base64 of URLs and file names (RFC 4648 section 5), without padding, as JOSE writes it (RFC 7515 section 2).
package enum Base64URL {
    /// Writes bytes in the letters of URLs, without `=` at the end.
    package static func encoded(_ bytes: some Collection<UInt8>) -> String {
        let text = Data(bytes).base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads the bytes of an unpadded text; the letters of plain base64 (`+`, `/`) are taken too, as some servers write
    /// them.
    ///
    /// - Parameter limit: the most bytes that the text may have in UTF-8.
    /// - Returns: nil for another form, and for a longer text.
    package static func decoded(_ text: String, limit: Int = 1 << 16) -> Data? {
        guard text.utf8.count <= limit else { return nil }
        var plain = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        plain += Array(repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        return Data(base64Encoded: Data(plain))
    }
}
