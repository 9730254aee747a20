package import Domain
import Synchronization

/// Token buckets by name, in this node's memory; a limit of 0 is off.
///
/// Each of several nodes has an equal part of the rate and the burst, so that together they allow as much as one node
/// would. A caller whose requests a proxy does not distribute evenly gets less, but at least the part of one node.
package final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var updatedAt: Int64
    }

    private struct State {
        var buckets: [String: Bucket] = [:]
        var sweptAt: Int64 = 0
    }

    /// The largest number of buckets; full ones are deleted, since they equal new ones, and while none is full, all new
    /// names share one bucket.
    private static let capacity = 100_000
    /// The shortest interval in milliseconds between two searches for full buckets.
    private static let sweepInterval: Int64 = 1_000
    /// The name of the bucket for all names without one.
    private static let shared = ""

    private let perSecond: Double
    private let burst: Double
    private let nodes: @Sendable () -> Int64
    private let time: TimeSource
    private let state = Mutex(State())

    /// - Parameter nodes: returns the number of nodes with such buckets, this one included.
    package init(perSecond: Int64, burst: Int64, nodes: @escaping @Sendable () -> Int64 = { 1 }, time: TimeSource) {
        self.nodes = nodes
        self.perSecond = Double(perSecond)
        self.burst = Double(max(burst, perSecond, 1))
        self.time = time
    }

    /// - Parameter perMinute: both the rate and the burst.
    package init(perMinute: Int64, nodes: @escaping @Sendable () -> Int64 = { 1 }, time: TimeSource) {
        self.nodes = nodes
        perSecond = Double(perMinute) / 60
        burst = Double(max(perMinute, 1))
        self.time = time
    }

    /// Takes tokens, at most as many as a full bucket has.
    ///
    /// - Returns: nil where they were available, otherwise the seconds until they are.
    package func take(_ name: String, _ count: Int64 = 1) -> Int64? {
        guard perSecond > 0 else { return nil }
        let now = time.milliseconds()
        let share = Double(max(1, nodes()))
        let (perSecond, burst) = (perSecond / share, max(1, (burst / share).rounded(.down)))
        let price = min(Double(count), burst)
        func refilled(_ bucket: Bucket) -> Double {
            min(burst, bucket.tokens + Double(max(0, now - bucket.updatedAt)) / 1_000 * perSecond)
        }
        return state.withLock { state in
            var name = name
            if state.buckets.count >= Self.capacity, state.buckets[name] == nil {
                if now >= state.sweptAt + Self.sweepInterval || now < state.sweptAt {
                    state.sweptAt = now
                    state.buckets = state.buckets.filter { refilled($0.value) < burst }
                }
                if state.buckets.count >= Self.capacity { name = Self.shared }
            }
            let tokens = state.buckets[name].map(refilled) ?? burst
            guard tokens >= price else {
                state.buckets[name] = Bucket(tokens: tokens, updatedAt: now)
                return Int64(((price - tokens) / perSecond).rounded(.up))
            }
            state.buckets[name] = Bucket(tokens: tokens - price, updatedAt: now)
            return nil
        }
    }

    /// Gives back a token that ``take(_:_:)`` took.
    package func giveBack(_ name: String) {
        state.withLock { $0.buckets[name]?.tokens += 1 }
    }
}
