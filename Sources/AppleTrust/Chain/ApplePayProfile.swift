import Crypto
import SwiftASN1
import X509
import _CryptoExtras

/// A chain that certifies payment tokens, and the signature scheme of its leaf.
///
/// Both kinds of leaf are certified on elliptic curves, by Apple Application Integration CA - G3.
protocol ApplePayProfile: ChainProfile {
    /// The signature algorithms that a signer may name, as encoded AlgorithmIdentifiers.
    static var algorithms: [[UInt8]] { get }
    static func isValid(_ signature: ArraySlice<UInt8>, for digest: SHA256Digest, by key: LeafKey) -> Bool
}

extension ApplePayProfile {
    static func mayIssue(_ certificate: Certificate) -> Bool { StoreJWSProfile.mayIssue(certificate) }
    static var signatureAlgorithms: Set<Certificate.SignatureAlgorithm> { StoreJWSProfile.signatureAlgorithms }
    static var signing: String { StoreJWSProfile.signing }
    static var leafMarker: ASN1ObjectIdentifier { AppleOID.paymentLeaf }
    static var intermediateMarker: ASN1ObjectIdentifier { AppleOID.applicationIntegration }
    static var hasUniqueMarkers: Bool { true }
}

/// EC_v1: a P-256 leaf, ECDSA over SHA-256.
enum ApplePayECProfile: ApplePayProfile {
    static func leafKey(of certificate: Certificate) -> P256.Signing.PublicKey? {
        P256.Signing.PublicKey(certificate.publicKey)
    }

    static let leafKeyName = "P-256"

    static let algorithms = TokenOID.ecdsaWithSHA256

    static func isValid(
        _ signature: ArraySlice<UInt8>, for digest: SHA256Digest, by key: P256.Signing.PublicKey
    ) -> Bool {
        guard let raw = ECDSASignatureDER.raw(signature),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw)
        else { return false }
        return key.isValidSignature(signature, for: digest)
    }
}

/// RSA_v1: an RSA leaf of at least 2048 bits, PKCS #1 v1.5 over SHA-256.
enum ApplePayRSAProfile: ApplePayProfile {
    static func leafKey(of certificate: Certificate) -> _RSA.Signing.PublicKey? {
        _RSA.Signing.PublicKey(certificate.publicKey)
    }

    static let leafKeyName = "RSA"

    static let algorithms = TokenOID.rsaWithSHA256

    static func isValid(
        _ signature: ArraySlice<UInt8>, for digest: SHA256Digest, by key: _RSA.Signing.PublicKey
    ) -> Bool {
        key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5)
    }
}
