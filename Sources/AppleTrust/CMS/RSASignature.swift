import Crypto
import RefusalReasons
import SwiftASN1
import _CryptoExtras

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A signer's RSA signature by PKCS #1 v1.5 over SHA-1 or SHA-256 (RFC 8017 section 8.2, RFC 3370, RFC 5754).
enum RSASignature {
    /// Refuses a signer with other algorithms, or with a digest and a signature algorithm that do not belong together.
    static func checkAlgorithms(_ signer: SignerInfo) throws(AppleRefusal) {
        let fitting: Set<ASN1ObjectIdentifier> =
            switch signer.digest.name {
            case CMSOID.sha1: [CMSOID.rsa, CMSOID.rsaWithSHA1]
            case CMSOID.sha256: [CMSOID.rsa, CMSOID.rsaWithSHA256]
            default: []
            }
        guard fitting.contains(signer.algorithm.name), signer.digest.isPlain, signer.algorithm.isPlain else {
            throw AppleRefusal(
                .unsupportedAlgorithm,
                "signed with \(signer.algorithm.name) over \(signer.digest.name), not with RSA over SHA-1 or SHA-256")
        }
    }

    /// Refuses a signature that is not this key's over the content, or over the signed attributes where there are any.
    static func check(
        _ signer: SignerInfo, over content: ArraySlice<UInt8>, by key: _RSA.Signing.PublicKey
    ) throws(AppleRefusal) {
        if signer.digest.name == CMSOID.sha1 {
            try check(signer, content, Insecure.SHA1.self, key)
        } else {
            try check(signer, content, SHA256.self, key)
        }
    }

    private static func check<Hash: HashFunction>(
        _ signer: SignerInfo, _ content: ArraySlice<UInt8>, _ hash: Hash.Type, _ key: _RSA.Signing.PublicKey
    ) throws(AppleRefusal) {
        var digest = Hash.hash(data: content)
        if let attributes = signer.signedAttributes {
            guard attributes.contentType == CMSOID.data else {
                throw AppleRefusal(.badSignature, "the signed attributes name another content type")
            }
            guard digest.elementsEqual(attributes.messageDigest) else {
                throw AppleRefusal(.badSignature, "the signed attributes are about another content")
            }
            digest = Hash.hash(data: attributes.signed)
        }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signer.signature)
        guard key.isValidSignature(signature, for: digest, padding: .insecurePKCS1v1_5) else {
            throw AppleRefusal(.badSignature, "the signature is not the leaf's over this content")
        }
    }
}
