import Crypto
import Encodings

/// A payment processing certificate and its private key.
public struct ApplePayMerchantKey: Sendable {
    /// The hash by which tokens name it: the SHA-256 of the certificate's SubjectPublicKeyInfo.
    public let publicKeyHash: [UInt8]
    /// The last moment at which the certificate is valid, in milliseconds since 1970-01-01 UTC.
    ///
    /// A token is decrypted after that, too: Apple may use the key for a while longer.
    public let notValidAfter: Int64
    let key: MerchantPrivateKey
    /// The SHA-256 of the merchant identifier, an input of the key derivation.
    let merchantHash: [UInt8]

    /// - Parameters:
    ///   - certificate: PEM or DER.
    ///   - privateKey: PKCS #8, SEC 1 or PKCS #1, in PEM or DER.
    ///   - merchantIdentifier: the identifier for which the certificate must be issued.
    public init(
        certificate: [UInt8], privateKey: [UInt8], merchantIdentifier: String
    ) throws(ApplePayKeyFault) {
        let certificate = try MerchantCertificate(certificate)
        key = try MerchantPrivateKey(privateKey, of: certificate)
        try certificate.check(merchantIdentifier: merchantIdentifier)
        publicKeyHash = try certificate.publicKeyHash()
        notValidAfter = certificate.notValidAfter
        merchantHash = Array(SHA256.hash(data: Array(merchantIdentifier.utf8)))
    }
}

extension ApplePayMerchantKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "ApplePayMerchantKey(\(Base64.encode(publicKeyHash)))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
