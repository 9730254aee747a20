import Domain
import FoundationEssentials
import ProviderKit
import SwiftASN1
import X509
import _CryptoExtras

/// The merchant's own key and the serial number of its certificate.
struct WeChatPayIdentity: Sendable {
    let key: ProviderSecret<_RSA.Signing.PrivateKey>
    let serial: String
    /// The end of the certificate; nil where only its serial number is known.
    let certificateEnds: Date?

    /// Reads the key, the certificate and the serial number, and checks that they belong together.
    ///
    /// - Returns: nil after a fault.
    static func read(
        _ reader: ProviderSettingsReader
    ) -> WeChatPayIdentity? {
        let settings = reader.settings
        let pem = settings.text("private_key")
        // PKCS #8, WeChat Pay's form, or PKCS #1.
        let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem)
        if key == nil {
            reader.fault(
                "private_key", pem.isEmpty ? "is missing" : "is no RSA private key of 2048 bits or more",
                "name apiclient_key.pem as file:path")
        }
        let path = settings.text("certificate")
        let certificate = path.isEmpty ? nil : WeChatPayPEM.certificate(path)
        if !path.isEmpty, certificate == nil {
            reader.fault("certificate", "is no readable certificate", "name apiclient_cert.pem")
        }
        if let key, let certificate, !certificate.isOf(key.publicKey) {
            reader.fault("certificate", "does not belong to private_key", "name the two files of one download")
        }
        let text = settings.text("certificate_serial")
        let serial = WeChatPayText.serial(text)
        if !text.isEmpty, serial == nil {
            reader.fault("certificate_serial", "is of a wrong form", "copy the serial number, hexadecimal digits")
        }
        if let serial, let certificate, serial != certificate.wechatSerial {
            reader.fault("certificate_serial", "is not the certificate's", "leave it out: the certificate says it")
        }
        if path.isEmpty, text.isEmpty {
            reader.fault("certificate", "is missing, and so is certificate_serial", "name apiclient_cert.pem")
        }
        guard let key, let known = certificate?.wechatSerial ?? serial else { return nil }
        return WeChatPayIdentity(
            key: ProviderSecret(key), serial: known, certificateEnds: certificate?.notValidAfter)
    }
}

/// WeChat Pay's public key, with which it signs for some merchants.
struct WeChatPayPublicKey: Sendable {
    static let prefix = "PUB_KEY_ID_"

    let id: String
    let key: _RSA.Signing.PublicKey

    /// - Returns: nil where the settings name no key, and after a fault.
    static func read(_ reader: ProviderSettingsReader) -> WeChatPayPublicKey? {
        let (path, id) = (reader.settings.text("public_key"), reader.settings.text("public_key_id"))
        guard !path.isEmpty || !id.isEmpty else { return nil }
        let tail = id.utf8.dropFirst(prefix.utf8.count)
        if !id.hasPrefix(prefix) || !(1...64).contains(tail.count) || !tail.allSatisfy(\.isWord) {
            reader.fault(
                "public_key_id", id.isEmpty ? "is missing" : "is of a wrong form",
                "copy the id that stands beside the public key, PUB_KEY_ID_…")
        }
        let key = WeChatPayPEM.text(path).flatMap { try? _RSA.Signing.PublicKey(pemRepresentation: $0) }
        if key == nil {
            reader.fault(
                "public_key", path.isEmpty ? "is missing" : "is no readable RSA public key", "name pub_key.pem")
        }
        return key.map { WeChatPayPublicKey(id: id, key: $0) }
    }
}

/// Reads small files of one PEM document.
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
    /// The serial number in WeChat Pay's form.
    var wechatSerial: String {
        let digits = Hex.encoded(serialNumber.bytes, .upper).drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    func isOf(_ key: _RSA.Signing.PublicKey) -> Bool {
        _RSA.Signing.PublicKey(publicKey)?.derRepresentation == key.derRepresentation
    }
}
