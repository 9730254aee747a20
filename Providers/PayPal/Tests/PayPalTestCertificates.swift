import Crypto
import Foundation
import ProviderKit
import SwiftASN1
import X509
import _CryptoExtras

/// A certificate chain like PayPal's, and notifications that its leaf signs; new in every run.
enum PayPalTestCertificates {
    struct Signer: Sendable {
        let key: _RSA.Signing.PrivateKey
        /// The leaf and the intermediate, as PayPal serves them.
        let pem: String
    }

    static let webhookID = "8PT597110X687430LKGECATA"
    static let certificateURL = "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-5a29e601"

    private static let rootKey = made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    private static let middleKey = made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    private static let otherRootKey = made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    private static let root = certificate("Mint Root", rootKey, "Mint Root", rootKey, isAuthority: true)
    private static let middle = certificate("Mint CA", middleKey, "Mint Root", rootKey, isAuthority: true)

    static let paypal = signer("messageverificationcerts.paypal.com")
    /// A leaf of the same authority, for another name.
    static let stranger = signer("shop.example.com")
    static let lookalike = signer("messageverificationcerts.paypal.com.example.com")
    static let ended = signer("messageverificationcerts.paypal.com", until: 1_700_000_000)
    /// A leaf with the right name, of an authority that is not trusted.
    static let selfMade = {
        let key = made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
        let leaf = certificate("messageverificationcerts.paypal.com", key, "Other Root", otherRootKey)
        return Signer(
            key: key,
            pem: pem(leaf) + pem(certificate("Other Root", otherRootKey, "Other Root", otherRootKey, isAuthority: true))
        )
    }()

    static let rootFile = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "paypal-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "root.pem")
        try? Data(pem(root).utf8).write(to: path)
        return path.path
    }()

    private static func signer(_ name: String, until: Int64 = 2_524_608_000) -> Signer {
        let key = made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
        return Signer(key: key, pem: pem(certificate(name, key, "Mint CA", middleKey, until: until)) + pem(middle))
    }

    private static func pem(_ certificate: Certificate) -> String {
        made { try certificate.serializeAsPEM().pemString } + "\n"
    }

    private static func certificate(
        _ name: String, _ key: _RSA.Signing.PrivateKey, _ issuer: String, _ signer: _RSA.Signing.PrivateKey,
        isAuthority: Bool = false, until: Int64 = 2_524_608_000
    ) -> Certificate {
        made {
            try Certificate(
                version: .v3,
                serialNumber: .init(bytes: Array(SHA256.hash(data: Data((name + issuer).utf8)).prefix(8))),
                publicKey: .init(key.publicKey), notValidBefore: Date(timeIntervalSince1970: 1_577_836_800),
                notValidAfter: Date(timeIntervalSince1970: TimeInterval(until)),
                issuer: try DistinguishedName { CommonName(issuer) },
                subject: try DistinguishedName { CommonName(name) }, signatureAlgorithm: .sha256WithRSAEncryption,
                extensions: try Certificate.Extensions {
                    if isAuthority {
                        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                    } else {
                        Critical(BasicConstraints.notCertificateAuthority)
                        SubjectAlternativeNames([.dnsName(name)])
                    }
                }, issuerPrivateKey: .init(signer))
        }
    }

    private static func made<Value>(_ body: () throws -> Value) -> Value {
        do { return try body() } catch { preconditionFailure("a fixture cannot be minted: \(error)") }
    }

    /// Makes the headers of a notification, independently of the provider's code.
    static func headers(
        _ body: Data, at time: Int64, by signer: Signer = paypal, webhookID: String = webhookID,
        url: String = certificateURL, id: String = "69cd13f0-d67a-11e5-baa3-778b53f4ae55"
    ) -> [(name: String, value: String)] {
        let formatter = ISO8601DateFormatter()
        let sent = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(time)))
        let text = "\(id)|\(sent)|\(webhookID)|\(crc(body))"
        let signature = try? signer.key.signature(
            for: SHA256.hash(data: Data(text.utf8)), padding: .insecurePKCS1v1_5)
        return [
            (name: "paypal-transmission-id", value: id), (name: "paypal-transmission-time", value: sent),
            (name: "paypal-transmission-sig", value: signature?.rawRepresentation.base64EncodedString() ?? ""),
            (name: "paypal-cert-url", value: url), (name: "paypal-auth-algo", value: "SHA256withRSA"),
        ]
    }

    /// Computes a CRC32 bit by bit, without a table.
    static func crc(_ body: Data) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in body {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = (sum >> 1) ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return sum ^ 0xFFFF_FFFF
    }

    static func notification(_ body: Data, _ headers: [(name: String, value: String)]) -> RawNotification {
        RawNotification(
            method: .post, headers: [(name: "content-type", value: "application/json")] + headers, body: body)
    }

    /// Makes an event's body like PayPal.
    static func event(_ type: String, _ resource: [String: Any], id: String = "WH-1") -> Data {
        let fields: [String: Any] = [
            "id": id, "event_version": "1.0", "create_time": "2025-01-14T13:06:40.000Z", "event_type": type,
            "resource_type": "x", "resource_version": "2.0", "summary": "words of PayPal's", "resource": resource,
            "links": [Any](),
        ]
        return (try? JSONSerialization.data(withJSONObject: fields, options: .sortedKeys)) ?? Data()
    }
}
