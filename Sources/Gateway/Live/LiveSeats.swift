import Domain
import Store

/// The streams of this node by their users, and the times at which something is due.
struct LiveSeats {
    struct Seat {
        let number: Int
        let stream: LiveStream
        /// The real time at which the token or session ends.
        var until: Timestamp
        /// The real time of the next comment, in milliseconds.
        var commentAt: Int64
    }

    struct Row {
        /// The internal id; nil while the user is unknown.
        var id: ID<User>?
        var seats: [Seat] = []
        /// The business time at which time alone changes the entitlements.
        var nextChange: Timestamp?
    }

    /// The work of a pass.
    struct Due {
        /// The users whose state is to be read, with the changed orders.
        var users: [ExternalUserID: [ID<Order>]] = [:]
        /// The users with a boundary of time that has passed.
        var boundaries: Set<ID<User>> = []
        /// The sessions whose end is to be read.
        var sessions: Set<ID<Session>> = []
    }

    /// The interval of comments in milliseconds.
    private static let commentInterval: Int64 = 15_000

    private(set) var rows: [ExternalUserID: Row] = [:]
    private var names: [ID<User>: ExternalUserID] = [:]
    private(set) var count = 0
    private var made = 0
    var isClosed = false

    func streams(of name: ExternalUserID) -> [LiveStream] { rows[name]?.seats.map(\.stream) ?? [] }

    mutating func add(
        _ stream: LiveStream, of name: ExternalUserID, _ id: ID<User>?, until: Timestamp, at now: Int64
    ) -> Int {
        made += 1
        count += 1
        rows[name, default: Row()].seats.append(
            Seat(number: made, stream: stream, until: until, commentAt: now + Self.commentInterval))
        if let id { learn(id, of: name) }
        return made
    }

    mutating func remove(_ number: Int, of name: ExternalUserID) {
        guard var row = rows[name], let index = row.seats.firstIndex(where: { $0.number == number }) else { return }
        row.seats.remove(at: index)
        count -= 1
        rows[name] = row.seats.isEmpty ? nil : row
        if row.seats.isEmpty, let id = row.id { names[id] = nil }
    }

    mutating func learn(_ id: ID<User>, of name: ExternalUserID) {
        guard rows[name] != nil else { return }
        rows[name]?.id = id
        names[id] = name
    }

    mutating func setNextChange(_ time: Timestamp?, of name: ExternalUserID) {
        guard rows[name] != nil else { return }
        rows[name]?.nextChange = time
    }

    mutating func extend(_ session: ID<Session>, until: Timestamp) {
        for (name, row) in rows {
            for index in row.seats.indices where row.seats[index].stream.audience.session == session {
                rows[name]?.seats[index].until = until
            }
        }
    }

    /// The streams of a session.
    func streams(of session: ID<Session>) -> [LiveStream] {
        rows.values.flatMap(\.seats).filter { $0.stream.audience.session == session }.map(\.stream)
    }

    /// The users of a change whose streams may have begun before anything was known of the user.
    func strangers(in changes: LiveChanges) -> [ID<User>] {
        guard rows.values.contains(where: { $0.id == nil }) else { return [] }
        return changes.users.union(changes.orders.values).filter { names[$0] == nil }.sorted()
    }

    /// Ends what changes ended, and collects what they and the time make due.
    mutating func due(_ changes: LiveChanges, at now: ClockReading, milliseconds: Int64) -> Due {
        var due = Due()
        for user in changes.erased { names[user].map { end($0, .erased) } }
        for session in changes.sessions { for stream in streams(of: session) { stream.end(.ended) } }
        for user in changes.users { if let name = names[user] { due.users[name, default: []] += [] } }
        for (order, user) in changes.orders { if let name = names[user] { due.users[name, default: []].append(order) } }
        for (name, row) in rows {
            if changes.isEverything {
                due.users[name, default: []] += Set(row.seats.flatMap(\.stream.knownOrders))
                due.sessions.formUnion(row.seats.compactMap(\.stream.audience.session))
            }
            if let id = row.id, let change = row.nextChange, change <= now.business { due.boundaries.insert(id) }
            for index in row.seats.indices {
                let seat = row.seats[index]
                if seat.until <= now.real {
                    if let session = seat.stream.audience.session {
                        due.sessions.insert(session)
                    } else {
                        seat.stream.end(.expired)
                    }
                }
                guard seat.commentAt <= milliseconds else { continue }
                seat.stream.comment()
                rows[name]?.seats[index].commentAt = milliseconds + Self.commentInterval
            }
        }
        return due
    }

    func end(_ name: ExternalUserID, _ reason: LiveEnd) {
        for stream in streams(of: name) { stream.end(reason) }
    }

    mutating func close() {
        isClosed = true
        for name in rows.keys { end(name, .shutdown) }
    }
}
