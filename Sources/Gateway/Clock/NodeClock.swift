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

    /// Takes over a position that was read, unless a later one is known.
    func adopt(_ state: ClockState) {
        known.withLock { known in
            if state.version >= known.version { known = state }
        }
    }
}

extension BusinessTime {
    /// The present time of an account's service: business time where its provider plays the service, else the real time.
    func now(at account: ConfiguredAccount) -> Timestamp {
        account.manifest.followsBusinessTime ? now : real.now
    }
}
