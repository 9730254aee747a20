import RefusalReasons
import SwiftASN1
import X509

/// A leaf and its intermediate, parsed, with the checks that bind them to a root.
struct ChainLinks<Profile: ChainProfile>: Sendable {
    let leaf: Certificate
    let intermediate: Certificate

    init(_ peer: PeerCertificates) throws(AppleRefusal) {
        leaf = try Self.parse(peer.leaf, "leaf")
        intermediate = try Self.parse(peer.intermediate, "intermediate")
    }

    /// Returns the roots to which this chain leads; purpose and time are not checked.
    ///
    /// - Throws: `untrustedChain` where there is none.
    func trustedAnchors(among anchors: [TrustAnchor]) throws(AppleRefusal) -> [TrustAnchor] {
        var refusal = AppleRefusal(.untrustedChain, "the intermediate's issuer is none of the trusted roots")
        var trusted: [TrustAnchor] = []
        for anchor in anchors where anchor.certificate.subject == intermediate.issuer {
            do throws(AppleRefusal) {
                try checkTrust(under: anchor)
                trusted.append(anchor)
            } catch {
                refusal = error
            }
        }
        guard !trusted.isEmpty else { throw refusal }
        return trusted
    }

    func chain(under anchor: TrustAnchor) throws(AppleRefusal) -> ValidChain<Profile> {
        guard let key = Profile.leafKey(of: leaf) else {
            throw AppleRefusal(.untrustedChain, "the leaf's key is not \(Profile.leafKeyName)")
        }
        return ValidChain(
            leafKey: key, interval: interval.intersection(anchor.validity), anchor: anchor.fingerprint)
    }

    private func checkTrust(under anchor: TrustAnchor) throws(AppleRefusal) {
        for (certificate, name) in [(leaf, "leaf"), (intermediate, "intermediate")] {
            if let oid = CertificateRules.unknownCriticalExtension(of: certificate) {
                throw AppleRefusal(.untrustedChain, "the \(name) has the unknown critical extension \(oid)")
            }
        }
        guard CertificateRules.isAuthority(intermediate, authoritiesBelow: 0) else {
            throw AppleRefusal(.untrustedChain, "the intermediate is no certificate authority")
        }
        if let problem = CertificateRules.problem(ofLeaf: leaf, Profile.self) {
            throw AppleRefusal(.untrustedChain, problem)
        }
        if let problem = CertificateRules.problem(of: intermediate, issuedBy: anchor.certificate, Profile.self) {
            throw AppleRefusal(.untrustedChain, "the intermediate is not issued by the trusted root: \(problem)")
        }
        if let problem = CertificateRules.problem(of: leaf, issuedBy: intermediate, Profile.self) {
            throw AppleRefusal(.untrustedChain, "the leaf is not issued by the intermediate: \(problem)")
        }
    }

    func checkPurpose() throws(AppleRefusal) {
        guard leaf.extensions[oid: Profile.leafMarker] != nil else {
            throw AppleRefusal(.wrongPurpose, "the leaf lacks \(Profile.leafMarker)")
        }
        guard intermediate.extensions[oid: Profile.intermediateMarker] != nil else {
            throw AppleRefusal(.wrongPurpose, "the intermediate lacks \(Profile.intermediateMarker)")
        }
        guard !Profile.hasUniqueMarkers || intermediate.extensions[oid: Profile.leafMarker] == nil,
            !Profile.hasUniqueMarkers || leaf.extensions[oid: Profile.intermediateMarker] == nil
        else { throw AppleRefusal(.wrongPurpose, "a marker stands on both certificates") }
    }

    /// Refuses a time at which no chain under these roots is valid; without roots, the two certificates alone are
    /// checked.
    func checkValidity(under anchors: [TrustAnchor]?, at time: Int64) throws(AppleRefusal) {
        let intervals = anchors?.map { interval.intersection($0.validity) } ?? [interval]
        guard !intervals.contains(where: { $0.contains(time) }) else { return }
        throw AppleRefusal.expired(intervals.last ?? interval, at: time)
    }

    /// The time when both certificates are valid.
    var interval: ValidityInterval { ValidityInterval(of: leaf).intersection(ValidityInterval(of: intermediate)) }

    private static func parse(_ der: [UInt8], _ name: String) throws(AppleRefusal) -> Certificate {
        guard let certificate = CertificateDER.parse(der) else {
            throw .malformed("the \(name) is no X.509 certificate")
        }
        return certificate
    }
}

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
