import CoreMetrics
import Domain
import Synchronization

/// A metrics backend that answers scrapes in Prometheus' text format (version 0.0.4).
///
/// Labels come from closed lists (routes, methods, statuses, configured accounts), so the number of series is bounded.
final class PrometheusMetrics: MetricsFactory {
    private struct Series: Hashable {
        let name: String
        let labels: String
    }

    private let counters = Mutex<[Series: PrometheusCounter]>([:])
    private let histograms = Mutex<[Series: LatencyHistogram]>([:])
    private let observed = Mutex<[String: @Sendable () -> Int64]>([:])
    private let levels = Mutex<[String: @Sendable () -> Int64]>([:])
    private let gauges = Mutex<[String: (label: String, values: @Sendable () -> [String: Int64])]>([:])

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let series = Self.series(label, dimensions)
        return counters.withLock { counters in
            let counter = counters[series] ?? PrometheusCounter()
            counters[series] = counter
            return counter
        }
    }

    /// No recorder is used: what is measured is a time.
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let series = Self.series(label, dimensions)
        return PrometheusTimer(
            histograms.withLock { histograms in
                let histogram = histograms[series] ?? LatencyHistogram()
                histograms[series] = histogram
                return histogram
            })
    }

    /// Registers a histogram that other code maintains; it is read at each scrape.
    func observe(histogram name: String, _ label: String, _ value: String, _ histogram: LatencyHistogram) {
        histograms.withLock { $0[Self.series(name, [(label, value)])] = histogram }
    }

    /// Registers a counter that other code maintains; it is read at each scrape.
    func observe(counter name: String, _ total: @escaping @Sendable () -> Int64) {
        observed.withLock { $0[name] = total }
    }

    /// Registers a gauge that other code maintains; it is read at each scrape.
    func observe(gauge name: String, _ value: @escaping @Sendable () -> Int64) {
        levels.withLock { $0[name] = value }
    }

    /// Registers a gauge that other code maintains, with a value for each value of one label; it is read at each
    /// scrape.
    func observe(gauge name: String, by label: String, _ values: @escaping @Sendable () -> [String: Int64]) {
        gauges.withLock { $0[name] = (label, values) }
    }

    // Series live as long as the process.
    func destroyCounter(_: any CounterHandler) {}
    func destroyRecorder(_: any RecorderHandler) {}
    func destroyTimer(_: any TimerHandler) {}

    /// All series, sorted by name.
    var text: String {
        let counted =
            counters.withLock { $0 }.map { ($0.key, "\($0.value.total)") }
            + observed.withLock { $0 }.map { (Series(name: $0.key, labels: ""), "\($0.value())") }
        var lines: [String] = []
        for (name, entries) in Dictionary(grouping: counted, by: \.0.name).sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE \(name) counter")
            lines += entries.map { "\(name)\($0.0.labels) \($0.1)" }.sorted()
        }
        for (name, level) in levels.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            lines += ["# TYPE \(name) gauge", "\(name) \(level())"]
        }
        for (name, gauge) in gauges.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE \(name) gauge")
            lines += gauge.values().map { value, level in
                "\(name)\(Self.series(name, [(gauge.label, value)]).labels) \(level)"
            }.sorted()
        }
        lines += histogramLines
        return lines.joined(separator: "\n") + "\n"
    }

    /// The histograms in which something was counted; a route that nobody calls costs a scrape nothing.
    private var histogramLines: [String] {
        let bounds = LatencyHistogram.bounds.map { "\(Double($0) / 1_000_000_000)" } + ["+Inf"]
        var lines: [String] = []
        for (name, entries) in Dictionary(grouping: histograms.withLock { $0 }, by: \.key.name)
            .sorted(by: { $0.key < $1.key })
        {
            lines.append("# TYPE \(name) histogram")
            for (series, histogram) in entries.sorted(by: { $0.key.labels < $1.key.labels }) {
                let counted = histogram.counted
                let total = counted.calls.reduce(0, +)
                guard total > 0 else { continue }
                let others = series.labels.dropLast().dropFirst()
                var calls: Int64 = 0
                for (bound, more) in zip(bounds, counted.calls) {
                    calls += more
                    lines.append("\(name)_bucket{\(others.isEmpty ? "" : others + ",")le=\"\(bound)\"} \(calls)")
                }
                lines.append("\(name)_sum\(series.labels) \(Double(counted.nanoseconds) / 1_000_000_000)")
                lines.append("\(name)_count\(series.labels) \(total)")
            }
        }
        return lines
    }

    private static func series(_ label: String, _ dimensions: [(String, String)]) -> Series {
        let name = String(label.map { $0.utf8.allSatisfy(\.isWord) ? $0 : "_" })
        let labels = dimensions.map { key, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(key)=\"\(escaped)\""
        }
        return Series(name: name, labels: labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
    }
}

private final class PrometheusCounter: CounterHandler {
    private let value = Atomic<Int64>(0)

    var total: Int64 { value.load(ordering: .relaxed) }

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }
}

private final class PrometheusTimer: TimerHandler {
    private let histogram: LatencyHistogram

    init(_ histogram: LatencyHistogram) { self.histogram = histogram }

    func recordNanoseconds(_ duration: Int64) { histogram.observe(nanoseconds: duration) }
}
