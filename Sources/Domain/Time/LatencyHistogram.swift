import Synchronization

/// The latencies of one kind of call, counted in fixed buckets.
///
/// An observation takes no lock and no memory: it is two atomic additions.
package final class LatencyHistogram: Sendable {
    /// The number of calls in one bucket.
    private final class Bucket: Sendable {
        let count = Atomic<Int64>(0)
    }

    /// The upper bounds of the buckets in nanoseconds; one more bucket has no bound.
    package static let bounds: [Int64] = [
        500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
        500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    private let buckets = (0...LatencyHistogram.bounds.count).map { _ in Bucket() }
    private let nanoseconds = Atomic<Int64>(0)

    package init() {}

    package func observe(nanoseconds: Int64) {
        let bounds = Self.bounds
        var index = 0
        // Most calls are short, so that few bounds are compared.
        while index < bounds.count, nanoseconds > bounds[index] { index += 1 }
        buckets[index].count.wrappingAdd(1, ordering: .relaxed)
        self.nanoseconds.wrappingAdd(max(0, nanoseconds), ordering: .relaxed)
    }

    /// Counts a call that began at this time and has ended.
    package func observe(since start: ContinuousClock.Instant) {
        observe(nanoseconds: (ContinuousClock.now - start).nanoseconds)
    }

    /// The number of calls in each bucket, the last without a bound, and the sum of their times.
    package var counted: (calls: [Int64], nanoseconds: Int64) {
        (buckets.map { $0.count.load(ordering: .relaxed) }, nanoseconds.load(ordering: .relaxed))
    }
}

extension Duration {
    /// The whole nanoseconds.
    package var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
