import Domain
import Store

/// Reads the position of business time where another node may have moved it: in development, on PostgreSQL.
///
/// Every request asks for it, so it is made once and has nothing else.
package final class ClockFollower: Sendable {
    private let store: StoreAccess
    private let clock: NodeClock
    private let isShared: Bool

    /// - Parameter isShared: true where other nodes may move the clock.
    init(store: StoreAccess, clock: NodeClock, isShared: Bool) {
        self.store = store
        self.clock = clock
        self.isShared = isShared
    }

    package func refresh() async throws(GatewayError) {
        guard isShared else { return }
        clock.adopt(try await store.read { db in try db.clock.find() })
    }
}
