import RefusalReasons
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
