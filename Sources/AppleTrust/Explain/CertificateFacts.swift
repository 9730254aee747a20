import Crypto
import Encodings
import X509

extension AppleCertificateFacts {
    /// - Parameter text: one string of `x5c`.
    /// - Returns: nil where it is no certificate.
    init?(_ text: ArraySlice<UInt8>) {
        guard let der = try? JWSHeader.certificate(text), let certificate = CertificateDER.parse(der) else {
            return nil
        }
        self.init(certificate, der: der)
    }

    init(_ certificate: Certificate, der: [UInt8]) {
        let validity = ValidityInterval(of: certificate)
        subject = SafeText.line("\(certificate.subject)")
        issuer = SafeText.line("\(certificate.issuer)")
        validFrom = validity.first
        validUntil = validity.last
        isAuthority = CertificateRules.isAuthority(certificate, authoritiesBelow: 0)
        key = SafeText.line("\(certificate.publicKey)")
        signatureAlgorithm = SafeText.line("\(certificate.signatureAlgorithm)")
        extensions = certificate.extensions.prefix(32).map { SafeText.line("\($0.oid)") }
        fingerprint = Hex.encoded(SHA256.hash(data: der), .upper)
    }
}
