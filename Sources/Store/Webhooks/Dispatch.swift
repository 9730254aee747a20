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

extension EventQueries {
    package func hasUndispatched() throws(StoreError) -> Bool {
        try db.row("SELECT id FROM events WHERE seq IS NULL LIMIT 1") != nil
    }
}

extension EventQueries where Connection == any Transaction {
    /// Lists the oldest events without a number.
    ///
    /// A subquery by key finds each event's predecessor: a join of all events without a number would be quadratic.
    package func listUndispatched(limit: Int64) throws(StoreError) -> DeferredResult<[UndispatchedEvent]> {
        // SQLite would choose the index of all numbers, where all events without one are equal, and sort its result.
        let events = tx.dialect == .sqlite ? "events INDEXED BY events_without_seq" : "events"
        return try tx.deferredRows(
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

    /// Assigns the next numbers to events, in this order.
    ///
    /// - Returns: the first of these numbers.
    package func number(_ events: [UndispatchedEvent]) throws(StoreError) -> Int64 {
        let counter = try tx.rows(
            "UPDATE counters SET value = value + ? WHERE name = 'event' RETURNING value", [events.count])
        guard let last = try counter.first?.int("value") else { throw .corrupt("there is no counter of events") }
        let first = last - Int64(events.count) + 1
        let numbered = try Chunks.of(events.count).map { chunk throws(StoreError) in
            let values = Array(repeating: "(?, ?)", count: chunk.count).joined(separator: ", ")
            let bound = chunk.flatMap { [events[$0].id, first + Int64($0)] as [any SQLBindable] }
            return try tx.deferredExecute(
                "WITH v (id, seq) AS (VALUES \(values)) UPDATE events SET seq = v.seq FROM v WHERE events.id = v.id",
                bound)
        }
        let counts = try numbered.map { touched throws(StoreError) in try touched.value() }
        guard counts.reduce(0, +) == events.count else { throw .corrupt("an event is gone") }
        return first
    }
}
