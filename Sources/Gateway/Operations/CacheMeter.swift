import Metrics

/// Counts the answers of a cache and those that had to be made: `paydesk_cache_hits_total{cache}` and
/// `paydesk_cache_misses_total{cache}`.
struct CacheMeter: Sendable {
    private let hits: Counter
    private let misses: Counter

    init(_ cache: String) {
        let dimensions = [("cache", cache)]
        hits = Counter(label: "paydesk_cache_hits_total", dimensions: dimensions)
        misses = Counter(label: "paydesk_cache_misses_total", dimensions: dimensions)
    }

    func count(isHit: Bool) { (isHit ? hits : misses).increment() }
}
