import Encodings
import RefusalReasons

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

/// The protected header (RFC 7515 section 4), of which `alg`, `crit` and `x5c` are read.
///
/// `kid`, `jwk`, `jku` and `x5u` are not read: no chain proves the keys that they name.
struct JWSHeader: Sendable {
    let json: JSONDocument

    init(_ bytes: [UInt8]) throws(AppleRefusal) {
        do {
            json = try JSONDocument(bytes)
        } catch {
            throw .malformed("header: \(error.problem) at byte \(error.offset)")
        }
    }

    /// The text of `alg`; nil where it is missing or no string.
    var algorithm: String? { json.root["alg"].flatMap(json.string) }

    func checkAlgorithm() throws(AppleRefusal) {
        guard let algorithm else { throw AppleRefusal(.unsupportedAlgorithm, "alg is missing or no text") }
        guard algorithm == "ES256", algorithm.utf8.elementsEqual("ES256".utf8) else {
            throw AppleRefusal(.unsupportedAlgorithm, "alg is \(algorithm), not ES256")
        }
    }

    /// Refuses `crit`: no extension is understood here, so none may be declared critical (RFC 7515 section 4.1.11).
    func checkCritical() throws(AppleRefusal) {
        guard json.root["crit"] == nil else { throw .malformed("crit declares extensions that are not understood") }
    }

    /// The strings of `x5c` (RFC 7515 section 4.1.6), still base64.
    func certificateTexts() throws(AppleRefusal) -> [ArraySlice<UInt8>] {
        guard case .array(let nodes) = json.root["x5c"] else { throw .malformed("x5c is missing or no array") }
        var texts: [ArraySlice<UInt8>] = []
        for node in nodes {
            // RFC 8259 lets a writer escape the solidus, which base64 uses.
            if let plain = json.plainBytes(node) {
                texts.append(plain)
            } else if let text = json.string(node) {
                texts.append(Array(text.utf8)[...])
            } else {
                throw .malformed("x5c holds something else than text")
            }
        }
        return texts
    }

    /// A certificate of `x5c` as DER bytes, not parsed.
    static func certificate(_ text: ArraySlice<UInt8>) throws(AppleRefusal) -> [UInt8] {
        guard let der = Base64.decodeStandard(text), !der.isEmpty, der.count <= JWSLimits.certificate else {
            throw .malformed("x5c holds no strict base64 of a certificate")
        }
        return der
    }

    /// The leaf and the intermediate of exactly three certificates.
    ///
    /// The third is never parsed, compared or trusted.
    static func certificates(_ texts: [ArraySlice<UInt8>]) throws(AppleRefusal) -> PeerCertificates {
        guard texts.count == 3 else { throw .malformed("x5c holds \(texts.count) certificates, not 3") }
        return PeerCertificates(leaf: try certificate(texts[0]), intermediate: try certificate(texts[1]))
    }
}
