package import Domain

/// A committed event that has no global number yet.
package struct UndispatchedEvent: DispatchOrder.Place, Sendable {
    package let id: ID<Event>
    package let subject: String
    package let sequence: Int64
    package let follows: Bool
    package let type: EventType
    package let partner: String?
}

/// An event that goes to a webhook.
package struct NewDelivery: Sendable {
    package let id: ID<Delivery>
    package let webhook: ID<Webhook>
    package let event: ID<Event>
    package let seq: Int64
    package let subject: String

    package init(id: ID<Delivery>, webhook: ID<Webhook>, event: ID<Event>, seq: Int64, subject: String) {
        self.id = id
        self.webhook = webhook
        self.event = event
        self.seq = seq
        self.subject = subject
    }
}

extension Database {
    package func hasUndispatchedEvents() throws(StoreError) -> Bool {
        try row("SELECT id FROM events WHERE seq IS NULL LIMIT 1") != nil
    }
}

extension Transaction {
    /// The oldest events without a number.
    ///
    /// One look for each event at the one before it, by its key: a join of all that have no number is quadratic in them.
    package func undispatchedEvents(limit: Int64) throws(StoreError) -> Pending<[UndispatchedEvent]> {
        // SQLite prefers the index of all numbers, whose empty ones are all others', and sorts what it finds.
        let events = dialect == .sqlite ? "events INDEXED BY events_without_seq" : "events"
        return try ask(
            """
            SELECT id, subject, sequence, type, partner,
                   COALESCE((SELECT CASE WHEN earlier.seq IS NULL THEN 1 ELSE 0 END FROM events earlier
                             WHERE earlier.subject = events.subject AND earlier.sequence = events.sequence - 1), 0)
                   AS follows
            FROM \(events) WHERE seq IS NULL ORDER BY id LIMIT ?
            """, limit
        ).each { row throws(StoreError) in
            UndispatchedEvent(
                id: try row.id("id"), subject: try row.text("subject"), sequence: try row.int("sequence"),
                follows: try row.bool("follows"), type: try row.choice("type"),
                partner: try row.optionalText("partner"))
        }
    }

    /// Gives events, in this order, the next numbers.
    ///
    /// - Returns: the first of these numbers.
    package func number(_ events: [UndispatchedEvent]) throws(StoreError) -> Int64 {
        let counter = try rows(
            "UPDATE counters SET value = value + ? WHERE name = 'event' RETURNING value", [events.count])
        guard let last = try counter.first?.int("value") else { throw .corrupt("there is no counter of events") }
        let first = last - Int64(events.count) + 1
        let numbered = try Chunks.of(events.count).map { chunk throws(StoreError) in
            let values = Array(repeating: "(?, ?)", count: chunk.count).joined(separator: ", ")
            let bound = chunk.flatMap { [events[$0].id, first + Int64($0)] as [any SQLBindable] }
            return try askTouched(
                "WITH v (id, seq) AS (VALUES \(values)) UPDATE events SET seq = v.seq FROM v WHERE events.id = v.id",
                bound)
        }
        let counts = try numbered.map { touched throws(StoreError) in try touched.value() }
        guard counts.reduce(0, +) == events.count else { throw .corrupt("an event is gone") }
        return first
    }

    package func insertDeliveries(_ deliveries: [NewDelivery], at now: Timestamp) throws(StoreError) {
        for chunk in Chunks.of(deliveries.count) {
            let row = "(?, ?, ?, ?, ?, 'pending', ?, ?)"
            let bound = chunk.flatMap { index -> [any SQLBindable] in
                let delivery = deliveries[index]
                return [
                    delivery.id, delivery.webhook, delivery.event, delivery.seq, delivery.subject, now, now,
                ]
            }
            try enqueue(
                """
                INSERT INTO deliveries (id, webhook, event, seq, subject, state, next_at, created_at)
                VALUES \(Array(repeating: row, count: chunk.count).joined(separator: ", "))
                ON CONFLICT (webhook, event) DO NOTHING
                """, bound)
        }
    }
}

/// Many rows in few statements, of few different lengths, so that the engines can keep them prepared.
enum Chunks {
    private static let sizes = [100, 10, 1]

    static func of(_ count: Int) -> [Range<Int>] {
        var chunks: [Range<Int>] = []
        var start = 0
        for size in sizes {
            while count - start >= size {
                chunks.append(start..<start + size)
                start += size
            }
        }
        return chunks
    }
}
