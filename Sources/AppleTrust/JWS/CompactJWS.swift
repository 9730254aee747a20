/// The three decoded segments of a compact JWS (RFC 7515 section 7.1); nothing about them is verified.
struct CompactJWS: Sendable {
    let header: [UInt8]
    let payload: [UInt8]
    let signature: [UInt8]
    /// What the signature is over: the text of the first two segments with their point.
    let signingInput: ArraySlice<UInt8>

    init(_ text: String) throws(AppleRefusal) {
        guard text.utf8.count <= JWSLimits.text else { throw .malformed("longer than \(JWSLimits.text) bytes") }
        let bytes = Array(text.utf8)
        var points: [Int] = []
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ".") {
            guard points.count < 2 else { throw .malformed("a compact JWS has exactly three segments") }
            points.append(index)
        }
        guard points.count == 2 else { throw .malformed("a compact JWS has exactly three segments") }
        guard let header = Base64.decodeURL(bytes[..<points[0]]),
            let payload = Base64.decodeURL(bytes[(points[0] + 1)..<points[1]]),
            let signature = Base64.decodeURL(bytes[(points[1] + 1)...])
        else { throw .malformed("a segment is not strict base64url") }
        self.header = header
        self.payload = payload
        self.signature = signature
        signingInput = bytes[..<points[1]]
    }
}
