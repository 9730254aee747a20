import SwiftASN1

/// Apple's marker extensions; only their presence counts, their value is NULL in practice.
enum AppleOID {
    /// On a leaf: it signs App Store receipts and transactions.
    static let storeLeaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    /// On an intermediate: Apple Worldwide Developer Relations.
    static let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
}
