/// Percent-encoding (RFC 3986 section 2.1).
public enum PercentEncoding {
    /// Writes all but the unreserved characters (RFC 3986 section 2.3) as `%` and two upper-case digits a byte of UTF-8.
    public static func encoded(_ text: some StringProtocol) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            if byte.isURLUnreserved {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += "%" + Hex.encoded([byte], .upper)
            }
        }
    }

    /// Reads the bytes of a text, whatever they mean.
    ///
    /// - Parameter readsPlus: takes `+` for a space, as forms write it (`application/x-www-form-urlencoded`).
    /// - Returns: nil for a `%` that no two digits follow.
    public static func decoded(_ text: some Sequence<UInt8>, readsPlus: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap({ Hex.value($0) }),
                    let low = rest.next().flatMap({ Hex.value($0) })
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where readsPlus: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    /// Reads a text that is percent-encoded UTF-8.
    ///
    /// - Parameter readsPlus: takes `+` for a space.
    /// - Returns: nil for a `%` that no two digits follow, and for bytes that are no UTF-8.
    public static func text(_ text: some StringProtocol, readsPlus: Bool) -> String? {
        decoded(text.utf8, readsPlus: readsPlus).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
