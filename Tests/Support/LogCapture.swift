package import Logging
import Synchronization

/// A log handler that keeps every line.
package final class LogCapture: Sendable {
    private let lines = Mutex<[String]>([])

    package init() {}

    package var text: String { lines.withLock { $0.joined(separator: "\n") } }

    package func logger() -> Logger {
        var logger = Logger(label: "test") { _ in Handler(capture: self) }
        logger.logLevel = .trace
        return logger
    }

    /// The lines of one level.
    package func lines(_ level: Logger.Level) -> [String] {
        lines.withLock { $0.filter { $0.hasPrefix("\(level) ") } }
    }

    private struct Handler: LogHandler {
        let capture: LogCapture
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let own = event.metadata.map { "\($0)" } ?? ""
            capture.lines.withLock { $0.append("\(event.level) \(event.message) \(metadata) \(own)") }
        }
    }
}
