import SwiftASN1
import X509

/// Who signed a CMS message, and how (RFC 5652 section 5.3).
struct SignerInfo: Sendable {
    /// The certificate that is named by issuer and serial number, the one form that Apple uses.
    let issuer: DistinguishedName
    let serial: Certificate.SerialNumber
    let digest: ASN1ObjectIdentifier
    let signedAttributes: SignedAttributes?
    let algorithm: ASN1ObjectIdentifier
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
        digest = try Self.algorithm(try parts.next("digestAlgorithm"), "digestAlgorithm")
        signedAttributes = try parts.next(if: .context(0)).map(SignedAttributes.init)
        algorithm = try Self.algorithm(try parts.next("signatureAlgorithm"), "signatureAlgorithm")
        guard let signature = try parts.next("signature").octets else {
            throw .malformed("the signature is no OCTET STRING")
        }
        self.signature = signature
        // Attributes that nobody signed say nothing.
        _ = parts.next(if: .context(1))
        try parts.end()
    }

    /// The certificate that the signer names.
    ///
    /// - Throws: `malformed` unless exactly one is it.
    func certificate(among certificates: [EmbeddedCertificate]) throws(AppleRefusal) -> EmbeddedCertificate {
        let named = certificates.filter {
            $0.certificate.issuer == issuer && $0.certificate.serialNumber == serial
        }
        guard let first = named.first, named.count == 1 else {
            throw .malformed("\(named.count) of the certificates are the signer's")
        }
        return first
    }

    /// An algorithm without parameters.
    private static func algorithm(_ node: ASN1Node, _ name: String) throws(AppleRefusal) -> ASN1ObjectIdentifier {
        var parts = try NodeReader(node, name)
        guard let algorithm = try parts.next("algorithm").objectIdentifier else {
            throw .malformed("\(name) names no algorithm")
        }
        if let parameters = parts.next(), parameters.contents(.null)?.isEmpty != true {
            throw .malformed("\(name) has parameters")
        }
        try parts.end()
        return algorithm
    }
}

/// A certificate of the message.
struct EmbeddedCertificate: Sendable {
    let der: [UInt8]
    let certificate: Certificate

    /// - Returns: nil for bytes that are no certificate.
    init?(_ der: ArraySlice<UInt8>) {
        let der = Array(der)
        guard let certificate = CertificateDER.parse(der) else { return nil }
        self.der = der
        self.certificate = certificate
    }
}
