import Domain
import Logging
import Synchronization

/// Logs that the database is down: at once, and then every ten seconds for all failed requests together.
///
/// In an outage every request fails for the same reason, thousands in a minute, and each is answered with 503.
final class OutageLog: Sendable {
    private struct State {
        var lastLine: Timestamp?
        /// The number of failures that were not logged since.
        var unlogged = 0
    }

    private static let interval: Int64 = 10
    private let logger: Logger
    private let time: TimeSource
    private let state = Mutex(State())

    init(logger: Logger, time: TimeSource) {
        self.logger = logger
        self.time = time
    }

    func failed(because reason: String) {
        let now = time.now
        let unlogged = state.withLock { state -> Int? in
            // After the clock was set back, the interval begins again.
            if let last = state.lastLine, now >= last, now < last.adding(seconds: Self.interval) {
                state.unlogged += 1
                return nil
            }
            defer { state = State(lastLine: now) }
            return state.unlogged
        }
        guard let unlogged else { return }
        logger.warning(
            "the database did not answer", metadata: ["reason": "\(reason)", "failures_before": "\(unlogged)"])
    }
}
