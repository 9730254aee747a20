package import Crypto
import Foundation
package import SwiftASN1
import X509
package import _CryptoExtras

/// A certificate that a test made for Apple Pay, with its key.
package struct ApplePayIdentity: Sendable {
    package enum Key: Sendable {
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
    }

    package let der: [UInt8]
    package let key: Key
    let certificate: Certificate

    package var certificatePEM: String { ApplePayDER.pem("CERTIFICATE", der) }

    /// The key in PKCS #8.
    package var keyPEM: String {
        switch key {
        case .p256(let key): key.pemRepresentation + "\n"
        case .p384(let key): key.pemRepresentation + "\n"
        case .rsa(let key): key.pkcs8PEMRepresentation + "\n"
        }
    }

    /// The key in SEC 1 or PKCS #1.
    package var traditionalKeyPEM: String {
        switch key {
        case .p256(let key): Self.sec1(Array(key.rawRepresentation), [1, 2, 840, 10_045, 3, 1, 7])
        case .p384(let key): Self.sec1(Array(key.rawRepresentation), [1, 3, 132, 0, 34])
        case .rsa(let key): ApplePayDER.pem("RSA PRIVATE KEY", Array(key.derRepresentation))
        }
    }

    /// The SubjectPublicKeyInfo in PEM.
    package var publicKeyPEM: String { ApplePayDER.pem("PUBLIC KEY", ApplePayDER.serialized(certificate.publicKey)) }

    /// The SHA-256 of the SubjectPublicKeyInfo.
    package var publicKeyHash: [UInt8] {
        Array(SHA256.hash(data: ApplePayDER.serialized(certificate.publicKey)))
    }

    /// The ECPrivateKey of RFC 5915.
    private static func sec1(_ scalar: [UInt8], _ curve: ASN1ObjectIdentifier) -> String {
        ApplePayDER.pem(
            "EC PRIVATE KEY",
            ApplePayDER.sequence(
                [2, 1, 1], ApplePayDER.octets(scalar), ApplePayDER.element(0xA0, [ApplePayDER.oid(curve)])))
    }
}

extension ApplePayIdentity.Key {
    var publicKey: Certificate.PublicKey {
        switch self {
        case .p256(let key): .init(key.publicKey)
        case .p384(let key): .init(key.publicKey)
        case .rsa(let key): .init(key.publicKey)
        }
    }

    var signer: Certificate.PrivateKey {
        switch self {
        case .p256(let key): .init(key)
        case .p384(let key): .init(key)
        case .rsa(let key): .init(key)
        }
    }

    /// The signature of a digest, in the encoding that CMS uses.
    func sign(_ digest: some Digest) -> [UInt8] {
        AppleTestCertificates.made {
            switch self {
            case .p256(let key): Array(try key.signature(for: digest).derRepresentation)
            case .p384(let key): Array(try key.signature(for: digest).derRepresentation)
            case .rsa(let key):
                Array(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
            }
        }
    }

    package static func newP256() -> Self { .p256(.init()) }
    package static func newRSA(bits: Int = 2_048) -> Self {
        .rsa(AppleTestCertificates.made { try .init(unsafeKeySize: .init(bitCount: bits)) })
    }
}

/// A recipe for one certificate.
package struct ApplePayCertificate: Sendable {
    package typealias Extension = (oid: ASN1ObjectIdentifier, value: [UInt8])

    package var name: String
    package var key: ApplePayIdentity.Key
    package var isAuthority = false
    /// The begin of the validity, in seconds since 1970-01-01 UTC; `last` is its end.
    package var first: Int64 = 1_577_836_800
    package var last: Int64 = 2_524_608_000
    /// The OIDs of extensions, and their values.
    package var extensions: [Extension] = []
    /// The user id in the subject's name; nil for none.
    package var userID: String?

    package init(_ name: String, _ key: ApplePayIdentity.Key, _ edit: (inout Self) -> Void = { _ in }) {
        self.name = name
        self.key = key
        edit(&self)
    }

    /// Issues the certificate.
    ///
    /// - Parameters:
    ///   - issuer: nil for a self-signed certificate.
    ///   - signer: signs instead of the issuer, to make a forgery.
    package func issued(by issuer: ApplePayIdentity?, signer: ApplePayIdentity.Key? = nil) -> ApplePayIdentity {
        AppleTestCertificates.made {
            let userID = userID.map { text in
                RelativeDistinguishedName(
                    RelativeDistinguishedName.Attribute(
                        type: [0, 9, 2342, 19_200_300, 100, 1, 1], value: .init(utf8String: text)))
            }
            let subject = DistinguishedName(
                [userID].compactMap(\.self)
                    + Array(
                        try DistinguishedName {
                            CommonName(name)
                            OrganizationName("Paydesk Mint")
                        }))
            let signer = signer ?? issuer?.key ?? key
            let isWide = if case .p384 = signer { true } else { false }
            let isRSA = if case .rsa = signer { true } else { false }
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: key.publicKey,
                notValidBefore: Date(timeIntervalSince1970: Double(first)),
                notValidAfter: Date(timeIntervalSince1970: Double(last)),
                issuer: issuer?.certificate.subject ?? subject, subject: subject,
                signatureAlgorithm: isRSA ? .sha256WithRSAEncryption : isWide ? .ecdsaWithSHA384 : .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    if isAuthority {
                        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                    } else {
                        Critical(BasicConstraints.notCertificateAuthority)
                        Critical(KeyUsage(digitalSignature: true))
                    }
                    for part in extensions {
                        Certificate.Extension(oid: part.oid, critical: false, value: part.value[...])
                    }
                }, issuerPrivateKey: signer.signer)
            return ApplePayIdentity(der: ApplePayDER.serialized(certificate), key: key, certificate: certificate)
        }
    }
}
