import Crypto
import Domain
import FoundationEssentials
import SwiftASN1
import X509
import _CryptoExtras

/// Issues the certificates of a box, built like Apple's: two authorities and a leaf, with Apple's markers.
struct CertificateIssuer {
    let now: Timestamp
    let random: RandomSource

    /// The chain of JWS over a leaf's key.
    func store(_ leaf: P256.Signing.PublicKey) throws -> BoxAuthority.Chain {
        try chain(
            of: .init(leaf), named: "App Store in a Box", root: .init(try P384.Signing.PrivateKey(random)),
            intermediate: .init(try P384.Signing.PrivateKey(random)), .ecdsaWithSHA384)
    }

    /// The chain of receipts over a leaf's key.
    ///
    /// Root and intermediate share a key, which no rule forbids: an RSA key takes long to make.
    func receipts(_ leaf: _RSA.Signing.PublicKey) throws -> BoxAuthority.Chain {
        let key = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        return try chain(
            of: .init(leaf), named: "App Store in a Box, Receipts", root: key, intermediate: key,
            .sha256WithRSAEncryption)
    }

    private func chain(
        of leaf: Certificate.PublicKey, named name: String, root: Certificate.PrivateKey,
        intermediate: Certificate.PrivateKey, _ algorithm: Certificate.SignatureAlgorithm
    ) throws -> BoxAuthority.Chain {
        let issuer = (name: "\(name) Root CA", key: root)
        let relations = (name: "\(name) Worldwide Developer Relations", key: intermediate)
        return BoxAuthority.Chain(
            root: try certificate(issuer.name, root.publicKey, by: issuer, algorithm, .root),
            intermediate: try certificate(relations.name, intermediate.publicKey, by: issuer, algorithm, .intermediate),
            leaf: try certificate("\(name) Receipt Signing", leaf, by: relations, algorithm, .leaf))
    }

    /// The place of a certificate in its chain.
    private enum Place {
        case root, intermediate, leaf

        var days: Int64 {
            switch self {
            case .root: 25 * 365 + 6
            case .intermediate: 20 * 365 + 5
            case .leaf: 12 * 365 + 3
            }
        }

        var constraints: BasicConstraints {
            switch self {
            case .root: .isCertificateAuthority(maxPathLength: nil)
            case .intermediate: .isCertificateAuthority(maxPathLength: 0)
            case .leaf: .notCertificateAuthority
            }
        }

        var usage: KeyUsage {
            self == .leaf ? KeyUsage(digitalSignature: true) : KeyUsage(keyCertSign: true, cRLSign: true)
        }

        /// Apple's marker, an extension that counts by its presence; its value is NULL, as Apple's is.
        var marker: Certificate.Extension? {
            let oid: ASN1ObjectIdentifier? =
                switch self {
                case .root: nil
                case .intermediate: developerRelations
                case .leaf: storeLeaf
                }
            return oid.map { Certificate.Extension(oid: $0, critical: false, value: [5, 0]) }
        }
    }

    private func certificate(
        _ name: String, _ key: Certificate.PublicKey, by issuer: (name: String, key: Certificate.PrivateKey),
        _ algorithm: Certificate.SignatureAlgorithm, _ place: Place
    ) throws -> [UInt8] {
        let authority = SubjectKeyIdentifier(hash: issuer.key.publicKey)
        let extensions: [Certificate.Extension] = [
            try .init(place.constraints, critical: true), try .init(place.usage, critical: true),
            try .init(SubjectKeyIdentifier(hash: key), critical: false),
            try .init(AuthorityKeyIdentifier(keyIdentifier: authority.keyIdentifier), critical: false),
        ]
        let certificate = try Certificate(
            version: .v3, serialNumber: serial(), publicKey: key, notValidBefore: date(now.adding(days: -1)),
            notValidAfter: date(now.adding(days: place.days)), issuer: try distinguished(issuer.name),
            subject: try distinguished(name), signatureAlgorithm: algorithm,
            extensions: try .init(extensions + [place.marker].compactMap(\.self)), issuerPrivateKey: issuer.key)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    /// A positive number of 16 bytes without a leading zero (RFC 5280 section 4.1.2.2).
    private func serial() -> Certificate.SerialNumber {
        var bytes = random.bytes(16)
        bytes[0] = bytes[0] & 0x3F | 0x40
        return Certificate.SerialNumber(bytes: bytes)
    }

    private func date(_ time: Timestamp) -> Date { Date(timeIntervalSince1970: Double(time.rawValue)) }

    private func distinguished(_ name: String) throws -> DistinguishedName {
        try DistinguishedName {
            OrganizationName("Paydesk development")
            CommonName(name)
        }
    }
}

extension P384.Signing.PrivateKey {
    /// - Throws: where the bytes are no key; one try in 2¹⁹⁰ is none.
    fileprivate init(_ random: RandomSource) throws { try self.init(rawRepresentation: random.bytes(48)) }
}

/// The marker of the intermediate Apple Worldwide Developer Relations.
private let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
/// The marker of a leaf that signs App Store transactions and receipts.
private let storeLeaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
