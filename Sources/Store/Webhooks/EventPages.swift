package import Domain

/// An event of the outbox with the number that the dispatcher assigned.
package struct NumberedEvent: Sendable {
    package let id: ID<Event>
    package let seq: Int64
    package let sequence: Int64
    package let type: String
    package let subject: String
    package let at: Timestamp
    /// JSON text with internal user ids.
    package let data: String
}

/// A page of the outbox: the events that a reader may see, and the position of the next page.
package struct EventPage: Sendable {
    package let events: [NumberedEvent]
    /// The number after which the next page begins; nil at the end of the numbered events.
    package let next: Int64?
}

extension EventQueries {
    /// Lists up to `limit` events after a number, oldest first, of these types, and of no partner or this one.
    ///
    /// At most `window` events are examined, so a page can be short, or empty, although more follow.
    package func list(
        after seq: Int64, types: [String], visibleTo partner: String, limit: Int64, window: Int64
    ) throws(StoreError) -> EventPage {
        guard !types.isEmpty else { return EventPage(events: [], next: nil) }
        let marks = Array(repeating: "?", count: types.count).joined(separator: ", ")
        var arguments: [any SQLBindable] = [seq, window]
        arguments += types.map { $0 as any SQLBindable } + [partner, limit + 1]
        let found = try db.rows(
            """
            SELECT e.* FROM (SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?) e
            WHERE e.type IN (\(marks)) AND (e.partner IS NULL OR e.partner = ?) ORDER BY e.seq LIMIT ?
            """, arguments
        ).map(NumberedEvent.init(row:))
        guard found.count <= Int(limit) else {
            let events = Array(found.prefix(Int(limit)))
            return EventPage(events: events, next: events.last?.seq)
        }
        let seen = try db.rows(
            """
            SELECT COUNT(*) AS seen, COALESCE(MAX(w.seq), 0) AS last
            FROM (SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT ?) w
            """, [seq, window])
        guard let end = seen.first, try end.int("seen") == window else { return EventPage(events: found, next: nil) }
        return EventPage(events: found, next: try end.int("last"))
    }
}

/// The subject of an event, for readers who look up its state.
package struct EventSubject: Sendable {
    package let seq: Int64
    package let type: String
    package let subject: String
    /// The user whom the event concerns; nil for none.
    package let user: ID<User>?
}

extension EventQueries {
    /// Lists the subjects of events after a number, oldest first.
    package func listSubjects(after seq: Int64, limit: Int64) throws(StoreError) -> [EventSubject] {
        try db.rows("SELECT seq, type, subject, user_id FROM events WHERE seq > ? ORDER BY seq LIMIT ?", [seq, limit])
            .map { row throws(StoreError) in
                EventSubject(
                    seq: try row.int("seq"), type: try row.text("type"), subject: try row.text("subject"),
                    user: try row.optionalText("user_id").flatMap(ID<User>.init))
            }
    }

    /// Returns the number of the newest numbered event; 0 without one.
    package func lastNumber() throws(StoreError) -> Int64 {
        try db.row("SELECT value FROM counters WHERE name = 'event'")?.int("value") ?? 0
    }

    /// Lists up to `limit` events of all partners after a number, oldest first.
    ///
    /// - Parameter subject: the id that they are about; nil lists all.
    package func list(after seq: Int64, subject: String?, limit: Int64) throws(StoreError) -> EventPage {
        let restriction = subject == nil ? "" : "subject = ? AND "
        let arguments: [any SQLBindable] = (subject.map { [$0] } ?? []) + [seq, limit + 1]
        let found = try db.rows(
            "SELECT * FROM events WHERE \(restriction)seq > ? ORDER BY seq LIMIT ?", arguments
        ).map(NumberedEvent.init(row:))
        guard found.count > Int(limit) else { return EventPage(events: found, next: nil) }
        let events = Array(found.prefix(Int(limit)))
        return EventPage(events: events, next: events.last?.seq)
    }
}

extension NumberedEvent {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), seq: try row.int("seq"), sequence: try row.int("sequence"),
            type: try row.text("type"), subject: try row.text("subject"), at: try row.time("at"),
            data: try row.text("data"))
    }
}
