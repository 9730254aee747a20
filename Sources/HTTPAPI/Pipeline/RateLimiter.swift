import Domain
import Synchronization

/// Token buckets by name, in this node's memory; a limit of 0 is off.
///
/// Each of several nodes lets an equal share through, in rate and in burst, so that together they let through what one
/// alone would. A caller whose requests a proxy does not spread evenly gets less, but never less than one share.
final class RateLimiter: Sendable {
    private struct Bucket {
        var tokens: Double
        var updatedAt: Int64
    }

    /// Beyond so many buckets the full ones are forgotten: a full bucket and a new one are the same.
    private static let capacity = 100_000

    private let perSecond: Double
    private let burst: Double
    private let nodes: @Sendable () -> Int64
    private let time: TimeSource
    private let buckets = Mutex<[String: Bucket]>([:])

    /// - Parameter nodes: how many nodes have such buckets, this one included.
    init(perSecond: Int64, burst: Int64, nodes: @escaping @Sendable () -> Int64 = { 1 }, time: TimeSource) {
        self.nodes = nodes
        self.perSecond = Double(perSecond)
        self.burst = Double(max(burst, perSecond, 1))
        self.time = time
    }

    /// So many in a minute, all of them at once where they were not used.
    init(perMinute: Int64, nodes: @escaping @Sendable () -> Int64 = { 1 }, time: TimeSource) {
        self.nodes = nodes
        perSecond = Double(perMinute) / 60
        burst = Double(max(perMinute, 1))
        self.time = time
    }

    /// Takes one token.
    ///
    /// - Returns: nil when there was one, else the seconds until there is.
    func take(_ name: String) -> Int64? {
        guard perSecond > 0 else { return nil }
        let now = time.milliseconds()
        let share = Double(max(1, nodes()))
        let (perSecond, burst) = (perSecond / share, max(1, (burst / share).rounded(.down)))
        func refilled(_ bucket: Bucket) -> Double {
            min(burst, bucket.tokens + Double(max(0, now - bucket.updatedAt)) / 1_000 * perSecond)
        }
        return buckets.withLock { buckets in
            if buckets.count >= Self.capacity {
                buckets = buckets.filter { refilled($0.value) < burst }
                if buckets.count >= Self.capacity { buckets = [:] }
            }
            let tokens = buckets[name].map(refilled) ?? burst
            guard tokens >= 1 else {
                buckets[name] = Bucket(tokens: tokens, updatedAt: now)
                return Int64(((1 - tokens) / perSecond).rounded(.up))
            }
            buckets[name] = Bucket(tokens: tokens - 1, updatedAt: now)
            return nil
        }
    }
}
