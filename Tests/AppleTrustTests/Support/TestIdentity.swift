import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// A certificate that the tests made, and its key.
struct TestIdentity: Sendable {
    let certificate: Certificate
    let der: [UInt8]
    let key: TestKey

    var base64: String { der.base64 }
}

/// A key pair on one of the curves, or for RSA.
enum TestKey: Sendable {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey)

    var x509: Certificate.PrivateKey {
        switch self {
        case .p256(let key): Certificate.PrivateKey(key)
        case .p384(let key): Certificate.PrivateKey(key)
        case .rsa(let key): Certificate.PrivateKey(key)
        }
    }

    /// r || s over SHA-256, as long as the curve makes it; by RSA what PKCS #1 v1.5 makes.
    func sign(_ data: [UInt8]) -> [UInt8] {
        switch self {
        case .p256(let key): Array(minted { try key.signature(for: data).rawRepresentation })
        case .p384(let key): Array(minted { try key.signature(for: SHA256.hash(data: data)).rawRepresentation })
        case .rsa: sign(SHA256.hash(data: data))
        }
    }

    /// As CMS holds it: an ECDSA-Sig-Value, or what PKCS #1 v1.5 makes.
    func sign(_ digest: some Digest) -> [UInt8] {
        switch self {
        case .p256(let key): Array(minted { try key.signature(for: digest).derRepresentation })
        case .p384(let key): Array(minted { try key.signature(for: digest).derRepresentation })
        case .rsa(let key):
            Array(minted { try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation })
        }
    }

    static func new(_ curve: Curve) -> TestKey { curve == .p256 ? .p256(.init()) : .p384(.init()) }

    /// A new pair; it costs a tenth of a second, so share it.
    static func rsa(bits: Int = 2_048) -> TestKey {
        .rsa(minted { try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits)) })
    }

    enum Curve: Sendable { case p256, p384 }
}

/// How one certificate is made; days count from `TestTime.now`.
struct TestCertificate: Sendable {
    var name: String
    var days: ClosedRange<Int>
    var curve = TestKey.Curve.p384
    var constraints: BasicConstraints?
    var constraintsCritical = true
    var usage: KeyUsage?
    var markers: [ASN1ObjectIdentifier] = []
    var critical: [ASN1ObjectIdentifier] = []
    /// What stands as issuer; nil for the true one.
    var issuerName: String?
    var algorithm: Certificate.SignatureAlgorithm?

    /// - Parameter signer: signs instead of the issuer, to make a forgery.
    func issue(by issuer: TestIdentity?, key: TestKey? = nil, signer: TestKey? = nil) -> TestIdentity {
        let key = key ?? .new(curve)
        let issuerKey = issuer?.key ?? key
        let extensions = extensions(of: key, issuer: issuerKey)
        let signingKey = (signer ?? issuerKey).x509
        let certificate = minted {
            try Certificate(
                version: .v3, serialNumber: .init(), publicKey: key.x509.publicKey,
                notValidBefore: TestTime.date(days: days.lowerBound),
                notValidAfter: TestTime.date(days: days.upperBound),
                issuer: issuerName.map(Self.distinguished) ?? issuer?.certificate.subject ?? Self.distinguished(name),
                subject: Self.distinguished(name), signatureAlgorithm: algorithm ?? signingKey.defaultAlgorithm,
                extensions: extensions, issuerPrivateKey: signingKey)
        }
        var serializer = DER.Serializer()
        minted { try serializer.serialize(certificate) }
        return TestIdentity(certificate: certificate, der: serializer.serializedBytes, key: key)
    }

    private func extensions(of key: TestKey, issuer: TestKey) -> Certificate.Extensions {
        minted {
            try Certificate.Extensions {
                if let constraints {
                    if constraintsCritical { Critical(constraints) } else { constraints }
                }
                if let usage { Critical(usage) }
                SubjectKeyIdentifier(hash: key.x509.publicKey)
                AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuer.x509.publicKey).keyIdentifier)
                for oid in markers { Certificate.Extension(oid: oid, critical: false, value: [5, 0]) }
                for oid in critical { Certificate.Extension(oid: oid, critical: true, value: [5, 0]) }
            }
        }
    }

    private static func distinguished(_ name: String) -> DistinguishedName {
        minted {
            try DistinguishedName {
                CountryName("US")
                OrganizationName("Paydesk Test")
                CommonName(name)
            }
        }
    }
}

extension Certificate.PrivateKey {
    fileprivate var defaultAlgorithm: Certificate.SignatureAlgorithm {
        if P256.Signing.PublicKey(publicKey) != nil { return .ecdsaWithSHA256 }
        return P384.Signing.PublicKey(publicKey) != nil ? .ecdsaWithSHA384 : .sha256WithRSAEncryption
    }
}

/// The tests' fixed present.
enum TestTime {
    static let now: Int64 = 1_790_000_000_000
    static let day: Int64 = 86_400_000

    static func date(days: Int) -> Date { Date(timeIntervalSince1970: Double(now / 1_000) + Double(days) * 86_400) }
}

extension [UInt8] {
    var base64: String { Data(self).base64EncodedString() }
}

/// What a fixture needs and cannot go on without.
func minted<Value>(_ body: () throws -> Value) -> Value {
    do {
        return try body()
    } catch {
        preconditionFailure("a fixture cannot be minted: \(error)")
    }
}
