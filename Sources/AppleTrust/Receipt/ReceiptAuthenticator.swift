import Crypto
import RefusalReasons
import X509

/// A receipt whose signature and chain were verified; app and environment are not checked.
struct AuthenticReceipt: Sendable {
    let attributes: ReceiptAttributes
    let creationDate: Int64
    /// The SHA-256 of the signed content.
    let contentDigest: [UInt8]
    /// True where an App Store in a box signed it.
    let isFromBox: Bool

    fileprivate init(_ receipt: UnverifiedReceipt, isFromBox: Bool) {
        self.isFromBox = isFromBox
        contentDigest = Array(SHA256.hash(data: receipt.content))
        attributes = receipt.attributes
        creationDate = receipt.creationDate
    }
}

/// A receipt as it is parsed, before its signature is verified.
struct UnverifiedReceipt: Sendable {
    let message: SignedData
    let content: ArraySlice<UInt8>
    let attributes: ReceiptAttributes
    /// The time at which its chain has to be valid (attribute 12).
    let creationDate: Int64
    let certificates: [EmbeddedCertificate]
    /// The signer's certificate.
    let leaf: EmbeddedCertificate

    init(_ der: [UInt8]) throws(AppleRefusal) {
        message = try SignedData(der[...])
        content = try Self.content(of: message)
        attributes = try Self.attributes(in: content)
        creationDate = try Self.creationDate(attributes)
        certificates = try Self.certificates(of: message)
        leaf = try message.signer.certificate(among: certificates)
    }

    static func content(of message: SignedData) throws(AppleRefusal) -> ArraySlice<UInt8> {
        guard let content = message.content else { throw .malformed("the receipt's content is detached") }
        return content
    }

    static func attributes(in content: ArraySlice<UInt8>) throws(AppleRefusal) -> ReceiptAttributes {
        try ReceiptAttributes(content, repeated: 17, within: .attributes)
    }

    static func creationDate(_ attributes: ReceiptAttributes) throws(AppleRefusal) -> Int64 {
        try attributes.requiredDate(12)
    }

    static func certificates(of message: SignedData) throws(AppleRefusal) -> [EmbeddedCertificate] {
        var certificates: [EmbeddedCertificate] = []
        for der in message.certificates {
            guard let certificate = EmbeddedCertificate(der) else { throw .malformed("a certificate cannot be read") }
            certificates.append(certificate)
        }
        return certificates
    }
}

/// Decides whether a receipt was signed by Apple; only this makes an `AuthenticReceipt`.
struct ReceiptAuthenticator: Sendable {
    let chains: ChainValidator<AppReceiptProfile>
    /// The fingerprints of the roots of an App Store in a box.
    let box: Set<SHA256Digest>
    /// The SHA-256 of Apple's root: a receipt contains its root, which is trusted if it is this one.
    let pinnedRoot: [UInt8]

    func authenticate(_ receipt: UnverifiedReceipt) throws(AppleRefusal) -> AuthenticReceipt {
        let signer = receipt.message.signer
        try RSASignature.checkAlgorithms(signer)
        let chain = try chain(of: receipt)
        try RSASignature.check(signer, over: receipt.content, by: chain.leafKey)
        return AuthenticReceipt(receipt, isFromBox: box.contains(chain.anchor))
    }

    private func chain(of receipt: UnverifiedReceipt) throws(AppleRefusal) -> ValidChain<AppReceiptProfile> {
        let leaf = receipt.leaf
        let pinned = pinnedAnchor(among: receipt.certificates)
        var refusal = Self.noIssuer
        for issuer in Self.issuers(of: leaf, in: receipt.certificates) {
            do throws(AppleRefusal) {
                return try chains.chain(
                    of: PeerCertificates(leaf: leaf.der, intermediate: issuer.der), at: receipt.creationDate,
                    pinned: pinned)
            } catch {
                refusal = error
            }
        }
        throw refusal
    }

    static let noIssuer = AppleRefusal(.untrustedChain, "the leaf's issuer is not among the certificates")

    /// The certificates that may have issued the leaf.
    static func issuers(
        of leaf: EmbeddedCertificate, in certificates: [EmbeddedCertificate]
    ) -> [EmbeddedCertificate] {
        certificates.filter { $0.der != leaf.der && $0.certificate.subject == leaf.certificate.issuer }
    }

    func pinnedAnchor(among certificates: [EmbeddedCertificate]) -> TrustAnchor? {
        certificates.first { SHA256.hash(data: $0.der).elementsEqual(pinnedRoot) }.flatMap { TrustAnchor(der: $0.der) }
    }
}
