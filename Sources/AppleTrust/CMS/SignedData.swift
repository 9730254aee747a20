import SwiftASN1

/// A CMS message with one signer, read and not verified (RFC 5652 section 5).
struct SignedData: Sendable {
    /// The signed content; nil where it is detached.
    let content: ArraySlice<UInt8>?
    /// The embedded certificates as DER, in their order.
    let certificates: [ArraySlice<UInt8>]
    let signer: SignerInfo

    /// The most certificates that are read; Apple embeds three.
    static let certificateLimit = 8

    init(_ message: ArraySlice<UInt8>) throws(AppleRefusal) {
        var info = try NodeReader(try BERReader.read(message, within: .message), "ContentInfo")
        guard try info.next("contentType").objectIdentifier == CMSOID.signedData else {
            throw .malformed("the message is no SignedData")
        }
        var wrapper = try NodeReader(try info.next("content"), "the message's content", as: .context(0))
        try info.end()
        let signedData = try wrapper.next("SignedData")
        try wrapper.end()
        var parts = try NodeReader(signedData, "SignedData")
        guard let version = try parts.next("version").integer, version == 1 || version == 3 else {
            throw .malformed("SignedData of an unknown version")
        }
        // The list is ignored: each signer names its own digest.
        _ = try NodeReader(try parts.next("digestAlgorithms"), "digestAlgorithms", as: .set)
        content = try Self.content(try parts.next("encapContentInfo"))
        certificates = try parts.next(if: .context(0)).map(Self.certificates) ?? []
        _ = parts.next(if: .context(1))
        var signers = try NodeReader(try parts.next("signerInfos"), "signerInfos", as: .set)
        try parts.end()
        signer = try SignerInfo(try signers.next("signer"))
        try signers.end()
    }

    private static func content(_ node: ASN1Node) throws(AppleRefusal) -> ArraySlice<UInt8>? {
        var parts = try NodeReader(node, "encapContentInfo")
        guard try parts.next("eContentType").objectIdentifier == CMSOID.data else {
            throw .malformed("the signed content is no data")
        }
        guard let wrapper = parts.next() else { return nil }
        try parts.end()
        var inner = try NodeReader(wrapper, "eContent", as: .context(0))
        guard let octets = try inner.next("octets").octets else { throw .malformed("eContent is no OCTET STRING") }
        try inner.end()
        return octets
    }

    private static func certificates(_ node: ASN1Node) throws(AppleRefusal) -> [ArraySlice<UInt8>] {
        var nodes = try NodeReader(node, "certificates", as: .context(0))
        var found: [ArraySlice<UInt8>] = []
        while let certificate = nodes.next() {
            guard found.count < certificateLimit else {
                throw .malformed("more than \(certificateLimit) certificates")
            }
            found.append(certificate.encodedBytes)
        }
        return found
    }
}

/// The object identifiers that are compared here.
enum CMSOID {
    static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]
    static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 3]
    static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 4]
    static let signingTime: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 5]

    static let sha1: ASN1ObjectIdentifier = [1, 3, 14, 3, 2, 26]
    static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    static let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    static let rsaWithSHA1: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 5]
    static let rsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 11]
    static let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 4, 3, 2]
}
