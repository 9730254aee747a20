import Crypto
import Encodings
import SwiftASN1
import X509
import _CryptoExtras

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An authority like Apple's for one self-test, with fresh keys, and a merchant's certificate.
struct SelfTestAuthority {
    enum Key {
        case ec(P256.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)

        init(_ version: ApplePayToken.Version) throws {
            self = version == .ec ? .ec(.init()) : .rsa(try .init(keySize: .bits2048))
        }

        var publicKey: Certificate.PublicKey {
            switch self {
            case .ec(let key): .init(key.publicKey)
            case .rsa(let key): .init(key.publicKey)
            }
        }

        var der: [UInt8] {
            switch self {
            case .ec(let key): Array(key.derRepresentation)
            case .rsa(let key): Array(key.derRepresentation)
            }
        }
    }

    let version: ApplePayToken.Version
    let root: [UInt8]
    let intermediate: [UInt8]
    let leaf: [UInt8]
    let leafKey: Key
    let merchantCertificate: [UInt8]
    let merchantKey: [UInt8]
    let merchantPublicKey: Key
    let merchantHash: [UInt8]

    init(_ version: ApplePayToken.Version, merchant: String, at now: Int64) throws {
        self.version = version
        let issuers = Issuers(now: Date(timeIntervalSince1970: Double(now / 1_000)))
        let key = issuers.key
        merchantHash = Array(SHA256.hash(data: Array(merchant.utf8)))
        let hash = DERElement.encode(0x0C, Array(Hex.encoded(merchantHash, .upper).utf8))
        leafKey = try Key(version)
        merchantPublicKey = try Key(version)
        merchantKey = merchantPublicKey.der
        root = try issuers.certificate("Self-test Root", by: "Self-test Root", .init(key.publicKey), isAuthority: true)
        intermediate = try issuers.certificate(
            "Self-test CA", by: "Self-test Root", .init(key.publicKey), isAuthority: true,
            (AppleOID.applicationIntegration, [5, 0]))
        leaf = try issuers.certificate(
            "Self-test Signer", by: "Self-test CA", leafKey.publicKey, isAuthority: false,
            (AppleOID.paymentLeaf, [5, 0]))
        merchantCertificate = try issuers.certificate(
            "Self-test Merchant", by: "Self-test CA", merchantPublicKey.publicKey, isAuthority: false,
            (AppleOID.merchantIdentifier, hash))
    }

    /// Makes certificates; root and intermediate share one key, which no rule forbids.
    private struct Issuers {
        let key = P256.Signing.PrivateKey()
        let now: Date

        func certificate(
            _ name: String, by issuer: String, _ subjectKey: Certificate.PublicKey, isAuthority: Bool,
            _ marker: (oid: ASN1ObjectIdentifier, value: [UInt8])? = nil
        ) throws -> [UInt8] {
            let constraints: BasicConstraints =
                isAuthority ? .isCertificateAuthority(maxPathLength: nil) : .notCertificateAuthority
            let usage =
                isAuthority ? KeyUsage(keyCertSign: true, cRLSign: true) : KeyUsage(digitalSignature: true)
            var extensions: [Certificate.Extension] = [
                try .init(constraints, critical: true), try .init(usage, critical: true),
            ]
            if let marker {
                extensions.append(.init(oid: marker.oid, critical: false, value: marker.value[...]))
            }
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: subjectKey,
                notValidBefore: now.addingTimeInterval(-86_400), notValidAfter: now.addingTimeInterval(86_400),
                issuer: try DistinguishedName { CommonName(issuer) },
                subject: try DistinguishedName { CommonName(name) }, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try .init(extensions), issuerPrivateKey: .init(key))
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return serializer.serializedBytes
        }
    }
}

/// Writes elements of DER and, where Apple does, of BER with indefinite length.
enum DERElement {
    static func encode(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let content = Array(parts.joined())
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        let octets = (0..<8).map { UInt8(truncatingIfNeeded: content.count >> (56 - 8 * $0)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(octets.count)] + octets + content
    }

    static func indefinite(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] { [tag, 0x80] + parts.joined() + [0, 0] }
}
