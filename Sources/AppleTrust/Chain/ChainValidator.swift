import Crypto
import X509

/// Decides whether a leaf and an intermediate lead to a trusted root, and remembers the chains that do.
struct ChainValidator: Sendable {
    let anchors: [TrustAnchor]
    let cache: ChainCache

    /// The sound chain of these certificates at a signing time in milliseconds.
    ///
    /// A remembered chain counts only if the time lies inside its interval, so that an old payload still verifies and
    /// a new one under an expired leaf does not.
    func chain(of peer: PeerCertificates, at time: Int64) throws(AppleRefusal) -> ValidChain {
        let leaf = SHA256.hash(data: peer.leaf)
        let intermediate = SHA256.hash(data: peer.intermediate)
        var outside: ValidChain?
        for anchor in anchors {
            let key = ChainCache.Key(leaf: leaf, intermediate: intermediate, anchor: anchor.fingerprint)
            guard let known = cache.chain(for: key) else { continue }
            if known.interval.contains(time) { return known }
            outside = known
        }
        if let outside, anchors.count == 1 { throw Self.expired(outside.interval, at: time) }
        let links = try ChainLinks(peer)
        let trusted = try links.trustedAnchors(among: anchors)
        try links.checkPurpose()
        for anchor in trusted {
            let chain = try links.chain(under: anchor)
            cache.insert(chain, for: .init(leaf: leaf, intermediate: intermediate, anchor: anchor.fingerprint))
            if chain.interval.contains(time) { return chain }
            outside = chain
        }
        throw Self.expired((outside?.interval ?? links.interval), at: time)
    }

    static func expired(_ interval: ValidityInterval, at time: Int64) -> AppleRefusal {
        let side = time < interval.first ? "not yet" : "no longer"
        return AppleRefusal(.certificateExpired, "the chain was \(side) valid at the signing time \(time)")
    }
}
