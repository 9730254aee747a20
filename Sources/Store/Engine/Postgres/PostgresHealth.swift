import Synchronization

/// The reachability of the server, shared by the threads of one engine.
///
/// A statement may take seconds on a working server, so silence alone proves nothing. A thread whose statement is
/// silent for ``PostgresSettings/silence`` tries to open another connection; where that is not answered either, the
/// server is down: calls fail at once, and only one in ``PostgresSettings/trialInterval`` is tried until one is
/// answered.
final class PostgresHealth: Sendable {
    enum Verdict {
        case answers
        /// Another thread is probing; look again soon.
        case isProbing
        case isDown
    }

    private struct State {
        var answeredAt = ContinuousClock.now
        var isDown = false
        var isProbing = false
        var nextTrial = ContinuousClock.now
    }

    private let address: PostgresAddress
    private let settings: PostgresSettings
    private let state = Mutex(State())

    init(_ address: PostgresAddress, settings: PostgresSettings) {
        self.address = address
        self.settings = settings
    }

    /// Records that the server answered on one of the connections.
    func recordAnswer() {
        let now = ContinuousClock.now
        state.withLock { state in
            state.answeredAt = now
            state.isDown = false
        }
    }

    /// Records that the server did not answer an attempt to connect.
    func recordFailure() {
        state.withLock { state in
            let now = ContinuousClock.now
            guard now - state.answeredAt >= settings.silence else { return }
            state.isDown = true
            state.nextTrial = now + settings.trialInterval
        }
    }

    var isDown: Bool { state.withLock { $0.isDown } }

    /// Returns whether a call may be tried now.
    func admits() -> Bool {
        state.withLock { state in
            guard state.isDown else { return true }
            let now = ContinuousClock.now
            guard now >= state.nextTrial else { return false }
            state.nextTrial = now + settings.trialInterval
            return true
        }
    }

    /// Decides about a silent statement, by a probe where needed.
    func verdict() -> Verdict {
        let known = state.withLock { state -> Verdict? in
            if ContinuousClock.now - state.answeredAt < settings.silence { return .answers }
            if state.isDown { return .isDown }
            if state.isProbing { return .isProbing }
            state.isProbing = true
            return nil
        }
        if let known { return known }
        let answers = PostgresConnection.isAnswered(address, by: .now + settings.probe)
        if answers { recordAnswer() } else { recordFailure() }
        state.withLock { $0.isProbing = false }
        return answers ? .answers : .isDown
    }
}
