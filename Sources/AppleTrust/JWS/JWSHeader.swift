import Encodings
import RefusalReasons

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
