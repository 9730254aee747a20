import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// The root, intermediate and leaf of receipts, all with one RSA key; they are the same in every process.
enum ReceiptCertificates {
    static let root = certificate("Fuzz Receipt Root", by: "Fuzz Receipt Root", marker: nil, isLeaf: false)
    static let intermediate = certificate(
        "Fuzz Receipt WWDR", by: "Fuzz Receipt Root", marker: Certificates.developerRelations, isLeaf: false)
    static let leaf = certificate(
        "Fuzz Receipt Signing", by: "Fuzz Receipt WWDR", marker: Certificates.storeLeaf, isLeaf: true)
    /// A valid leaf without the marker.
    static let unmarked = certificate("Fuzz Receipt Signing", by: "Fuzz Receipt WWDR", marker: nil, isLeaf: true)

    static let serial: [UInt8] = [7]
    /// The leaf's issuer as DER.
    static let issuer: [UInt8] = Harness.minted {
        var serializer = DER.Serializer()
        try serializer.serialize(try distinguished("Fuzz Receipt WWDR"))
        return serializer.serializedBytes
    }

    private static func certificate(
        _ name: String, by issuer: String, marker: ASN1ObjectIdentifier?, isLeaf: Bool
    ) -> [UInt8] {
        Harness.minted {
            let constraints: BasicConstraints =
                isLeaf ? .notCertificateAuthority : .isCertificateAuthority(maxPathLength: nil)
            var extensions = [try Certificate.Extension(constraints, critical: true)]
            if let marker { extensions.append(.init(oid: marker, critical: false, value: [5, 0])) }
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(bytes: serial), publicKey: .init(ReceiptKey.key.publicKey),
                notValidBefore: Date(timeIntervalSince1970: 1_600_000_000),
                notValidAfter: Date(timeIntervalSince1970: 2_000_000_000), issuer: try distinguished(issuer),
                subject: try distinguished(name), signatureAlgorithm: .sha256WithRSAEncryption,
                extensions: .init(extensions), issuerPrivateKey: .init(ReceiptKey.key))
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        }
    }

    private static func distinguished(_ name: String) throws -> DistinguishedName {
        try DistinguishedName { CommonName(name) }
    }
}
