import Crypto
import X509

/// A self-signed certificate of Xcode's local StoreKit that configuration trusts; its dates do not count.
struct XcodeCertificate: Sendable {
    let der: [UInt8]
    let key: P256.Signing.PublicKey

    /// - Returns: nil where the bytes are no certificate or its key is not P-256.
    init?(der: [UInt8]) {
        guard let certificate = CertificateDER.parse(der),
            let key = P256.Signing.PublicKey(certificate.publicKey)
        else { return nil }
        self.der = der
        self.key = key
    }
}
