import Crypto
import RefusalReasons
import Synchronization
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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

/// A bounded cache of sound chains, which drops the least recently used first; refusals are not cached.
final class ChainCache<Profile: ChainProfile>: Sendable {
    private struct State {
        var entries: [ChainName: (chain: ValidChain<Profile>, lastUse: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { state.withLock { $0.entries.count } }

    func chain(for key: ChainName) -> ValidChain<Profile>? {
        state.withLock { state in
            state.uses &+= 1
            guard let chain = state.entries[key]?.chain else { return nil }
            state.entries[key]?.lastUse = state.uses
            return chain
        }
    }

    func insert(_ chain: ValidChain<Profile>, for key: ChainName) {
        state.withLock { state in
            state.uses &+= 1
            if state.entries[key] == nil, state.entries.count >= capacity,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            {
                state.entries[oldest] = nil
            }
            state.entries[key] = (chain, state.uses)
        }
    }
}

/// The cache key of a chain: the SHA-256 of each certificate.
struct ChainName: Hashable, Sendable {
    let leaf: SHA256Digest
    let intermediate: SHA256Digest
    let anchor: SHA256Digest
}

/// A closed interval of time in milliseconds since 1970-01-01 UTC; empty where `first` is after `last`.
struct ValidityInterval: Equatable, Sendable {
    let first: Int64
    let last: Int64

    func contains(_ milliseconds: Int64) -> Bool { first <= milliseconds && milliseconds <= last }

    func intersection(_ other: ValidityInterval) -> ValidityInterval {
        ValidityInterval(first: max(first, other.first), last: min(last, other.last))
    }
}

extension ValidityInterval {
    /// A certificate's validity: both seconds count whole (RFC 5280 section 4.1.2.5).
    init(of certificate: Certificate) {
        first = Self.seconds(certificate.notValidBefore) * 1_000
        last = Self.seconds(certificate.notValidAfter) * 1_000 + 999
    }

    /// Whole seconds, limited to the years that X.509 can express.
    private static func seconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        return Int64(min(max(seconds, -62_167_219_200), 253_402_300_799))
    }
}
