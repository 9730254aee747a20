import Synchronization

/// What the threads of one engine know together about whether the server answers at all.
///
/// A statement may take seconds on a server that works, so its silence alone says nothing. A thread whose statement is
/// silent for ``PostgresSettings/silence`` asks the server for a connection; where that is not answered either, the
/// server is away: calls fail at once, and only one in ``PostgresSettings/trialInterval`` is tried until one is answered.
final class PostgresPulse: Sendable {
    enum Verdict {
        case answers
        /// Another thread is asking; look again soon.
        case isAsked
        case isAway
    }

    private struct State {
        var heardAt = ContinuousClock.now
        var isAway = false
        var isAsked = false
        var nextTrial = ContinuousClock.now
    }

    private let address: PostgresAddress
    private let settings: PostgresSettings
    private let state = Mutex(State())

    init(_ address: PostgresAddress, settings: PostgresSettings) {
        self.address = address
        self.settings = settings
    }

    /// The server has said something on one of the connections.
    func heard() {
        let now = ContinuousClock.now
        state.withLock { state in
            state.heardAt = now
            state.isAway = false
        }
    }

    /// The server did not answer an attempt to connect.
    func missed() {
        state.withLock { state in
            let now = ContinuousClock.now
            guard now - state.heardAt >= settings.silence else { return }
            state.isAway = true
            state.nextTrial = now + settings.trialInterval
        }
    }

    var isAway: Bool { state.withLock { $0.isAway } }

    /// Whether a call may be tried now.
    func admits() -> Bool {
        state.withLock { state in
            guard state.isAway else { return true }
            let now = ContinuousClock.now
            guard now >= state.nextTrial else { return false }
            state.nextTrial = now + settings.trialInterval
            return true
        }
    }

    /// Finds out whether a silent statement is worth waiting for.
    func verdict() -> Verdict {
        let known = state.withLock { state -> Verdict? in
            if ContinuousClock.now - state.heardAt < settings.silence { return .answers }
            if state.isAway { return .isAway }
            if state.isAsked { return .isAsked }
            state.isAsked = true
            return nil
        }
        if let known { return known }
        let answers = PostgresConnection.isAnswered(address, by: .now + settings.probe)
        if answers { heard() } else { missed() }
        state.withLock { $0.isAsked = false }
        return answers ? .answers : .isAway
    }
}
