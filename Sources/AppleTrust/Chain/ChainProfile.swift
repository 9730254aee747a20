import Crypto
import SwiftASN1
import X509
import _CryptoExtras

/// The purpose of a chain: the kind of its leaf's key, the signature algorithms of its certificates, and Apple's
/// markers on them.
///
/// The leaf's key has the profile's own type, so that no signature can be checked by an algorithm of another profile.
protocol ChainProfile: Sendable {
    associatedtype LeafKey: Sendable

    /// - Returns: nil for a key of another kind.
    static func leafKey(of certificate: Certificate) -> LeafKey?
    /// The leaf's kind of key, in words.
    static var leafKeyName: String { get }

    /// Returns whether an authority with such a key may sign certificates of this chain.
    static func mayIssue(_ certificate: Certificate) -> Bool
    static var signatureAlgorithms: Set<Certificate.SignatureAlgorithm> { get }
    /// The signature algorithm of this chain's certificates, in words.
    static var signing: String { get }

    static var leafMarker: ASN1ObjectIdentifier { get }
    static var intermediateMarker: ASN1ObjectIdentifier { get }
    /// True where each marker may be on one certificate of the chain only.
    static var hasUniqueMarkers: Bool { get }
}

extension ChainProfile {
    static var hasUniqueMarkers: Bool { false }
}

/// App Store JWS: P-256 leaves, elliptic curves throughout.
enum StoreJWSProfile: ChainProfile {
    static func leafKey(of certificate: Certificate) -> P256.Signing.PublicKey? {
        P256.Signing.PublicKey(certificate.publicKey)
    }

    static let leafKeyName = "P-256"

    static func mayIssue(_ certificate: Certificate) -> Bool {
        P384.Signing.PublicKey(certificate.publicKey) != nil || P256.Signing.PublicKey(certificate.publicKey) != nil
            || P521.Signing.PublicKey(certificate.publicKey) != nil
    }

    static let signatureAlgorithms: Set<Certificate.SignatureAlgorithm> = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512,
    ]
    static let signing = "ECDSA and SHA-2"
    static let leafMarker = AppleOID.storeLeaf
    static let intermediateMarker = AppleOID.developerRelations
}

/// App receipts: RSA throughout, of at least 2048 bits; chains from before 2023 are signed with SHA-1.
enum AppReceiptProfile: ChainProfile {
    static func leafKey(of certificate: Certificate) -> _RSA.Signing.PublicKey? {
        _RSA.Signing.PublicKey(certificate.publicKey)
    }

    static let leafKeyName = "RSA"

    static func mayIssue(_ certificate: Certificate) -> Bool { leafKey(of: certificate) != nil }

    static let signatureAlgorithms: Set<Certificate.SignatureAlgorithm> = [
        .sha1WithRSAEncryption, .sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption,
    ]
    static let signing = "RSA and SHA-1 or SHA-2"
    static let leafMarker = AppleOID.storeLeaf
    static let intermediateMarker = AppleOID.developerRelations
}

/// Apple's extensions.
///
/// A marker counts by its presence; its value is NULL in practice.
enum AppleOID {
    /// The marker of a leaf that signs App Store receipts and transactions.
    static let storeLeaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    /// The marker of the intermediate Apple Worldwide Developer Relations.
    static let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
    /// The marker of a leaf that signs Apple Pay payment tokens.
    static let paymentLeaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 29]
    /// The marker of the intermediate Apple Application Integration CA.
    static let applicationIntegration: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 14]
    /// The extension of a merchant's certificates whose value is the SHA-256 of the merchant identifier, in hex.
    static let merchantIdentifier: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 32]
}
