import SwiftASN1
import X509

/// Parses certificates from DER; each certificate has exactly one spelling.
enum CertificateDER {
    /// - Returns: nil for bytes that are no certificate, and where the signature's BIT STRING has unused bits: the
    ///   issuer's signature does not cover their count, so that two spellings would be the same certificate.
    static func parse(_ der: [UInt8]) -> Certificate? {
        guard let certificate = try? Certificate(derEncoded: der), let outer = try? DER.parse(der),
            case .constructed(let nodes) = outer.content, let last = Array(nodes).last,
            let signature = try? ASN1BitString(derEncoded: last), signature.paddingBits == 0
        else { return nil }
        return certificate
    }
}
