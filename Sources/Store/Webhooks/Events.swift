package import Domain
import FoundationEssentials

/// An entry of the outbox: the whole state of a subject after a change.
package struct EventRecord: Sendable {
    package let id: ID<Event>
    package let subject: String
    package let type: EventType
    package let user: ID<User>?
    package let partner: String?
    package let at: Timestamp
    /// JSON text with internal user ids.
    package let data: String
    /// The trace of the request that made it, in its stored form.
    package var trace: String?

    package init(
        id: ID<Event>, subject: String, type: EventType, user: ID<User>?, partner: String?, at: Timestamp, data: String
    ) {
        self.id = id
        self.subject = subject
        self.type = type
        self.user = user
        self.partner = partner
        self.at = at
        self.data = data
    }
}

/// The outbox of events.
///
/// `db.events` reads; `tx.events` also writes.
package struct EventQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var events: EventQueries<any Database> { EventQueries(db: self, tx: self) }
}

extension Transaction {
    package var events: EventQueries<any Transaction> { EventQueries(db: self, tx: self) }
}

extension EventQueries {
    /// Lists the types of a subject's events in their order.
    package func listTypes(of subject: String) throws(StoreError) -> [String] {
        try db.rows("SELECT type FROM events WHERE subject = ? ORDER BY sequence", [subject])
            .map { row throws(StoreError) in try row.text("type") }
    }
}

extension EventQueries where Connection == any Transaction {
    /// Lists events with free text about a user's orders: the app's metadata, or reasons from earlier releases.
    package func listWithFreeText(of user: ID<User>) throws(StoreError) -> [(id: ID<Event>, data: String)] {
        let found = try tx.rows(
            """
            SELECT id, data FROM events
            WHERE subject IN (
                SELECT o.id FROM orders o WHERE o.user_id = ?
                  AND (o.metadata <> '{}' OR EXISTS (SELECT 1 FROM refunds r WHERE r.order_id = o.id)))
            ORDER BY subject, sequence
            """, [user])
        var events: [(id: ID<Event>, data: String)] = []
        for row in found { events.append((try row.id("id"), try row.text("data"))) }
        return events
    }

    package func update(_ event: ID<Event>, data: String) throws(StoreError) {
        try tx.execute("UPDATE events SET data = ? WHERE id = ?", data, event)
    }

    /// Appends an event under the next number of its subject; the caller holds the subject's row lock.
    package func insert(_ event: EventRecord) throws(StoreError) {
        try tx.enqueue(
            """
            INSERT INTO events (id, subject, sequence, type, user_id, partner, at, data, trace)
            VALUES (?, ?, (SELECT COALESCE(MAX(sequence), 0) + 1 FROM events WHERE subject = ?), ?, ?, ?, ?, ?, ?)
            """,
            event.id, event.subject, event.subject, event.type.rawValue, event.user, event.partner, event.at,
            event.data, event.trace)
    }
}
