import Crypto
import RefusalReasons

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The JSON of a JWS of any kind whose signature and chain were verified.
///
/// The app and the environment are not checked: a notification names them in `data`, `summary` or `appData`. A JWS
/// inside the payload is not verified by this and has to be verified on its own.
public struct VerifiedPayload: Sendable {
    /// The signer of a payload.
    public enum Signer: Sendable, Hashable {
        /// A chain to a trusted root, with Apple's markers.
        case apple
        /// A chain to a configured root of an App Store in a box, with Apple's markers.
        case box
        /// A configured Xcode certificate.
        case xcodeCertificate
        /// An unchecked signature of Xcode: no Xcode certificates are configured.
        case xcodeUnchecked
    }

    /// The decoded payload: strict UTF-8 JSON, an object without repeated names.
    public var json: [UInt8] { text.bytes }
    /// `signedDate`, in milliseconds since 1970-01-01 UTC.
    public let signedDate: Int64
    public let signer: Signer
    let text: JSONDocument

    fileprivate init(_ jws: UnverifiedJWS, signer: Signer) {
        text = jws.payload
        signedDate = jws.signedDate
        self.signer = signer
    }
}

/// Decides whether a JWS was signed by Apple, or by Xcode where that is allowed; only this makes a `VerifiedPayload`.
struct JWSAuthenticator: Sendable {
    let chains: ChainValidator<StoreJWSProfile>
    /// The fingerprints of the roots of an App Store in a box.
    let box: Set<SHA256Digest>
    /// True where a JWS of Xcode's local StoreKit may pass.
    let allowsXcode: Bool
    /// Xcode's certificates; without any, Xcode's signatures are not checked.
    let xcodeCertificates: [XcodeCertificate]
    let headers = HeaderMemory()

    init(
        chains: ChainValidator<StoreJWSProfile>, box: Set<SHA256Digest> = [], allowsXcode: Bool,
        xcodeCertificates: [XcodeCertificate]
    ) {
        self.chains = chains
        self.box = box
        self.allowsXcode = allowsXcode
        self.xcodeCertificates = xcodeCertificates
    }

    /// - Parameter xcode: true for a kind of payload that Xcode signs, too.
    func authenticate(_ text: String, xcode: Bool) throws(AppleRefusal) -> VerifiedPayload {
        let jws = try UnverifiedJWS(text, headers: headers)
        if jws.certificates.count == 1 {
            try checkXcode(jws.payload, xcode: xcode)
            return VerifiedPayload(jws, signer: try xcodeSigner(of: jws.compact, jws.certificates[0]))
        }
        let chain = try chain(of: jws)
        try RawSignature.check(jws.compact.signature, over: jws.compact.signingInput, by: chain.leafKey)
        return VerifiedPayload(jws, signer: box.contains(chain.anchor) ? .box : .apple)
    }

    private func chain(of jws: UnverifiedJWS) throws(AppleRefusal) -> ValidChain<StoreJWSProfile> {
        if let known = jws.compact.known { return try chains.chain(of: known.peer, at: jws.signedDate) }
        let peer = try JWSHeader.certificates(jws.certificates)
        let chain = try chains.chain(of: peer, at: jws.signedDate)
        headers.insert(jws.header(with: peer))
        return chain
    }

    /// Checks that a payload with one certificate is accepted; one that names Production or Sandbox never is.
    func checkXcode(_ payload: JSONDocument, xcode: Bool) throws(AppleRefusal) {
        let environment = ClaimReader(payload).text("environment")
        guard environment.flatMap(AppleEnvironment.init(appleName:)) == .xcode else {
            throw .malformed("x5c holds 1 certificate, not 3")
        }
        guard xcode, allowsXcode else {
            throw AppleRefusal(.wrongEnvironment, "signed by Xcode, which is not accepted")
        }
    }

    private func xcodeSigner(
        of compact: CompactJWS, _ certificate: ArraySlice<UInt8>
    ) throws(AppleRefusal) -> VerifiedPayload.Signer {
        guard !xcodeCertificates.isEmpty else { return .xcodeUnchecked }
        let key = try xcodeKey(certificate)
        try RawSignature.check(compact.signature, over: compact.signingInput, by: key)
        return .xcodeCertificate
    }

    /// The key of the configured Xcode certificate that a header names.
    func xcodeKey(_ certificate: ArraySlice<UInt8>) throws(AppleRefusal) -> P256.Signing.PublicKey {
        let der = try JWSHeader.certificate(certificate)
        guard let trusted = xcodeCertificates.first(where: { $0.der == der }) else {
            throw AppleRefusal(.untrustedChain, "the certificate is none of the configured Xcode certificates")
        }
        return trusted.key
    }
}

/// An ES256 signature as a JWS carries it: r and s, 32 bytes each, big-endian (RFC 7518 section 3.4).
enum RawSignature {
    /// Refuses a signature that is not the leaf's; a DER signature is refused by its length.
    static func check(
        _ signature: [UInt8], over input: ArraySlice<UInt8>, by key: P256.Signing.PublicKey
    )
        throws(AppleRefusal)
    {
        guard signature.count == 64 else {
            throw AppleRefusal(.badSignature, "the signature has \(signature.count) bytes, not 64")
        }
        guard isScalar(signature[..<32]), isScalar(signature[32...]) else {
            throw AppleRefusal(.badSignature, "r or s is zero or not below the curve's order")
        }
        guard let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(parsed, for: SHA256.hash(data: input))
        else { throw AppleRefusal(.badSignature, "the signature is not the leaf's over this header and payload") }
    }

    /// Returns whether a big-endian number is at least 1 and below the order of P-256 (FIPS 186-5).
    private static func isScalar(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { $0 != 0 } && bytes.lexicographicallyPrecedes(order)
    }

    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
}
