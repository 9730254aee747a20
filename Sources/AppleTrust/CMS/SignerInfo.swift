import SwiftASN1
import X509

/// The signer of a CMS message and its signature (RFC 5652 section 5.3).
struct SignerInfo: Sendable {
    /// The issuer and serial number that name the certificate, the one form that Apple uses.
    let issuer: DistinguishedName
    let serial: Certificate.SerialNumber
    let digest: AlgorithmIdentifier
    let signedAttributes: SignedAttributes?
    let algorithm: AlgorithmIdentifier
    let signature: ArraySlice<UInt8>

    init(_ node: ASN1Node) throws(AppleRefusal) {
        var parts = try NodeReader(node, "SignerInfo")
        guard try parts.next("version").integer == 1 else {
            throw .malformed("the signer is not named by issuer and serial number")
        }
        var name = try NodeReader(try parts.next("sid"), "issuerAndSerialNumber")
        let issuerNode = try name.next("issuer")
        guard let issuer = try? DistinguishedName(derEncoded: issuerNode),
            let number = try name.next("serialNumber").contents(.integer)
        else { throw .malformed("the signer's issuer or serial number cannot be read") }
        try name.end()
        self.issuer = issuer
        serial = Certificate.SerialNumber(bytes: number)
        digest = try AlgorithmIdentifier(try parts.next("digestAlgorithm"), "digestAlgorithm")
        signedAttributes = try parts.next(if: .context(0)).map(SignedAttributes.init)
        algorithm = try AlgorithmIdentifier(try parts.next("signatureAlgorithm"), "signatureAlgorithm")
        guard let signature = try parts.next("signature").octets else {
            throw .malformed("the signature is no OCTET STRING")
        }
        self.signature = signature
        // Unsigned attributes prove nothing.
        _ = parts.next(if: .context(1))
        try parts.end()
    }

    /// Finds the certificate that the signer names.
    ///
    /// - Throws: `malformed` unless exactly one certificate has that name.
    func certificate(among certificates: [EmbeddedCertificate]) throws(AppleRefusal) -> EmbeddedCertificate {
        let named = certificates.filter {
            $0.certificate.issuer == issuer && $0.certificate.serialNumber == serial
        }
        guard let first = named.first, named.count == 1 else {
            throw .malformed("\(named.count) of the certificates are the signer's")
        }
        return first
    }
}

/// An algorithm's name, and whether it has no parameters (RFC 5280 section 4.1.1.2).
struct AlgorithmIdentifier: Sendable {
    let name: ASN1ObjectIdentifier
    /// True for absent parameters or NULL, as SHA and RSA by PKCS #1 v1.5 have them.
    let isPlain: Bool

    init(_ node: ASN1Node, _ part: String) throws(AppleRefusal) {
        var parts = try NodeReader(node, part)
        guard let name = try parts.next("algorithm").objectIdentifier else {
            throw .malformed("\(part) names no algorithm")
        }
        self.name = name
        isPlain = parts.next().map { $0.contents(.null)?.isEmpty == true } ?? true
        try parts.end()
    }
}

/// A certificate of the message.
struct EmbeddedCertificate: Sendable {
    let der: [UInt8]
    let certificate: Certificate

    /// - Returns: nil for bytes that are no certificate, or more bytes than a certificate may have.
    init?(_ der: ArraySlice<UInt8>) {
        guard der.count <= ReceiptLimits.certificate else { return nil }
        let der = Array(der)
        guard let certificate = CertificateDER.parse(der) else { return nil }
        self.der = der
        self.certificate = certificate
    }
}
