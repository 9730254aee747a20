import Domain
import FoundationEssentials
import ProviderKit
import SwiftASN1
import X509
import _CryptoExtras

/// The merchant's own key and the serial number of the certificate that belongs to it.
struct WeChatPayIdentity: Sendable {
    let key: ProviderSecret<_RSA.Signing.PrivateKey>
    let serial: String
    /// The time when the certificate ends; nil where only its serial number is known.
    let certificateEnds: Date?

    /// Reads key, certificate and serial number and holds them against each other.
    ///
    /// - Returns: the identity, or every fault without a value.
    static func reading(
        _ settings: ProviderSettings
    ) -> (identity: WeChatPayIdentity?, faults: [ProviderSetupError.Fault]) {
        var faults: [ProviderSetupError.Fault] = []
        func fault(_ setting: String, _ problem: String, _ remedy: String) {
            faults.append(.init(setting: setting, problem: problem, remedy: remedy))
        }
        let pem = settings.text("private_key")
        // PKCS #8, as WeChat Pay gives it, or PKCS #1.
        let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem)
        if key == nil {
            fault(
                "private_key", pem.isEmpty ? "is missing" : "is no RSA private key of 2048 bits or more",
                "name apiclient_key.pem as file:path")
        }
        let path = settings.text("certificate")
        let certificate = path.isEmpty ? nil : WeChatPayPEM.certificate(path)
        if !path.isEmpty, certificate == nil {
            fault("certificate", "is no readable certificate", "name apiclient_cert.pem")
        }
        if let key, let certificate, !certificate.isOf(key.publicKey) {
            fault("certificate", "does not belong to private_key", "name the two files of one download")
        }
        let text = settings.text("certificate_serial")
        let serial = WeChatPayText.serial(text)
        if !text.isEmpty, serial == nil {
            fault("certificate_serial", "is of a wrong form", "copy the serial number, hexadecimal digits")
        }
        if let serial, let certificate, serial != certificate.wechatSerial {
            fault("certificate_serial", "is not the certificate's", "leave it out: the certificate says it")
        }
        if path.isEmpty, text.isEmpty {
            fault("certificate", "is missing, and so is certificate_serial", "name apiclient_cert.pem")
        }
        guard faults.isEmpty, let key, let known = certificate?.wechatSerial ?? serial else { return (nil, faults) }
        return (
            WeChatPayIdentity(
                key: ProviderSecret(key), serial: known, certificateEnds: certificate?.notValidAfter), []
        )
    }
}

/// WeChat Pay's public key, by which it signs for merchants that have one.
struct WeChatPayPublicKey: Sendable {
    static let prefix = "PUB_KEY_ID_"

    let id: String
    let key: _RSA.Signing.PublicKey

    /// - Returns: no key where the settings name none, or every fault.
    static func reading(
        _ settings: ProviderSettings
    ) -> (key: WeChatPayPublicKey?, faults: [ProviderSetupError.Fault]) {
        let (path, id) = (settings.text("public_key"), settings.text("public_key_id"))
        guard !path.isEmpty || !id.isEmpty else { return (nil, []) }
        var faults: [ProviderSetupError.Fault] = []
        let tail = id.utf8.dropFirst(prefix.utf8.count)
        if !id.hasPrefix(prefix) || !(1...64).contains(tail.count) || !tail.allSatisfy(\.isWord) {
            faults.append(
                .init(
                    setting: "public_key_id", problem: id.isEmpty ? "is missing" : "is of a wrong form",
                    remedy: "copy the id that stands beside the public key, PUB_KEY_ID_…"))
        }
        let key = WeChatPayPEM.text(path).flatMap { try? _RSA.Signing.PublicKey(pemRepresentation: $0) }
        if key == nil {
            faults.append(
                .init(
                    setting: "public_key", problem: path.isEmpty ? "is missing" : "is no readable RSA public key",
                    remedy: "name pub_key.pem"))
        }
        guard faults.isEmpty, let key else { return (nil, faults) }
        return (WeChatPayPublicKey(id: id, key: key), [])
    }
}

/// Small files of one PEM document.
enum WeChatPayPEM {
    private static let limit = 64 << 10

    static func text(_ path: String) -> String? {
        guard !path.isEmpty, let content = FileManager.default.contents(atPath: path), content.count <= limit else {
            return nil
        }
        return String(decoding: content, as: UTF8.self)
    }

    static func certificate(_ path: String) -> Certificate? {
        text(path).flatMap { try? Certificate(pemEncoded: $0) }
    }
}

extension Certificate {
    /// The serial number as WeChat Pay writes it.
    var wechatSerial: String {
        let digits = Hex.encoded(serialNumber.bytes, .upper).drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    func isOf(_ key: _RSA.Signing.PublicKey) -> Bool {
        _RSA.Signing.PublicKey(publicKey)?.derRepresentation == key.derRepresentation
    }
}
