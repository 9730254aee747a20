import Crypto
import RefusalReasons

/// The fields of a token's payment data, decoded and each of the right length.
struct PaymentDataFields: Sendable {
    /// The form in which the content's key is sent.
    enum Envelope: Sendable {
        case ec(ephemeral: P256.KeyAgreement.PublicKey)
        case rsa
    }

    let version: ApplePayToken.Version
    let envelope: Envelope
    /// The encrypted key as it is sent and signed: ephemeralPublicKey or wrappedKey.
    let wrappedKey: [UInt8]
    /// The ciphertext with its authentication tag.
    let data: [UInt8]
    /// The detached CMS message.
    let signature: [UInt8]
    let publicKeyHash: [UInt8]
    let transactionID: [UInt8]
    /// The SHA-256 of the application data.
    let applicationData: [UInt8]?

    init(_ form: TokenForm) throws(ApplePayRefusal) {
        let fields = FieldReader(json: form.json, members: form.members)
        version = try Self.version(fields)
        data = try fields.base64("data")
        guard data.count > TokenLimits.tag else { throw .malformed("data has \(data.count) bytes") }
        signature = try fields.base64("signature")
        let header = try fields.object("header")
        (envelope, wrappedKey) = try Self.envelope(header, version)
        publicKeyHash = try header.base64("publicKeyHash")
        guard publicKeyHash.count == SHA256.byteCount else { throw .malformed("publicKeyHash is no SHA-256") }
        transactionID = try header.hex("transactionId")
        guard transactionID.count == TokenLimits.transactionID else {
            throw .malformed("transactionId has \(transactionID.count) bytes, not \(TokenLimits.transactionID)")
        }
        applicationData = header.has("applicationData") ? try header.hex("applicationData") : nil
        guard (applicationData?.count ?? SHA256.byteCount) == SHA256.byteCount else {
            throw .malformed("applicationData is no SHA-256")
        }
    }

    /// The SHA-256 of the signed parts.
    var signedDigest: SHA256Digest {
        var hash = SHA256()
        for part in [wrappedKey, data, transactionID, applicationData ?? []] { hash.update(data: part) }
        return hash.finalize()
    }

    private static func version(_ fields: FieldReader) throws(ApplePayRefusal) -> ApplePayToken.Version {
        let name = try fields.text("version")
        guard let version = ApplePayToken.Version(rawValue: name) else {
            throw ApplePayRefusal(
                .unsupportedVersion, "version \(String.UnicodeScalarView(name.unicodeScalars.prefix(32)))")
        }
        return version
    }

    /// A token must have the field of its version and not the other, so that nothing is signed as one and read as the
    /// other.
    private static func envelope(
        _ header: FieldReader, _ version: ApplePayToken.Version
    ) throws(ApplePayRefusal) -> (Envelope, [UInt8]) {
        let (own, other) =
            version == .ec ? ("ephemeralPublicKey", "wrappedKey") : ("wrappedKey", "ephemeralPublicKey")
        guard !header.has(other) else { throw .malformed("\(version.rawValue) with \(other)") }
        let bytes = try header.base64(own)
        guard version == .ec else {
            guard TokenLimits.wrappedKey.contains(bytes.count) else {
                throw .malformed("wrappedKey has \(bytes.count) bytes")
            }
            return (.rsa, bytes)
        }
        guard bytes.count == P256Point.prefix.count + P256Point.length, bytes.starts(with: P256Point.prefix),
            let key = try? P256.KeyAgreement.PublicKey(x963Representation: bytes[P256Point.prefix.count...])
        else { throw .malformed("ephemeralPublicKey is no point of P-256") }
        return (.ec(ephemeral: key), bytes)
    }
}

/// A point of P-256 as a SubjectPublicKeyInfo, which DER spells in one way only (RFC 5480 section 2).
enum P256Point {
    /// The bytes before the uncompressed point.
    static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    /// Octets of an uncompressed point.
    static let length = 65
}
