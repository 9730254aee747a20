package import Domain
import ProviderKit
package import Store
import Synchronization

/// The position of business time as this node knows it.
///
/// The database has the position; a node reads it at its start and, in development mode, before each request and each
/// search for jobs. In production mode it never changes.
package final class NodeClock: Sendable {
    private let real: TimeSource
    private let known = Mutex(ClockState())

    package init(real: TimeSource) { self.real = real }

    /// The clock of what is sold, at the position that this node knows.
    package var time: BusinessTime {
        BusinessTime(real: real) { [self] in known.withLock { $0 } }
    }

    package var state: ClockState { known.withLock { $0 } }

    /// Reads the position from the database.
    package func read(from store: Store) async throws {
        adopt(try await store.read { db in try db.clock.find() })
    }

    /// True while a move holds the clock, as far as this node knows.
    package var isMoving: Bool { state.isMoving(at: real.now) }

    /// Takes over the position of this node's own move, whose lease only the database's clock ends.
    func hold(_ state: ClockState) {
        var held = state
        held.standsUntil = Timestamp(.max)
        adopt(held)
    }

    /// Lets the clock run after a move of this node whose end could not be stored.
    func release() {
        known.withLock { $0.standsAt = nil }
    }

    /// Takes over a position that was read, unless a later one is known.
    func adopt(_ state: ClockState) {
        known.withLock { known in
            // A node's own move knows better how long it holds the clock.
            let isOwn = state.version == known.version && known.standsUntil == Timestamp(.max)
            if state.version >= known.version, !isOwn || state.standsUntil == Timestamp(.max) { known = state }
        }
    }
}

extension BusinessTime {
    /// The present time of an account's service: business time where its provider plays the service, else the real time.
    func now(at account: ConfiguredAccount) -> Timestamp {
        account.manifest.followsBusinessTime ? now : real.now
    }
}
