import Crypto
import RefusalReasons
import X509

/// Decides whether a leaf and an intermediate lead to a trusted root, and caches the chains that do.
struct ChainValidator<Profile: ChainProfile>: Sendable {
    let anchors: [TrustAnchor]
    let cache: ChainCache<Profile>

    /// Returns the sound chain of these certificates at a signing time in milliseconds.
    ///
    /// A cached chain counts only if the time lies inside its interval, so that an old payload still verifies and a new
    /// one under an expired leaf does not.
    ///
    /// - Parameter pinned: a root that is trusted besides the others, because its fingerprint is known.
    func chain(
        of peer: PeerCertificates, at time: Int64, pinned: TrustAnchor? = nil
    ) throws(AppleRefusal) -> ValidChain<Profile> {
        let anchors = anchors + [pinned].compactMap(\.self)
        let (leaf, intermediate) = (peer.leafDigest, peer.intermediateDigest)
        var outside: ValidChain<Profile>?
        for anchor in anchors {
            let key = ChainName(leaf: leaf, intermediate: intermediate, anchor: anchor.fingerprint)
            guard let known = cache.chain(for: key) else { continue }
            if known.interval.contains(time) { return known }
            outside = known
        }
        if let outside, anchors.count == 1 { throw AppleRefusal.expired(outside.interval, at: time) }
        let links = try ChainLinks<Profile>(peer)
        let trusted = try links.trustedAnchors(among: anchors)
        try links.checkPurpose()
        for anchor in trusted {
            let chain = try links.chain(under: anchor)
            cache.insert(chain, for: ChainName(leaf: leaf, intermediate: intermediate, anchor: anchor.fingerprint))
            if chain.interval.contains(time) { return chain }
            outside = chain
        }
        throw AppleRefusal.expired(outside?.interval ?? links.interval, at: time)
    }
}

extension AppleRefusal {
    static func expired(_ interval: ValidityInterval, at time: Int64) -> AppleRefusal {
        let side = time < interval.first ? "not yet" : "no longer"
        return AppleRefusal(.certificateExpired, "the chain was \(side) valid at the signing time \(time)")
    }
}

/// A sound chain, which the cache stores; its certificates need not be valid now.
struct ValidChain<Profile: ChainProfile>: Sendable {
    let leafKey: Profile.LeafKey
    /// The time when all three certificates are valid.
    let interval: ValidityInterval
    let anchor: SHA256Digest
}

/// The two certificates that a peer sends, as DER.
struct PeerCertificates: Sendable {
    let leaf: [UInt8]
    let intermediate: [UInt8]
    let leafDigest: SHA256Digest
    let intermediateDigest: SHA256Digest

    init(leaf: [UInt8], intermediate: [UInt8]) {
        self.leaf = leaf
        self.intermediate = intermediate
        leafDigest = SHA256.hash(data: leaf)
        intermediateDigest = SHA256.hash(data: intermediate)
    }
}
