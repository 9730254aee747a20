package import Domain

/// The latencies of a store's calls by their kind, waiting included.
package final class StoreLatencies: Sendable {
    package let read = LatencyHistogram()
    package let write = LatencyHistogram()
    package let report = LatencyHistogram()
}
