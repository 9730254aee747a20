import Crypto
import Domain
import FoundationEssentials
import _CryptoExtras

/// The application's private key, which signs requests; descriptions do not show it.
struct AlipayPrivateKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let key: _RSA.Signing.PrivateKey

    /// - Parameter text: PEM, or plain base64 as Alipay's own tools write it; PKCS#1 or PKCS#8, of at least 2,048 bits.
    init?(_ text: String) {
        guard let der = AlipayKeyText.der(text), let key = try? _RSA.Signing.PrivateKey(derRepresentation: der) else {
            return nil
        }
        self.key = key
    }

    var publicKey: AlipayPublicKey { AlipayPublicKey(key.publicKey) }

    /// Signs with RSA2 (PKCS#1 v1.5 with SHA-256); returns base64.
    func sign(_ text: Data) -> String? {
        let signature = try? key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
        return signature?.rawRepresentation.base64EncodedString()
    }

    var description: String { "AlipayPrivateKey" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// A key that verifies signatures of Alipay or of the application.
struct AlipayPublicKey: Sendable, Equatable {
    private let key: _RSA.Signing.PublicKey

    init(_ key: _RSA.Signing.PublicKey) { self.key = key }

    /// - Parameter text: PEM, or plain base64, of a SubjectPublicKeyInfo with at least 2,048 bits.
    init?(_ text: String) {
        guard let der = AlipayKeyText.der(text), let key = try? _RSA.Signing.PublicKey(derRepresentation: der) else {
            return nil
        }
        self.key = key
    }

    /// Returns whether a base64 text is the RSA2 signature of these bytes.
    func isSignature(_ base64: String, of text: Data) -> Bool {
        guard let bytes = Data(base64Encoded: base64) else { return false }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: bytes), for: SHA256.hash(data: text),
            padding: .insecurePKCS1v1_5)
    }

    /// The first bytes of the SHA-256 of the SubjectPublicKeyInfo, for a comparison by eye.
    var fingerprint: String {
        SHA256.hash(data: key.derRepresentation).prefix(8).map { Hex.encoded([$0]) }
            .joined(separator: ":")
    }

    static func == (left: AlipayPublicKey, right: AlipayPublicKey) -> Bool {
        left.key.derRepresentation == right.key.derRepresentation
    }
}

/// Reads keys in the forms in which people paste them.
enum AlipayKeyText {
    private static let lengthLimit = 16_384

    /// Returns the bytes of a PEM text's first block, or of plain base64; white space is ignored.
    static func der(_ text: String) -> Data? {
        guard text.utf8.count <= lengthLimit else { return nil }
        var body = text[...]
        if let begin = text.firstRange(of: "-----BEGIN ") {
            guard let head = text[begin.upperBound...].firstRange(of: "-----"),
                let end = text[head.upperBound...].firstRange(of: "-----END ")
            else { return nil }
            body = text[head.upperBound..<end.lowerBound]
        }
        let base64 = body.filter { !$0.isWhitespace }
        return base64.isEmpty ? nil : Data(base64Encoded: String(base64))
    }

    /// Describes the fault of a text that is no private key, without any part of the text.
    static func problem(_ text: String) -> String {
        if text.isEmpty { return "is missing" }
        if text.contains("BEGIN ENCRYPTED PRIVATE KEY") { return "is encrypted with a password" }
        if text.contains("BEGIN CERTIFICATE") { return "is a certificate, not a key" }
        if AlipayPublicKey(text) != nil { return "is a public key, not the private one" }
        return "is no RSA private key of 2,048 bits or more"
    }
}
