import SwiftASN1
import X509

/// The rules of RFC 5280 for a chain of exactly three certificates.
enum CertificateRules {
    /// Returns whether this is a CA that may have this number of authorities below it (basicConstraints, and keyUsage
    /// where present).
    static func isAuthority(_ certificate: Certificate, authoritiesBelow: Int) -> Bool {
        do {
            guard case .isCertificateAuthority(let length) = try certificate.extensions.basicConstraints else {
                return false
            }
            let mayCertify = try certificate.extensions.keyUsage?.keyCertSign ?? true
            return mayCertify && (length ?? Int.max) >= authoritiesBelow
        } catch {
            return false
        }
    }

    /// Returns the reason why a certificate may not sign data; nil where it may: it is no CA, and its keyUsage, if any,
    /// allows it.
    static func problem(ofLeaf certificate: Certificate, _ profile: (some ChainProfile).Type) -> String? {
        do {
            if case .some(.isCertificateAuthority) = try certificate.extensions.basicConstraints {
                return "the leaf is a certificate authority"
            }
            guard try certificate.extensions.keyUsage?.digitalSignature ?? true else {
                return "the leaf's keyUsage has no digitalSignature"
            }
        } catch {
            return "the leaf has an unreadable basicConstraints or keyUsage"
        }
        return profile.leafKey(of: certificate) == nil ? "the leaf's key is not \(profile.leafKeyName)" : nil
    }

    /// Returns the reason why a certificate was not issued by another; nil where name and signature show that it was.
    static func problem(
        of subject: Certificate, issuedBy issuer: Certificate, _ profile: (some ChainProfile).Type
    ) -> String? {
        guard subject.issuer == issuer.subject else { return "it names another issuer" }
        guard profile.mayIssue(issuer), profile.signatureAlgorithms.contains(subject.signatureAlgorithm) else {
            return "it is not signed with \(profile.signing)"
        }
        guard issuer.publicKey.isValidSignature(subject.signature, for: subject) else {
            return "its signature is not its issuer's"
        }
        return nil
    }

    /// The first critical extension that is not processed here (RFC 5280 section 4.2), as a dotted OID.
    static func unknownCriticalExtension(of certificate: Certificate) -> String? {
        certificate.extensions.first { $0.critical && !processed.contains($0.oid) }.map { "\($0.oid)" }
    }

    private static let processed: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, AppleOID.storeLeaf, AppleOID.developerRelations,
        AppleOID.paymentLeaf, AppleOID.applicationIntegration,
    ]
}

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
