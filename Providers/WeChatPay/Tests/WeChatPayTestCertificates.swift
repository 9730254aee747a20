import Crypto
import Domain
import Foundation
import ProviderKit
import SwiftASN1
import X509
import _CryptoExtras

/// The keys and certificates of a merchant and of a WeChat Pay platform; new in every run.
enum WeChatPayTestCertificates {
    /// A key with its certificate.
    struct Pair: Sendable {
        let key: _RSA.Signing.PrivateKey
        let certificate: Certificate
        let pem: String
        let serial: String

        init(_ name: String, serial: [UInt8], from: Int64 = 1_577_836_800, until: Int64 = 2_524_608_000) {
            key = Self.made { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
            let key = key
            certificate = Self.made {
                let subject = try DistinguishedName { CommonName(name) }
                return try Certificate(
                    version: .v3, serialNumber: .init(bytes: serial), publicKey: .init(key.publicKey),
                    notValidBefore: Date(timeIntervalSince1970: TimeInterval(from)),
                    notValidAfter: Date(timeIntervalSince1970: TimeInterval(until)), issuer: subject,
                    subject: subject, signatureAlgorithm: .sha256WithRSAEncryption,
                    extensions: Certificate.Extensions(), issuerPrivateKey: .init(key))
            }
            let certificate = certificate
            pem = Self.made { try certificate.serializeAsPEM().pemString }
            self.serial = Hex.encoded(serial, .upper)
        }

        private static func made<Value>(_ body: () throws -> Value) -> Value {
            do { return try body() } catch { preconditionFailure("a fixture cannot be minted: \(error)") }
        }
    }

    static let merchant = Pair("1900000001", serial: [0x3D, 0xB4, 0x1A, 0x02])
    static let otherMerchant = Pair("1900000009", serial: [0x3D, 0xB4, 0x1A, 0x09])
    static let platform = Pair("Tenpay.com Root CA", serial: [0x5A, 0xCE, 0x55, 0x01])
    /// The platform's next key and certificate.
    static let nextPlatform = Pair("Tenpay.com Root CA", serial: [0x5A, 0xCE, 0x55, 0x02])
    static let endedPlatform = Pair(
        "Tenpay.com Root CA", serial: [0x5A, 0xCE, 0x55, 0x03], until: 1_700_000_000)
    static let publicKey = Pair("public key", serial: [1])
    static let publicKeyID = "PUB_KEY_ID_0119000000012024"
    /// A key and certificate that nobody uses.
    static let stranger = Pair("Tenpay.com Root CA", serial: [0x66, 0x66])

    static let merchantKey = merchant.key.pkcs8PEMRepresentation
    static let certificateFile = file("apiclient_cert.pem", merchant.pem)
    static let merchantPublicKey = merchant.key.publicKey.pemRepresentation
    static let publicKeyPEM = publicKey.key.publicKey.pemRepresentation
    static let publicKeyFile = file("pub_key.pem", publicKeyPEM)

    static func file(_ name: String, _ content: String) -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "wechatpay-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: name)
        try? Data(content.utf8).write(to: path)
        return path.path
    }

    /// Makes a signature over `timestamp\n nonce\n body\n`, independently of the provider's code.
    static func signature(_ body: Data, _ time: Int64, _ nonce: String, _ key: _RSA.Signing.PrivateKey) -> String {
        var text = Data()
        for part in [Data("\(time)".utf8), Data(nonce.utf8), body] {
            text += part
            text.append(0x0A)
        }
        let signature = try? key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
        return signature?.rawRepresentation.base64EncodedString() ?? ""
    }

    /// Encrypts the resource of a notification, or one of the certificates.
    static func sealed(
        _ plain: Data, _ key: String, nonce: String = "fdasflkja484", associated: String? = "transaction"
    ) -> [String: Any] {
        let box = try? AES.GCM.seal(
            plain, using: SymmetricKey(data: Data(key.utf8)), nonce: AES.GCM.Nonce(data: Data(nonce.utf8)),
            authenticating: Data((associated ?? "").utf8))
        let bytes = box.map { $0.ciphertext + $0.tag } ?? Data()
        var resource: [String: Any] = [
            "algorithm": "AEAD_AES_256_GCM", "ciphertext": bytes.base64EncodedString(), "nonce": nonce,
        ]
        resource["associated_data"] = associated
        return resource
    }
}

/// The key and serial number that sign an answer or a notification.
struct WeChatPaySeal: Sendable {
    let key: _RSA.Signing.PrivateKey
    let serial: String

    static let platform = WeChatPaySeal(.platform)
    static let publicKey = WeChatPaySeal(
        key: WeChatPayTestCertificates.publicKey.key, serial: WeChatPayTestCertificates.publicKeyID)

    enum Certificates { case platform, nextPlatform, endedPlatform, stranger }

    init(_ certificates: Certificates) {
        let pair =
            switch certificates {
            case .platform: WeChatPayTestCertificates.platform
            case .nextPlatform: WeChatPayTestCertificates.nextPlatform
            case .endedPlatform: WeChatPayTestCertificates.endedPlatform
            case .stranger: WeChatPayTestCertificates.stranger
            }
        self.init(key: pair.key, serial: pair.serial)
    }

    init(key: _RSA.Signing.PrivateKey, serial: String) {
        self.key = key
        self.serial = serial
    }

    func headers(
        _ body: Data, at time: Int64, nonce: String = "d824f2e086d3c1df967785d13fcd22ef"
    ) -> [(
        name: String, value: String
    )] {
        [
            (name: "Wechatpay-Timestamp", value: "\(time)"), (name: "Wechatpay-Nonce", value: nonce),
            (name: "Wechatpay-Serial", value: serial),
            (name: "Wechatpay-Signature", value: WeChatPayTestCertificates.signature(body, time, nonce, key)),
            (name: "Wechatpay-Signature-Type", value: "WECHATPAY2-SHA256-RSA2048"),
        ]
    }
}

extension _RSA.Signing.PrivateKey {
    var pkcs8PEM: String { pkcs8PEMRepresentation }
    var asPKCS1: String { pemRepresentation }
}
