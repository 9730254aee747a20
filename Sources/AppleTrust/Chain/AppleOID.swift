import SwiftASN1

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
