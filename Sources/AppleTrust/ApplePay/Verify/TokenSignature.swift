import Crypto
import RefusalReasons

/// The signature of a payment token, read and not verified: a detached CMS message as strictly as Apple writes it.
///
/// Receipts are read by `SignedData`, as a whole tree with its certificates; here certificates are not parsed, because
/// a cached chain makes that needless.
struct TokenSignature: Sendable {
    /// The signed bytes: the attributes under the tag of a SET (RFC 5652 section 5.4).
    let signed: [UInt8]
    let contentType: ArraySlice<UInt8>
    let messageDigest: ArraySlice<UInt8>
    /// Milliseconds since 1970-01-01 UTC, as the signer states it.
    let signingTime: Int64
    /// The whole AlgorithmIdentifier of the signature.
    let algorithm: ArraySlice<UInt8>
    let signature: ArraySlice<UInt8>
    /// The certificate that the signer names.
    let leaf: ArraySlice<UInt8>
    /// The one or two other certificates.
    let others: [ArraySlice<UInt8>]

    init(_ bytes: [UInt8]) throws(AppleRefusal) {
        guard bytes.count <= TokenLimits.signature else { throw .malformed("a signature of \(bytes.count) bytes") }
        let outer = try BERCursor.only(0x30, of: bytes[...], "ContentInfo", in: "the signature")
        var info = BERCursor(outer.contents, "ContentInfo")
        guard try info.next(0x06, "contentType").contents.elementsEqual(TokenOID.signedData) else {
            throw .malformed("the message is no SignedData")
        }
        let wrapper = try info.next(0xA0, "content")
        try info.end()
        var parts = BERCursor(
            try BERCursor.only(0x30, of: wrapper.contents, "SignedData", in: "content").contents, "SignedData")
        guard try parts.next(0x02, "version").contents.elementsEqual([1]) else {
            throw .malformed("SignedData of another version than 1")
        }
        let digests = try parts.next(0x31, "digestAlgorithms")
        try Self.checkDigest(digests.contents)
        try Self.checkDetached(try parts.next(0x30, "encapContentInfo").contents)
        let certificates = try parts.next(0xA0, "certificates")
        let signers = try parts.next(0x31, "signerInfos")
        try parts.end()
        let signer = try TokenSigner(
            try BERCursor.only(0x30, of: signers.contents, "signer", in: "signerInfos").contents)
        try Self.checkDigest(signer.digest)
        let attributes = try TokenAttributes(signer.attributes)
        signed = attributes.signed
        contentType = attributes.contentType
        messageDigest = attributes.messageDigest
        signingTime = attributes.signingTime
        algorithm = signer.algorithm
        signature = signer.signature
        (leaf, others) = try Self.split(certificates.contents, signer.name)
    }

    /// Checks that the signed attributes are about this content.
    func check(_ digest: SHA256Digest) throws(AppleRefusal) {
        guard contentType.elementsEqual(TokenOID.data) else {
            throw AppleRefusal(.badSignature, "the signed attributes name another content type")
        }
        guard digest == messageDigest else {
            throw AppleRefusal(.badSignature, "the signature is about another content")
        }
    }

    private static func checkDigest(_ algorithm: ArraySlice<UInt8>) throws(AppleRefusal) {
        guard TokenOID.sha256.contains(where: algorithm.elementsEqual) else {
            throw AppleRefusal(.badSignature, "signed over another digest than SHA-256")
        }
    }

    private static func checkDetached(_ content: ArraySlice<UInt8>) throws(AppleRefusal) {
        var parts = BERCursor(content, "encapContentInfo")
        guard try parts.next(0x06, "eContentType").contents.elementsEqual(TokenOID.data) else {
            throw .malformed("the signed content is no data")
        }
        guard parts.isAtEnd else { throw .malformed("the signature has its content attached") }
    }

    private static func split(
        _ certificates: ArraySlice<UInt8>, _ name: CertificateName
    ) throws(AppleRefusal) -> (ArraySlice<UInt8>, [ArraySlice<UInt8>]) {
        var cursor = BERCursor(certificates, "certificates")
        var leaves: [ArraySlice<UInt8>] = []
        var others: [ArraySlice<UInt8>] = []
        while !cursor.isAtEnd {
            let certificate = try cursor.next(0x30, "certificate").whole
            guard leaves.count + others.count < 3 else { throw .malformed("more than 3 certificates") }
            guard let own = CertificateName(certificate: certificate) else {
                throw .malformed("a certificate cannot be read")
            }
            if own == name { leaves.append(certificate) } else { others.append(certificate) }
        }
        guard let leaf = leaves.first, leaves.count == 1 else {
            throw .malformed("\(leaves.count) of the certificates are the signer's")
        }
        guard !others.isEmpty else { throw .malformed("1 certificate, not 2") }
        return (leaf, others)
    }
}

/// The parts of a signer, encoded (RFC 5652 section 5.3).
private struct TokenSigner {
    let name: CertificateName
    let digest: ArraySlice<UInt8>
    /// Under their tag, [0].
    let attributes: BERCursor.Element
    let algorithm: ArraySlice<UInt8>
    let signature: ArraySlice<UInt8>

    init(_ contents: ArraySlice<UInt8>) throws(AppleRefusal) {
        var parts = BERCursor(contents, "SignerInfo")
        guard try parts.next(0x02, "version").contents.elementsEqual([1]) else {
            throw .malformed("the signer is not named by issuer and serial number")
        }
        var sid = BERCursor(try parts.next(0x30, "sid").contents, "issuerAndSerialNumber")
        let issuer = try sid.next(0x30, "issuer").whole
        name = CertificateName(issuer: issuer, serial: try sid.next(0x02, "serialNumber").contents)
        try sid.end()
        digest = try parts.next(0x30, "digestAlgorithm").whole
        guard let attributes = try parts.next(if: 0xA0, "signedAttrs") else {
            throw .malformed("nothing is signed but the content")
        }
        self.attributes = attributes
        algorithm = try parts.next(0x30, "signatureAlgorithm").whole
        signature = try parts.next(0x04, "signature").contents
        // Unsigned attributes prove nothing.
        _ = try parts.next(if: 0xA1, "unsignedAttrs")
        try parts.end()
    }
}

/// Object identifiers in their encoded form, for comparing bytes.
enum TokenOID {
    static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
    static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2]
    static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 3]
    static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 4]
    static let signingTime: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 5]

    /// AlgorithmIdentifier of SHA-256: its parameters are NULL or absent (RFC 5754 section 2).
    static let sha256: [[UInt8]] = [
        [0x30, 0x0D, 0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0],
        [0x30, 0x0B, 0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1],
    ]
    /// AlgorithmIdentifier of ECDSA with SHA-256: it has no parameters, not even NULL (RFC 5758 section 3.2).
    static let ecdsaWithSHA256: [[UInt8]] = [[0x30, 0x0A, 0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]]
    /// AlgorithmIdentifier of RSA with SHA-256, or of the RSA key alone (RFC 3370 section 3.2, RFC 5754 section 3.2).
    static let rsaWithSHA256: [[UInt8]] = [
        [0x30, 0x0D, 0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 11, 5, 0],
        [0x30, 0x0B, 0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 11],
        [0x30, 0x0D, 0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 5, 0],
    ]
}
