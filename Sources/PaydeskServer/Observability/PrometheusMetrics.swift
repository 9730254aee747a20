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
    private let summaries = Mutex<[Series: PrometheusSummary]>([:])
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

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        summary(label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { summary(label, dimensions) }

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
        let summed = summaries.withLock { $0 }
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
        for (name, entries) in Dictionary(grouping: summed, by: \.key.name).sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE \(name) summary")
            for (series, summary) in entries.sorted(by: { $0.key.labels < $1.key.labels }) {
                let (count, sum) = summary.totals
                lines.append("\(name)_sum\(series.labels) \(sum)")
                lines.append("\(name)_count\(series.labels) \(count)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func summary(_ label: String, _ dimensions: [(String, String)]) -> PrometheusSummary {
        let series = Self.series(label, dimensions)
        return summaries.withLock { summaries in
            let summary = summaries[series] ?? PrometheusSummary()
            summaries[series] = summary
            return summary
        }
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

/// A count and a sum; a timer's sum is in seconds.
private final class PrometheusSummary: RecorderHandler, TimerHandler {
    private let state = Mutex<(count: Int64, sum: Double)>((0, 0))

    var totals: (Int64, Double) { state.withLock { $0 } }

    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { state.withLock { $0 = ($0.count + 1, $0.sum + value) } }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
}
