/// The reason why a merchant's certificate and key cannot be used; its description is written for the operator.
public enum ApplePayKeyFault: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadableCertificate
    /// The file holds this number of certificates.
    case severalCertificates(Int)
    case unreadableKey
    case encryptedKey
    /// The private key is not the certificate's.
    case keyOfAnotherCertificate
    /// Neither P-256 nor RSA of at least 2048 bits.
    case unsupportedKey
    /// The identity certificate's key is not RSA of at least 2048 bits.
    case identityIsNotRSA
    /// The certificate has no readable extension 1.2.840.113635.100.6.32, so it is not one of Apple Pay's.
    case noMerchantIdentifier
    /// The certificate was issued for another merchant identifier than the configured one.
    case anotherMerchant(configured: String)

    public var description: String {
        switch self {
        case .unreadableCertificate: "the certificate is neither PEM nor DER of an X.509 certificate"
        case .severalCertificates(let count): "the file holds \(count) certificates; it should hold one"
        case .unreadableKey: "the private key is neither PKCS #8, SEC 1 nor PKCS #1, in PEM or DER"
        case .encryptedKey: "the private key is encrypted with a passphrase; store it without one"
        case .keyOfAnotherCertificate: "the private key is not the one of the certificate"
        case .unsupportedKey: "the certificate's key is neither P-256 nor RSA of at least 2048 bits"
        case .identityIsNotRSA:
            "the certificate's key is not RSA of at least 2048 bits; is it the Merchant Identity certificate?"
        case .noMerchantIdentifier:
            "the certificate names no merchant identifier (extension 1.2.840.113635.100.6.32); is it one of Apple Pay's?"
        case .anotherMerchant(let configured):
            "the certificate was not issued for the merchant identifier \(SafeText.line(configured))"
        }
    }
}
