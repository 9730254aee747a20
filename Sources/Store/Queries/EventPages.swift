package import Domain

/// An event of the outbox as a reader finds it, under the number that the dispatcher gave it.
package struct NumberedEvent: Sendable {
    package let id: ID<Event>
    package let seq: Int64
    package let sequence: Int64
    package let type: String
    package let subject: String
    package let at: Timestamp
    /// JSON text; people are named by their internal id.
    package let data: String
}

/// A piece of the outbox: what of it a reader may see, and where the next piece begins.
package struct EventPage: Sendable {
    package let events: [NumberedEvent]
    /// nil where nothing more is numbered yet.
    package let next: Int64?
}

extension Database {
    /// Up to `limit` events after a number, oldest first: those of some types that belong to nobody or to a partner.
    ///
    /// No more than `window` events are looked at, so a page can be short, or empty, although more follow.
    package func events(
        after seq: Int64, types: [String], visibleTo partner: String, limit: Int64, window: Int64
    ) throws(StoreError) -> EventPage {
        guard !types.isEmpty else { return EventPage(events: [], next: nil) }
        let places = Array(repeating: "?", count: types.count).joined(separator: ", ")
        var arguments: [any SQLBindable] = [seq, window]
        arguments += types.map { $0 as any SQLBindable } + [partner, limit + 1]
        let found = try rows(
            """
            SELECT e.* FROM (SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?) e
            WHERE e.type IN (\(places)) AND (e.partner IS NULL OR e.partner = ?) ORDER BY e.seq LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in try Self.numberedEvent(row) }
        guard found.count <= Int(limit) else {
            let events = Array(found.prefix(Int(limit)))
            return EventPage(events: events, next: events.last?.seq)
        }
        let seen = try rows(
            """
            SELECT COUNT(*) AS seen, COALESCE(MAX(w.seq), 0) AS last
            FROM (SELECT seq FROM events WHERE seq > ? ORDER BY seq LIMIT ?) w
            """, [seq, window])
        guard let end = seen.first, try end.int("seen") == window else { return EventPage(events: found, next: nil) }
        return EventPage(events: found, next: try end.int("last"))
    }

    private static func numberedEvent(_ row: Row) throws(StoreError) -> NumberedEvent {
        NumberedEvent(
            id: try row.id("id"), seq: try row.int("seq"), sequence: try row.int("sequence"),
            type: try row.text("type"), subject: try row.text("subject"), at: try row.time("at"),
            data: try row.text("data"))
    }
}
