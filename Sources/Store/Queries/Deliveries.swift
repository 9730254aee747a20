package import Domain

/// A delivery in a list.
package struct DeliveryRecord: Sendable {
    package let id: ID<Delivery>
    package let webhook: ID<Webhook>
    package let event: ID<Event>
    package let type: String
    package let seq: Int64
    package let state: Delivery.State
    package let attempts: Int64
    package let nextAt: Timestamp?
    package let lastStatus: Int64?
    package let lastError: String?
    package let isFirstDone: Bool
    package let createdAt: Timestamp
    package let doneAt: Timestamp?
}

/// Where a reader of due attempts is: first attempts go by `seq` alone, further ones by the time at which they are due.
package struct AttemptPlace: Sendable, Equatable {
    package let nextAt: Timestamp
    package let seq: Int64

    /// Before everything.
    package static let start = AttemptPlace(nextAt: Timestamp(-1), seq: 0)
}

/// A delivery whose attempt is due, with what it carries.
package struct DueDelivery: Sendable {
    package let id: ID<Delivery>
    package let event: ID<Event>
    package let place: AttemptPlace
    package let subject: String
    /// Those before this one.
    package let attempts: Int64
    package let type: String
    package let at: Timestamp
    package let sequence: Int64
    /// JSON text with internal ids.
    package let data: String
}

/// How an attempt ended.
package struct DeliveryResult: Sendable {
    package let delivery: ID<Delivery>
    package let attempts: Int64
    package let status: Int64?
    /// nil for a success.
    package let fault: Delivery.Fault?
    /// Seconds to the next attempt; nil when there is none.
    package let delay: Int64?

    package init(delivery: ID<Delivery>, attempts: Int64, status: Int64?, fault: Delivery.Fault?, delay: Int64?) {
        self.delivery = delivery
        self.attempts = attempts
        self.status = status
        self.fault = fault
        self.delay = delay
    }
}

/// An endpoint that is switched off has nothing due, even while its deliveries are still being ended.
///
/// - Parameter index: of the kind of attempt that is asked for.
private func dueAttempts(_ dialect: Dialect, by index: String) -> String {
    """
    SELECT d.id, d.event, d.seq, d.subject, d.attempts, d.next_at, e.type, e.at, e.sequence, e.data
    FROM deliveries d\(dialect.indexed(by: index)) JOIN events e ON e.id = d.event JOIN webhooks w ON w.id = d.webhook
    WHERE d.webhook = ? AND w.status = 'enabled' AND d.state = 'pending'
    """
}

extension Database {
    /// First attempts in the order of the events' numbers.
    package func firstAttempts(
        of webhook: ID<Webhook>, after place: AttemptPlace, limit: Int64
    ) throws(StoreError) -> [DueDelivery] {
        try rows(
            dueAttempts(dialect, by: "deliveries_first") + " AND d.first_done = 0 AND d.seq > ? ORDER BY d.seq LIMIT ?",
            [webhook, place.seq, limit]
        ).map { row throws(StoreError) in try Self.dueDelivery(row) }
    }

    /// Further attempts whose time has come, those first that are due the longest.
    package func furtherAttempts(
        of webhook: ID<Webhook>, after place: AttemptPlace, limit: Int64, at now: Timestamp
    ) throws(StoreError) -> [DueDelivery] {
        try rows(
            dueAttempts(dialect, by: "deliveries_again") + """
                 AND d.first_done = 1 AND d.next_at <= \(dialect.clock) AND (d.next_at, d.seq) > (?, ?)
                ORDER BY d.next_at, d.seq LIMIT ?
                """, [webhook, now, place.nextAt, place.seq, limit]
        ).map { row throws(StoreError) in try Self.dueDelivery(row) }
    }

    /// Seconds until the next further attempt of an endpoint is due; nil when there is none.
    package func pauseBeforeFurtherAttempt(of webhook: ID<Webhook>, at now: Timestamp) throws(StoreError) -> Int64? {
        try rows(
            """
            SELECT MIN(d.next_at) - \(dialect.clock) AS pause FROM deliveries d JOIN webhooks w ON w.id = d.webhook
            WHERE d.webhook = ? AND w.status = 'enabled' AND d.state = 'pending' AND d.first_done = 1
            """, [now, webhook]
        ).first?.optionalInt("pause").map { max(0, $0) }
    }

    /// An endpoint's deliveries, those of the newest events first.
    package func deliveries(
        of webhook: ID<Webhook>, before seq: Int64, limit: Int64
    ) throws(StoreError) -> [DeliveryRecord] {
        try rows(
            """
            SELECT d.*, e.type FROM deliveries d JOIN events e ON e.id = d.event
            WHERE d.webhook = ? AND d.seq < ? ORDER BY d.seq DESC LIMIT ?
            """, [webhook, seq, limit]
        ).map { row throws(StoreError) in try Self.delivery(row) }
    }

    package func delivery(_ id: ID<Delivery>) throws(StoreError) -> DeliveryRecord? {
        try row("SELECT d.*, e.type FROM deliveries d JOIN events e ON e.id = d.event WHERE d.id = ?", id)
            .map { row throws(StoreError) in try Self.delivery(row) }
    }

    private static func dueDelivery(_ row: Row) throws(StoreError) -> DueDelivery {
        DueDelivery(
            id: try row.id("id"), event: try row.id("event"),
            place: AttemptPlace(nextAt: try row.time("next_at"), seq: try row.int("seq")),
            subject: try row.text("subject"), attempts: try row.int("attempts"), type: try row.text("type"),
            at: try row.time("at"),
            sequence: try row.int("sequence"), data: try row.text("data"))
    }

    private static func delivery(_ row: Row) throws(StoreError) -> DeliveryRecord {
        DeliveryRecord(
            id: try row.id("id"), webhook: try row.id("webhook"), event: try row.id("event"),
            type: try row.text("type"), seq: try row.int("seq"), state: try row.choice("state"),
            attempts: try row.int("attempts"), nextAt: try row.optionalTime("next_at"),
            lastStatus: try row.optionalInt("last_status"), lastError: try row.optionalText("last_error"),
            isFirstDone: try row.bool("first_done"), createdAt: try row.time("created_at"),
            doneAt: try row.optionalTime("done_at"))
    }
}

extension Transaction {
    /// Records how attempts ended; a delivery that has ended meanwhile is left alone.
    ///
    /// So is one that its partner has begun anew since, unless the event has arrived: its schedule is another one.
    package func record(_ results: [DeliveryResult], at now: Timestamp) throws(StoreError) {
        let time = dialect.clock
        for chunk in Chunks.of(results.count) {
            let values = Array(repeating: "(?, ?, ?, ?, ?, ?)", count: chunk.count).joined(separator: ", ")
            var bound = chunk.flatMap { index -> [any SQLBindable] in
                let result = results[index]
                let state: Delivery.State =
                    result.fault == nil ? .succeeded : result.delay == nil ? .failed : .pending
                return [
                    result.delivery, state.rawValue, result.attempts, result.status ?? -1,
                    result.fault?.rawValue ?? "", result.delay ?? -1,
                ]
            }
            bound += [now, now] as [any SQLBindable]
            try execute(
                """
                WITH v (id, state, attempts, status, error, delay) AS (VALUES \(values))
                UPDATE deliveries SET state = v.state, attempts = v.attempts, last_status = NULLIF(v.status, -1),
                    last_error = NULLIF(v.error, ''), first_done = 1,
                    next_at = CASE WHEN v.state = 'pending' THEN \(time) + v.delay END,
                    done_at = CASE WHEN v.state = 'pending' THEN NULL ELSE \(time) END
                FROM v WHERE deliveries.id = v.id AND deliveries.state = 'pending'
                    AND (v.state = 'succeeded' OR deliveries.attempts >= v.attempts - 1)
                """, bound)
        }
    }

    /// Ends so much of what is under way to an endpoint that is switched off, first attempts in their order.
    ///
    /// - Returns: how many were ended; fewer than the limit means that none is left.
    package func endDeliveries(of webhook: ID<Webhook>, limit: Int64, at now: Timestamp) throws(StoreError) -> Int64 {
        var ended: Int64 = 0
        // One for each partial index: what ended long ago is not passed over again and again.
        for pending in ["first_done = 0 ORDER BY seq", "first_done = 1 ORDER BY next_at"] where ended < limit {
            ended += Int64(
                try run(
                    """
                    UPDATE deliveries SET state = 'failed', last_error = ?, next_at = NULL, done_at = ?
                    WHERE id IN (SELECT id FROM deliveries
                        WHERE webhook = ? AND state = 'pending' AND \(pending) LIMIT ?)
                    """, Delivery.Fault.disabled.rawValue, now, webhook, limit - ended))
        }
        return ended
    }

    /// Deletes so many deliveries of an endpoint, whatever their state.
    ///
    /// - Returns: how many were deleted; fewer than the limit means that none is left.
    package func dropDeliveries(of webhook: ID<Webhook>, limit: Int64) throws(StoreError) -> Int64 {
        Int64(
            try run(
                "DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE webhook = ? LIMIT ?)", webhook,
                limit))
    }

    /// Makes another attempt due now, with the whole schedule before it; nothing waits for it.
    ///
    /// One whose first attempt is still to come is left alone.
    package func redeliver(_ id: ID<Delivery>, at now: Timestamp) throws(StoreError) {
        try run(
            """
            UPDATE deliveries SET state = 'pending', attempts = 0, first_done = 1, done_at = NULL,
                next_at = \(dialect.clock)
            WHERE id = ? AND (state <> 'pending' OR first_done = 1)
            """, now, id)
    }
}
