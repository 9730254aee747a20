package import Domain
import Logging
import Store
import Synchronization

/// The live streams of this node: it looks at what changed, here and on other nodes, and tells the clients.
///
/// A stream that falls behind gets the newest state in the place of every one; `docs/architecture.md` describes the way
/// of a change.
package final class LiveStreams: Sendable {
    /// The most streams of a user on a node.
    package static let perUser = 5
    /// The seconds after which a client that was refused may try again.
    private static let retryAfter: Int64 = 5
    private static let channel = "live_changes"
    /// The most users that are read at once.
    private static let width = 4

    private let store: StoreAccess
    private let entitlements: Entitlements
    private let time: BusinessTime
    private let clock: NodeClock?
    private let inbox: LiveInbox
    private let catchUp: LiveCatchUp
    private let limit: Int
    /// The name of this node in its messages.
    private let name: String
    private let seats = Mutex(LiveSeats())

    /// - Parameters:
    ///   - clock: is read again where another node may move it; nil for a clock that stands.
    ///   - limit: the most streams of this node; 0 for none at all.
    init(
        store: StoreAccess, entitlements: Entitlements, time: BusinessTime, clock: NodeClock?, inbox: LiveInbox,
        limit: Int, random: RandomSource
    ) {
        self.store = store
        self.entitlements = entitlements
        self.time = time
        self.clock = clock
        self.inbox = inbox
        self.limit = limit
        name = Hex.encoded(random.bytes(8))
        catchUp = LiveCatchUp(store: store, time: time.real)
    }

    /// The number of open streams.
    package var count: Int { seats.withLock(\.count) }

    private var isShared: Bool { store.database.engine.dialect == .postgres }

    // MARK: Streams

    /// Opens a stream, which begins with the user's entitlements of now.
    ///
    /// - Parameters:
    ///   - id: the internal id where the caller knows it.
    ///   - until: the real time at which the caller's token or session ends.
    /// - Throws: `notFound` where streams are switched off, `rateLimited`, `temporarilyUnavailable`.
    package func open(
        _ user: ExternalUserID, _ audience: LiveAudience, id: ID<User>? = nil, until: Timestamp
    ) async throws(GatewayError) -> LiveSubscription {
        guard limit > 0 else { throw .notFound }
        let stream = LiveStream(audience)
        let now = time.real.milliseconds()
        let place = seats.withLock { seats -> Result<Int, GatewayError> in
            guard !seats.isClosed else { return .failure(.temporarilyUnavailable(retryAfter: 1)) }
            guard seats.count < limit, seats.streams(of: user).count < Self.perUser else {
                return .failure(.rateLimited(retryAfter: Self.retryAfter))
            }
            return .success(seats.add(stream, of: user, id, until: until, at: now))
        }
        let number = try place.get()
        // Its times are checked from now on.
        inbox.signal.notify()
        // Made before the first read, so that a failure of it gives the place back.
        let subscription = LiveSubscription(stream) { [weak self] in
            self?.seats.withLock { $0.remove(number, of: user) }
        }
        if audience.showsEntitlements { try await look(at: user, orders: []) }
        return subscription
    }

    /// Ends every stream; later ones are refused.
    package func close() { seats.withLock { $0.close() } }

    // MARK: Changes

    /// Hears the changes of other nodes until the task is cancelled; returns at once where there are none.
    func listen() async {
        await store.database.engine.listen(to: Self.channel) { [self] message in
            switch message {
            case .connected:
                catchUp.isConnected = true
                inbox.hear(.everything)
            case .disconnected: catchUp.isConnected = false
            case .text(let text): if let changes = LiveChanges(message: text, to: name) { inbox.hear(changes) }
            }
        }
    }

    /// Looks once at everything that changed, and at what time makes due.
    ///
    /// A change that cannot be read now is looked at in the next pass.
    package func pass() async {
        let (own, others) = inbox.empty()
        await announce(own)
        guard count > 0 else { return catchUp.forget() }
        var changes = own
        changes.merge(others)
        if isShared {
            changes.merge(await catchUp.find())
            if let clock, let state = try? await store.read({ db in try db.clock.find() }) { clock.adopt(state) }
        }
        await meet(changes)
        let due = seats.withLock { [time] seats in
            seats.due(changes, at: time.reading, milliseconds: time.real.milliseconds())
        }
        for session in due.sessions { await recheck(session) }
        await Self.each(due.boundaries) { [self] user in
            // After a failure the boundary is due again in the next pass.
            try? await entitlements.announceBoundaries(of: user)
        }
        await Self.each(due.users) { [self] name, orders in
            do throws(GatewayError) { try await look(at: name, orders: orders) } catch { putBack(name, orders) }
        }
    }

    /// Tells the other nodes what changed here; one that misses it finds it by its events.
    private func announce(_ changes: LiveChanges) async {
        guard isShared, !changes.isEmpty else { return }
        let messages = changes.messages(from: name, limit: StoreLimits.message)
        try? await store.write { tx in for message in messages { try tx.send(message, to: Self.channel) } }
    }

    /// Finds the users of streams that began before the user was known.
    private func meet(_ changes: LiveChanges) async {
        let strangers = seats.withLock { $0.strangers(in: changes) }
        guard !strangers.isEmpty else { return }
        guard let names = try? await store.read({ db in try db.users.listExternalIDs(strangers) }) else {
            return inbox.putBack(changes)
        }
        seats.withLock { seats in
            for (id, name) in names { if let name = ExternalUserID(name) { seats.learn(id, of: name) } }
        }
    }

    private func putBack(_ name: ExternalUserID, _ orders: [ID<Order>]) {
        guard let id = seats.withLock({ $0.rows[name]?.id }) else { return }
        var changes = LiveChanges()
        changes.users = [id]
        for order in orders { changes.orders[order] = id }
        inbox.putBack(changes)
    }

    /// Ends the streams of a session that is over; an order may have made the session longer.
    private func recheck(_ id: ID<Session>) async {
        guard let session = try? await store.read({ db in try db.sessions.find(id) }) else { return }
        if session.isReadable(at: time.real.now) {
            return seats.withLock { $0.extend(id, until: session.readableUntil) }
        }
        for stream in seats.withLock({ $0.streams(of: id) }) { stream.end(session.endedAt == nil ? .expired : .ended) }
    }

    private static func each<Item: Sendable>(
        _ items: some Sequence<Item>, _ work: @escaping @Sendable (Item) async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            for part in Chunked.parts(Array(items), width) {
                group.addTask { for item in part { await work(item) } }
            }
        }
    }

    // MARK: A user's state

    /// Reads what a user's streams show and shows what is new of it.
    private func look(at name: ExternalUserID, orders: [ID<Order>]) async throws(GatewayError) {
        let (known, streams) = seats.withLock { ($0.rows[name]?.id, $0.streams(of: name)) }
        guard !streams.isEmpty else { return }
        let sessions = streams.compactMap { stream in
            if case .checkout(let session) = stream.audience { session } else { nil }
        }
        let state = try await store.read { db in try LiveState(of: name, orders, madeBy: sessions, from: db) }
        if let known, state.user != known { return seats.withLock { $0.end(name, .erased) } }
        if let user = state.user { seats.withLock { $0.learn(user, of: name) } }
        if streams.contains(where: \.audience.showsEntitlements) {
            let snapshot = try await entitlements.find(user: name).value
            seats.withLock { $0.setNextChange(snapshot.next_change_at, of: name) }
            let entitlements = LiveEntitlements(snapshot)
            for stream in streams where stream.audience.showsEntitlements { stream.show(entitlements) }
        }
        for (order, makers) in state.orders {
            for stream in streams {
                if case .checkout(let session) = stream.audience, !makers.contains(session) { continue }
                stream.show(order)
            }
        }
    }
}

/// The state that the streams of a user show, beside the entitlements.
private struct LiveState {
    /// The internal id; nil for a user who is not known.
    let user: ID<User>?
    /// The orders that can be shown, each with those of the sessions that made it.
    let orders: [(order: LiveOrder, makers: Set<ID<Session>>)]

    init(
        of name: ExternalUserID, _ ids: [ID<Order>], madeBy sessions: [ID<Session>], from db: any Database
    ) throws {
        let user = try db.users.findID(name)
        self.user = user
        orders = try ids.compactMap { id in
            guard let snapshot = try OrderSnapshot.load(id, from: db, audience: .user), snapshot.user == user,
                !snapshot.isBeingOpened
            else { return nil }
            let order = LiveOrder(id: id, status: snapshot.status.rawValue, next_action: snapshot.nextAction)
            return (order, Set(try sessions.filter { try db.sessions.hasMade(id, $0) }))
        }
    }
}

extension OrderSnapshot {
    /// True while the call that opens the newest attempt runs, which ends in another state within seconds.
    fileprivate var isBeingOpened: Bool {
        nextAction == .wait && payments.last?.status == Payment.State.created.rawValue
    }
}

/// Divides work among a few tasks.
private enum Chunked {
    static func parts<Item>(_ items: [Item], _ count: Int) -> [[Item]] {
        (0..<count).map { part in
            stride(from: part, to: items.count, by: count).map { items[$0] }
        }.filter { !$0.isEmpty }
    }
}
