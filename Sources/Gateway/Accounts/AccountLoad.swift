package import Domain
import Metrics
import ProviderKit
import Synchronization

/// This node's calls to each account: their number under way, and the account's health.
///
/// Each account has a bound of its own, and calls beyond it fail instead of waiting, so that an account that hangs does
/// not slow down others.
package final class AccountLoad: Sendable {
    /// The purpose of a call.
    enum Purpose: Sendable {
        /// Opens a payment; not sent to an account whose circuit breaker is open, unless the caller insists.
        case opening(insists: Bool)
        /// Continues a payment or a refund, or does anything else.
        case other
    }

    private final class Entry: Sendable {
        struct State {
            var breaker = CircuitBreaker()
            var running = 0
        }

        let state = Mutex(State())
        /// Made once: making it costs more than counting.
        let latency: Metrics.Timer

        init(_ account: AccountID) {
            latency = Metrics.Timer(
                label: "paydesk_provider_call_seconds", dimensions: [("account", account.rawValue)])
        }
    }

    private let entries: [AccountID: Entry]
    private let limit: Int
    private let time: TimeSource

    init(_ accounts: [AccountID], limit: Int, time: TimeSource) {
        entries = Dictionary(accounts.map { ($0, Entry($0)) }) { first, _ in first }
        self.limit = limit
        self.time = time
    }

    /// The accounts that a checkout should avoid while another account is available.
    var unhealthy: Set<AccountID> {
        let now = time.milliseconds()
        let found = entries.filter { _, entry in
            !entry.state.withLock { $0.running < limit && $0.breaker.isHealthy(at: now) }
        }
        return Set(found.keys)
    }

    /// The health of each account, by this node's own calls.
    package var health: [AccountID: CircuitBreaker.Health] {
        let now = time.milliseconds()
        return entries.mapValues { entry in entry.state.withLock { $0.breaker.health(at: now) } }
    }

    package func health(of account: AccountID) -> CircuitBreaker.Health {
        entries[account]?.state.withLock { $0.breaker.health(at: time.milliseconds()) } ?? .closed
    }

    /// True where another call to the account would be sent now.
    func hasRoom(_ account: AccountID) -> Bool {
        entries[account].map { entry in entry.state.withLock { $0.running < limit } } ?? true
    }

    /// Begins a call, which must be ended by ``end(_:_:_:)``.
    ///
    /// - Returns: nil when the call must not be made.
    func begin(_ account: AccountID, _ purpose: Purpose) -> CircuitBreaker.Call? {
        guard let entry = entries[account] else { return CircuitBreaker().beginOther() }
        let now = time.milliseconds()
        return entry.state.withLock { state in
            guard state.running < limit else { return nil }
            let call =
                switch purpose {
                case .opening(let insists): state.breaker.beginOpening(insists: insists, at: now)
                case .other: state.breaker.beginOther()
                }
            if call != nil { state.running += 1 }
            return call
        }
    }

    /// Counts the time of a call that has ended, whatever its end (`paydesk_provider_call_seconds{account}`).
    func measure(_ account: AccountID, since start: ContinuousClock.Instant) {
        entries[account]?.latency.recordNanoseconds((ContinuousClock.now - start).nanoseconds)
    }

    func end(_ account: AccountID, _ call: CircuitBreaker.Call, _ ending: CircuitBreaker.Ending) {
        guard let entry = entries[account] else { return }
        let now = time.milliseconds()
        entry.state.withLock { state in
            state.running -= 1
            state.breaker.end(call, ending, at: now)
        }
    }
}
