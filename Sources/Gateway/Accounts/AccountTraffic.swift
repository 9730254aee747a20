package import Domain
import ProviderKit
import Synchronization

/// The calls of this node to each account: how many are under way, and whether they are answered.
///
/// The bound is each account's own and nobody waits at it, so that an account that hangs takes no room from another.
package final class AccountTraffic: Sendable {
    /// What a call is for.
    enum Purpose: Sendable {
        /// Opens a payment; an account that does not answer is left in peace unless the caller insists.
        case opening(insists: Bool)
        /// Goes on with what was begun.
        case other
    }

    private final class Lane: Sendable {
        struct State {
            var breaker = CircuitBreaker()
            var running = 0
        }

        let state = Mutex(State())
    }

    private let lanes: [AccountID: Lane]
    private let limit: Int
    private let time: TimeSource

    init(_ accounts: [AccountID], limit: Int, time: TimeSource) {
        lanes = Dictionary(accounts.map { ($0, Lane()) }) { first, _ in first }
        self.limit = limit
        self.time = time
    }

    /// The accounts that a checkout should leave out while another one is able.
    var unhealthy: Set<AccountID> {
        let now = time.milliseconds()
        let found = lanes.filter { _, lane in
            !lane.state.withLock { $0.running < limit && $0.breaker.isHealthy(at: now) }
        }
        return Set(found.keys)
    }

    /// What this node believes of each account.
    package var health: [AccountID: CircuitBreaker.Health] {
        let now = time.milliseconds()
        return lanes.mapValues { lane in lane.state.withLock { $0.breaker.health(at: now) } }
    }

    package func health(of account: AccountID) -> CircuitBreaker.Health {
        lanes[account]?.state.withLock { $0.breaker.health(at: time.milliseconds()) } ?? .closed
    }

    /// Whether another call to the account would be made now.
    func hasRoom(_ account: AccountID) -> Bool {
        lanes[account].map { lane in lane.state.withLock { $0.running < limit } } ?? true
    }

    /// - Returns: nil when the call must not be made; otherwise it must be ended.
    func begin(_ account: AccountID, _ purpose: Purpose) -> CircuitBreaker.Call? {
        guard let lane = lanes[account] else { return CircuitBreaker().beginOther() }
        let now = time.milliseconds()
        return lane.state.withLock { state in
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

    func end(_ account: AccountID, _ call: CircuitBreaker.Call, _ ending: CircuitBreaker.Ending) {
        guard let lane = lanes[account] else { return }
        let now = time.milliseconds()
        lane.state.withLock { state in
            state.running -= 1
            state.breaker.end(call, ending, at: now)
        }
    }
}
