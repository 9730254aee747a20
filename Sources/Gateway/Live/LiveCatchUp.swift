import Domain
import Store
import Synchronization

/// Finds the changes of other nodes by their events: every second while messages do not arrive, and every ten seconds to
/// find those whose message was lost.
final class LiveCatchUp: Sendable {
    private struct State {
        var isConnected = false
        /// The number of the last event that was looked at; nil before the first look.
        var position: Int64?
        var lookedAt = Timestamp(0)
    }

    private static let page: Int64 = 500
    private static let (interval, connectedInterval): (Int64, Int64) = (1, 10)

    private let store: StoreAccess
    private let time: TimeSource
    private let state = Mutex(State())

    init(store: StoreAccess, time: TimeSource) {
        self.store = store
        self.time = time
    }

    /// True while messages arrive.
    var isConnected: Bool {
        get { state.withLock(\.isConnected) }
        set { state.withLock { $0.isConnected = newValue } }
    }

    /// Forgets the position, while nobody watches.
    func forget() { state.withLock { $0.position = nil } }

    /// Reads the events since the last look, where it is time for that.
    func find() async -> LiveChanges {
        let now = time.now
        let (position, isDue) = state.withLock { state in
            let interval = state.isConnected ? Self.connectedInterval : Self.interval
            // Also where the clock was set back.
            return (state.position, !(0..<interval).contains(now.rawValue - state.lookedAt.rawValue))
        }
        guard position == nil || isDue else { return LiveChanges() }
        guard let position else {
            let last = try? await store.read { db in try db.events.lastNumber() }
            state.withLock { ($0.position, $0.lookedAt) = (last, now) }
            // Streams that began before this position may have missed something.
            return .everything
        }
        let found = try? await store.read { db in try db.events.listSubjects(after: position, limit: Self.page) }
        guard let events = found else { return LiveChanges() }
        let isMore = events.count == Int(Self.page)
        state.withLock { state in
            state.position = events.last?.seq ?? position
            if !isMore { state.lookedAt = now }
        }
        return events.reduce(into: LiveChanges()) { $0.merge(LiveChanges($1)) }
    }
}

extension LiveChanges {
    /// The change of which an event tells.
    fileprivate init(_ event: EventSubject) {
        self.init()
        guard let user = event.user else { return }
        if event.type == EventType.entitlementsChanged.rawValue { users = [user] }
        if let order = ID<Order>(event.subject) { orders[order] = user }
    }
}
