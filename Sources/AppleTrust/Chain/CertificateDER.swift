import SwiftASN1
import X509

/// Certificates out of DER, each with exactly one spelling.
enum CertificateDER {
    /// - Returns: nil for bytes that are no certificate, and where the signature's BIT STRING leaves bits unused: the
    ///   issuer's signature does not cover that octet, so that two spellings would be the same certificate.
    static func parse(_ der: [UInt8]) -> Certificate? {
        guard let certificate = try? Certificate(derEncoded: der), let outer = try? DER.parse(der),
            case .constructed(let nodes) = outer.content, let last = Array(nodes).last,
            let signature = try? ASN1BitString(derEncoded: last), signature.paddingBits == 0
        else { return nil }
        return certificate
    }
}
