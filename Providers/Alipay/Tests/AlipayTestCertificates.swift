import Crypto
import Domain
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// The keys and certificates of the tests, new in every run.
enum AlipayTestCertificates {
    static let application = made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    static let alipay = made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    static let stranger = made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    static let applicationPKCS8 = bare(application.pkcs8PEMRepresentation)
    static let alipayPublic = bare(alipay.publicKey.pemRepresentation)

    /// Returns a key as base64 without its header, as Alipay's own tools write it.
    static func bare(_ pem: String) -> String {
        pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    }

    static func sign(_ text: Data, by key: _RSA.Signing.PrivateKey = alipay) -> String {
        made {
            try key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5).rawRepresentation
                .base64EncodedString()
        }
    }

    static func verifies(_ text: String, _ signature: String, by key: _RSA.Signing.PublicKey) -> Bool {
        guard let bytes = Data(base64Encoded: signature) else { return false }
        return key.isValidSignature(
            .init(rawRepresentation: bytes), for: SHA256.hash(data: Data(text.utf8)), padding: .insecurePKCS1v1_5)
    }

    // Certificate mode.
    static let end: Int64 = 2_524_608_000

    static func certificate(
        _ name: String, of key: Certificate.PublicKey, by signer: Certificate.PrivateKey, serial: [UInt8],
        until end: Int64 = AlipayTestCertificates.end
    ) -> String {
        func distinguished(_ name: String) throws -> DistinguishedName {
            try DistinguishedName {
                CountryName("CN")
                OrganizationName("Ant Financial Mint")
                OrganizationalUnitName("Certification Authority")
                CommonName(name)
            }
        }
        let isRSA = _RSA.Signing.PublicKey(signer.publicKey) != nil
        return made {
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(bytes: serial), publicKey: key,
                notValidBefore: Date(timeIntervalSince1970: 1_577_836_800),
                notValidAfter: Date(timeIntervalSince1970: Double(end)), issuer: try distinguished("Mint Class 2 R1"),
                subject: try distinguished(name),
                signatureAlgorithm: isRSA ? .sha256WithRSAEncryption : .ecdsaWithSHA256,
                extensions: Certificate.Extensions(), issuerPrivateKey: signer)
            return try certificate.serializeAsPEM().pemString + "\n"
        }
    }

    static let applicationCertificate = certificate(
        "app", of: .init(application.publicKey), by: .init(stranger), serial: [0x20, 0x25, 0x11, 0x05, 0x99])
    static let alipayCertificate = certificate(
        "Alipay", of: .init(alipay.publicKey), by: .init(stranger), serial: [0x20, 0x25, 0x11, 0x06])
    static let otherAlipayCertificate = certificate(
        "Alipay", of: .init(stranger.publicKey), by: .init(stranger), serial: [0x20, 0x25, 0x11, 0x07])
    /// A root file like Alipay's: RSA certificates beside one of another algorithm and one that cannot be read.
    static let roots =
        certificate("Root R1", of: .init(stranger.publicKey), by: .init(stranger), serial: [1])
        + certificate(
            "Root E1", of: .init(elliptic.publicKey), by: .init(elliptic), serial: [2])
        + "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
        + certificate("Root R2", of: .init(stranger.publicKey), by: .init(stranger), serial: [0xFF, 0xFF])
    private static let elliptic = P256.Signing.PrivateKey()

    /// Returns the MD5 of the issuer's name and the serial number in decimal digits.
    static func number(serial: String) -> String {
        let text = "CN=Mint Class 2 R1,OU=Certification Authority,O=Ant Financial Mint,C=CN\(serial)"
        return Hex.encoded(Insecure.MD5.hash(data: Data(text.utf8)))
    }

    static let alipayNumber = number(serial: "539300102")

    /// Writes a file that exists as long as the tests run.
    static func file(_ text: String) -> String {
        let path = folder.appending(path: "\(UUID().uuidString).crt")
        made { try Data(text.utf8).write(to: path) }
        return path.path
    }

    private static let folder: URL = made {
        let folder = FileManager.default.temporaryDirectory.appending(path: "alipay-mint-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: AlipayTestCertificates.folder) }
        return folder
    }

    /// Makes a value without which no fixture can work.
    private static func made<Value>(_ body: () throws -> Value) -> Value {
        do { return try body() } catch { preconditionFailure("a test certificate cannot be made: \(error)") }
    }
}
