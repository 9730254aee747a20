import Crypto
import X509

/// A root certificate from the configuration or built in, never from a peer.
struct TrustAnchor: Sendable {
    let fingerprint: SHA256Digest
    let certificate: Certificate
    let validity: ValidityInterval

    /// - Parameter der: one certificate of a CA that may have an intermediate below it. An RSA key, such as that of the
    ///   receipts' root, is accepted; it anchors no JWS chain, whose signatures are all on elliptic curves.
    /// - Returns: nil for anything else.
    init?(der: [UInt8]) {
        guard let certificate = CertificateDER.parse(der),
            CertificateRules.isAuthority(certificate, authoritiesBelow: 1)
        else { return nil }
        self.certificate = certificate
        fingerprint = SHA256.hash(data: der)
        validity = ValidityInterval(of: certificate)
    }
}

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
