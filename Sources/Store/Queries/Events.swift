package import Domain

/// One entry of the outbox: a subject's whole state after a change.
package struct EventRecord: Sendable {
    package let id: ID<Event>
    package let subject: String
    package let type: EventType
    package let user: ID<User>?
    package let partner: String?
    package let at: Timestamp
    /// JSON text; people are named by their internal id.
    package let data: String

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

extension Transaction {
    /// Appends an event under the next number of its subject; the caller holds the subject's row lock.
    package func appendEvent(_ event: EventRecord) throws(StoreError) {
        try send(
            """
            INSERT INTO events (id, subject, sequence, type, user_id, partner, at, data)
            VALUES (?, ?, (SELECT COALESCE(MAX(sequence), 0) + 1 FROM events WHERE subject = ?), ?, ?, ?, ?, ?)
            """,
            event.id, event.subject, event.subject, event.type.rawValue, event.user, event.partner, event.at, event.data
        )
    }
}

extension Database {
    /// The types of a subject's events in their order.
    package func eventTypes(of subject: String) throws(StoreError) -> [String] {
        try rows("SELECT type FROM events WHERE subject = ? ORDER BY sequence", [subject])
            .map { row throws(StoreError) in try row.text("type") }
    }
}
