import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// The root, intermediate and leaves of payment tokens, and a merchant's certificate; their keys are the same in every
/// process.
enum PaymentCertificates {
    static let root = certificate("Fuzz Pay Root", .init(Keys.root.publicKey), by: "Fuzz Pay Root", Keys.root, nil)
    static let intermediate = certificate(
        "Fuzz Pay CA", .init(Keys.intermediate.publicKey), by: "Fuzz Pay Root", Keys.root,
        ([1, 2, 840, 113_635, 100, 6, 2, 14], [5, 0]))
    static let leafEC = certificate(
        "Fuzz ecc broker", .init(Keys.leaf.publicKey), by: "Fuzz Pay CA", Keys.intermediate, leafMarker)
    static let leafRSA = certificate(
        "Fuzz rsa broker", .init(ReceiptKey.key.publicKey), by: "Fuzz Pay CA", Keys.intermediate, leafMarker)
    /// A valid leaf without the marker.
    static let unmarked = certificate(
        "Fuzz ecc broker", .init(Keys.leaf.publicKey), by: "Fuzz Pay CA", Keys.intermediate, nil)
    static let merchant = certificate(
        "Fuzz Merchant", .init(Keys.merchant.publicKey), by: "Fuzz Pay CA", Keys.intermediate,
        ([1, 2, 840, 113_635, 100, 6, 32], SignedDER.element(0x0C, Array(merchantHash.utf8))))

    static let merchantIdentifier = "merchant.com.example.fuzz"
    static let merchantHash = SHA256.hash(data: Array(merchantIdentifier.utf8)).map { byte in
        String(UInt16(byte) + 0x100, radix: 16, uppercase: true).suffix(2)
    }.joined()
    static let serial: [UInt8] = [7]
    /// The leaves' issuer as DER.
    static let issuer = serialized(Harness.minted { try DistinguishedName { CommonName("Fuzz Pay CA") } })

    private static let leafMarker: (ASN1ObjectIdentifier, [UInt8]) = ([1, 2, 840, 113_635, 100, 6, 29], [5, 0])

    /// - Parameter marker: the extension of leaves and merchants; authorities have none.
    private static func certificate(
        _ name: String, _ key: Certificate.PublicKey, by issuer: String, _ signer: P256.Signing.PrivateKey,
        _ marker: (oid: ASN1ObjectIdentifier, value: [UInt8])?
    ) -> [UInt8] {
        Harness.minted {
            let isAuthority = name.hasSuffix("Root") || name.hasSuffix("CA")
            var extensions = [
                try Certificate.Extension(
                    isAuthority
                        ? BasicConstraints.isCertificateAuthority(maxPathLength: nil) : .notCertificateAuthority,
                    critical: true)
            ]
            if let marker { extensions.append(.init(oid: marker.oid, critical: false, value: marker.value[...])) }
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(bytes: serial), publicKey: key,
                notValidBefore: Date(timeIntervalSince1970: 1_600_000_000),
                notValidAfter: Date(timeIntervalSince1970: 2_000_000_000),
                issuer: try DistinguishedName { CommonName(issuer) },
                subject: try DistinguishedName { CommonName(name) }, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: .init(extensions), issuerPrivateKey: .init(signer))
            return serialized(certificate)
        }
    }

    private static func serialized(_ value: some DERSerializable) -> [UInt8] {
        Harness.minted {
            var serializer = DER.Serializer()
            try serializer.serialize(value)
            return serializer.serializedBytes
        }
    }
}
