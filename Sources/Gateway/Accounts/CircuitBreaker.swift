/// A circuit breaker for the calls to one account: a state machine that gets the time from its caller.
///
/// While it is closed, every call counts. It opens when too many calls fail; after a pause one opening is let through as a
/// trial, whose end closes it or opens it for twice the pause.
package struct CircuitBreaker: Sendable, Equatable {
    /// The limits that open it, and the length of its pauses in milliseconds.
    package struct Rules: Sendable, Equatable {
        /// Failed openings in a row; other calls do not count.
        package var failuresInARow = 5
        /// Failures among the last 32 calls.
        package var failuresOfMany = 16
        package var pause: Int64 = 5_000
        package var longestPause: Int64 = 300_000
        /// The time after which a trial without an end is given up.
        package var longestTrial: Int64 = 120_000

        package init() {}
    }

    package enum Health: String, Sendable, Codable, CaseIterable {
        case closed
        case open
        /// The pause is over: the next opening is a trial, or a trial is under way.
        case halfOpen = "half_open"
    }

    /// The end of a call; a refusal is an answer.
    package enum Ending: Sendable, CaseIterable {
        case answered
        case failed
        /// The provider was not called after all.
        case unused
    }

    /// A call that was begun; it must be ended.
    package struct Call: Sendable, Equatable {
        fileprivate let period: UInt64
        package let isTrial: Bool
        /// True for the opening of a payment, whose answer closes the breaker.
        fileprivate let opens: Bool
    }

    private struct Break: Sendable, Equatable {
        var since: Int64
        var pause: Int64
        var trialSince: Int64?
    }

    private let rules: Rules
    private var current: Break?
    /// Counts openings, closings and trials; the end of a call that began in an earlier period is ignored.
    private var period: UInt64 = 0
    private var failuresInARow = 0
    /// The last calls, a bit each, the newest lowest; 1 is a failure.
    private var history: UInt32 = 0

    package init(rules: Rules = Rules()) { self.rules = rules }

    package func health(at now: Int64) -> Health {
        guard let current else { return .closed }
        return current.trialSince != nil || isOver(current, now) ? .halfOpen : .open
    }

    /// True where an opening would be let through now.
    package func isHealthy(at now: Int64) -> Bool { current.map { mayTry($0, now) } ?? true }

    /// Begins the opening of a payment.
    ///
    /// - Parameter insists: lets the call through in every state, because no other account could take the payment.
    /// - Returns: nil when it must not be made.
    package mutating func beginOpening(insists: Bool, at now: Int64) -> Call? {
        guard let found = current else { return Call(period: period, isTrial: false, opens: true) }
        guard mayTry(found, now) else { return insists ? Call(period: period, isTrial: false, opens: true) : nil }
        period += 1
        current?.trialSince = now
        return Call(period: period, isTrial: true, opens: true)
    }

    /// Begins any other call, which is never refused, because it is about money that may have moved.
    package func beginOther() -> Call { Call(period: period, isTrial: false, opens: false) }

    package mutating func end(_ call: Call, _ ending: Ending, at now: Int64) {
        guard call.period == period else { return }
        guard let found = current else {
            count(call, ending, at: now)
            return
        }
        switch ending {
        case .answered where call.opens: close()
        case .unused where call.isTrial: current?.trialSince = nil
        case .failed where call.isTrial: open(for: min(found.pause * 2, rules.longestPause), at: now)
        default: break
        }
    }

    private mutating func count(_ call: Call, _ ending: Ending, at now: Int64) {
        switch ending {
        case .unused: return
        case .answered:
            if call.opens { failuresInARow = 0 }
            history <<= 1
        case .failed:
            if call.opens { failuresInARow += 1 }
            history = history << 1 | 1
            guard failuresInARow >= rules.failuresInARow || history.nonzeroBitCount >= rules.failuresOfMany else {
                return
            }
            open(for: rules.pause, at: now)
        }
    }

    private mutating func open(for pause: Int64, at now: Int64) {
        period += 1
        current = Break(since: now, pause: pause)
    }

    private mutating func close() {
        period += 1
        current = nil
        failuresInARow = 0
        history = 0
    }

    private func mayTry(_ found: Break, _ now: Int64) -> Bool {
        guard let trial = found.trialSince else { return isOver(found, now) }
        return !(0..<rules.longestTrial).contains(now - trial)
    }

    /// True where the pause is over, also where the clock was set back.
    private func isOver(_ found: Break, _ now: Int64) -> Bool { !(0..<found.pause).contains(now - found.since) }
}
