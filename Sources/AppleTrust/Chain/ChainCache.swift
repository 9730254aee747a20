import Crypto
import Synchronization

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
