import Encodings

/// The three decoded segments of a compact JWS (RFC 7515 section 7.1); nothing about them is verified.
struct CompactJWS: Sendable {
    let header: [UInt8]
    let payload: [UInt8]
    let signature: [UInt8]
    /// The signed text: the first two segments with the period between them (RFC 7515 section 5.1).
    let signingInput: ArraySlice<UInt8>
    /// The text of the header.
    let headerText: ArraySlice<UInt8>
    /// The cached header; nil where this header is not cached.
    let known: KnownHeader?

    init(_ text: String, headers: HeaderMemory? = nil) throws(AppleRefusal) {
        guard text.utf8.count <= JWSLimits.text else { throw .malformed("longer than \(JWSLimits.text) bytes") }
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(of: Self.point),
            let second = bytes[(first + 1)...].firstIndex(of: Self.point),
            !bytes[(second + 1)...].contains(Self.point)
        else { throw .malformed("a compact JWS has exactly three segments") }
        headerText = bytes[..<first]
        known = headers?.header(headerText)
        guard let header = known?.bytes ?? Base64.decodeURL(headerText),
            let payload = Base64.decodeURL(bytes[(first + 1)..<second]),
            let signature = Base64.decodeURL(bytes[(second + 1)...])
        else { throw .malformed("a segment is not strict base64url") }
        self.header = header
        self.payload = payload
        self.signature = signature
        signingInput = bytes[..<second]
    }

    private static let point = UInt8(ascii: ".")
}

/// The limits on a peer's JWS.
public enum JWSLimits {
    /// Bytes of the whole compact text; Apple's notifications have some 15 KiB.
    public static let text = 65_536
    /// Bytes of one certificate.
    static let certificate = 8_192
}
