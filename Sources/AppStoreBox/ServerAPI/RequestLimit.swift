import Synchronization

/// Apple's rate limit, for tests of clients: so many calls a second, counted by this process.
///
/// A full second's calls may come at once, then one whenever the next becomes free (the generic cell rate algorithm).
final class RequestLimit: Sendable {
    private struct State {
        /// The rate that `fullAt` belongs to.
        var perSecond: Int64?
        /// The time at which all calls of a second are free again, in microseconds since 1970.
        var fullAt: Int64 = 0
    }

    private let state = Mutex(State())

    /// Counts a call.
    ///
    /// - Parameters:
    ///   - perSecond: at least 1; nil for no limit.
    ///   - now: the real time in milliseconds since 1970.
    /// - Returns: nil where the call is within the limit, else the time of the next free call in milliseconds since 1970.
    func refusal(perSecond: Int64?, now: Int64) -> Int64? {
        state.withLock { state in
            guard let perSecond, perSecond > 0 else {
                state = State()
                return nil
            }
            let now = now * 1_000
            // A new rate begins with all its calls, and a clock that was set back does not close the API.
            if state.perSecond != perSecond || state.fullAt > now + 1_000_000 {
                state = State(perSecond: perSecond, fullAt: now)
            }
            let interval = 1_000_000 / perSecond
            let free = max(state.fullAt, now) - (perSecond - 1) * interval
            guard free <= now else { return (free + 999) / 1_000 }
            state.fullAt = max(state.fullAt, now) + interval
            return nil
        }
    }
}
