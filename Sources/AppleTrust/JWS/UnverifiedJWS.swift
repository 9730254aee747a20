/// A JWS that is well formed; its signature is not verified yet.
struct UnverifiedJWS: Sendable {
    let compact: CompactJWS
    let payload: JSONDocument
    /// `signedDate`, in milliseconds since 1970-01-01 UTC.
    let signedDate: Int64
    /// The strings of `x5c`, still base64.
    let certificates: [ArraySlice<UInt8>]

    init(_ text: String, headers: HeaderMemory) throws(AppleRefusal) {
        compact = try CompactJWS(text, headers: headers)
        if let known = compact.known {
            certificates = known.certificates
        } else {
            certificates = try Self.certificates(compact.header)
        }
        payload = try Self.json(compact.payload)
        signedDate = try Self.signedDate(payload)
    }

    /// Returns the header for the cache, once it has led to a sound chain.
    func header(with peer: PeerCertificates) -> KnownHeader {
        // Copied, because the slice would retain the whole text.
        KnownHeader(
            text: Array(compact.headerText)[...], bytes: compact.header, certificates: certificates, peer: peer)
    }

    private static func certificates(_ bytes: [UInt8]) throws(AppleRefusal) -> [ArraySlice<UInt8>] {
        let header = try JWSHeader(bytes)
        try header.checkAlgorithm()
        try header.checkCritical()
        return try header.certificateTexts()
    }

    static func json(_ bytes: [UInt8]) throws(AppleRefusal) -> JSONDocument {
        do {
            return try JSONDocument(bytes)
        } catch {
            throw .malformed("payload: \(error.problem) at byte \(error.offset)")
        }
    }

    /// Returns the time of Apple's signature in milliseconds, at which the chain has to be valid.
    ///
    /// In an app transaction the field is `receiptCreationDate`.
    static func signedDate(_ payload: JSONDocument) throws(AppleRefusal) -> Int64 {
        let claims = ClaimReader(payload)
        let isApp = claims.text("receiptType") != nil && !claims.has("signedDate")
        let date = try claims.required(isApp ? "receiptCreationDate" : "signedDate", ClaimReader.date)
        guard date > 0 else { throw .malformed("signedDate lies before 1970") }
        return date
    }
}
