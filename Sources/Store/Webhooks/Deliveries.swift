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

/// The position of a reader of due attempts: first attempts are read by `seq` alone, retries by their due time.
package struct AttemptPosition: Sendable, Equatable {
    package let nextAt: Timestamp
    package let seq: Int64

    /// The position before all attempts.
    package static let start = AttemptPosition(nextAt: Timestamp(-1), seq: 0)
}

/// A delivery whose attempt is due, with its event.
package struct DueDelivery: Sendable {
    package let id: ID<Delivery>
    package let event: ID<Event>
    package let position: AttemptPosition
    package let subject: String
    /// The number of earlier attempts.
    package let attempts: Int64
    package let type: String
    package let at: Timestamp
    package let sequence: Int64
    /// JSON text with internal ids.
    package let data: String
    /// The trace of the request that made the event, in its stored form.
    package let trace: String?
}

/// The outcome of an attempt.
package struct DeliveryResult: Sendable {
    package let delivery: ID<Delivery>
    package let attempts: Int64
    package let status: Int64?
    /// nil for a success.
    package let fault: Delivery.Fault?
    /// The seconds to the next attempt; nil when there is none.
    package let delay: Int64?
    /// The attempt as an item of the delivery's history, JSON text; empty where none was made.
    package let history: String

    package init(
        delivery: ID<Delivery>, attempts: Int64, status: Int64?, fault: Delivery.Fault?, delay: Int64?,
        history: String = ""
    ) {
        self.history = history
        self.delivery = delivery
        self.attempts = attempts
        self.status = status
        self.fault = fault
        self.delay = delay
    }
}

/// An event to be delivered to a webhook.
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

/// Deliveries of events to webhook endpoints.
///
/// `db.deliveries` reads; `tx.deliveries` also writes.
package struct DeliveryQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var deliveries: DeliveryQueries<any Database> { DeliveryQueries(db: self, tx: self) }
}

extension Transaction {
    package var deliveries: DeliveryQueries<any Transaction> { DeliveryQueries(db: self, tx: self) }
}

extension DeliveryQueries {
    /// Lists first attempts in the order of the events' numbers.
    package func listFirstAttempts(
        of webhook: ID<Webhook>, after position: AttemptPosition, limit: Int64
    ) throws(StoreError) -> [DueDelivery] {
        try db.rows(
            dueAttempts(db.dialect, by: "deliveries_first")
                + " AND d.first_done = 0 AND d.seq > ? ORDER BY d.seq LIMIT ?",
            [webhook, position.seq, limit]
        ).map(DueDelivery.init(row:))
    }

    /// Lists due retries, longest due first.
    package func listRetries(
        of webhook: ID<Webhook>, after position: AttemptPosition, limit: Int64, at now: Timestamp
    ) throws(StoreError) -> [DueDelivery] {
        try db.rows(
            dueAttempts(db.dialect, by: "deliveries_again") + """
                 AND d.first_done = 1 AND d.next_at <= \(db.dialect.businessClock) AND (d.next_at, d.seq) > (?, ?)
                ORDER BY d.next_at, d.seq LIMIT ?
                """, [webhook, now, position.nextAt, position.seq, limit]
        ).map(DueDelivery.init(row:))
    }

    /// The seconds until the next retry of an endpoint is due; nil when there is none.
    package func secondsToRetry(of webhook: ID<Webhook>, at now: Timestamp) throws(StoreError) -> Int64? {
        try db.rows(
            """
            SELECT MIN(d.next_at) - \(db.dialect.businessClock) AS pause FROM deliveries d JOIN webhooks w ON w.id = d.webhook
            WHERE d.webhook = ? AND w.status = 'enabled' AND d.state = 'pending' AND d.first_done = 1
            """, [now, webhook]
        ).first?.optionalInt("pause").map { max(0, $0) }
    }

    /// Lists an endpoint's deliveries, those of the newest events first.
    package func list(
        of webhook: ID<Webhook>, before seq: Int64, limit: Int64
    ) throws(StoreError) -> [DeliveryRecord] {
        try db.rows(
            """
            SELECT d.*, e.type FROM deliveries d JOIN events e ON e.id = d.event
            WHERE d.webhook = ? AND d.seq < ? ORDER BY d.seq DESC LIMIT ?
            """, [webhook, seq, limit]
        ).map(DeliveryRecord.init(row:))
    }

    /// The attempts of a delivery, oldest first, as JSON text.
    package func history(of id: ID<Delivery>) throws(StoreError) -> String? {
        try db.row("SELECT history FROM deliveries WHERE id = ?", id)?.text("history")
    }

    package func find(_ id: ID<Delivery>) throws(StoreError) -> DeliveryRecord? {
        try db.row("SELECT d.*, e.type FROM deliveries d JOIN events e ON e.id = d.event WHERE d.id = ?", id)
            .map(DeliveryRecord.init(row:))
    }
}

extension DeliveryQueries where Connection == any Transaction {
    /// The characters of a history beyond which no attempt is added; a redelivery begins its attempts anew.
    private static var historyLimit: Int { 100_000 }

    /// Records the outcomes of attempts; a delivery that has ended meanwhile is left unchanged.
    ///
    /// A delivery that was redelivered meanwhile is left unchanged as well, unless this attempt succeeded, because its
    /// schedule has begun anew.
    package func record(_ results: [DeliveryResult], at now: Timestamp) throws(StoreError) {
        let time = tx.dialect.businessClock
        for chunk in Chunks.of(results.count) {
            let values = Array(repeating: "(?, ?, ?, ?, ?, ?, ?)", count: chunk.count).joined(separator: ", ")
            let limit = Self.historyLimit
            var bound = chunk.flatMap { index -> [any SQLBindable] in
                let result = results[index]
                let state: Delivery.State =
                    result.fault == nil ? .succeeded : result.delay == nil ? .failed : .pending
                return [
                    result.delivery, state.rawValue, result.attempts, result.status ?? -1,
                    result.fault?.rawValue ?? "", result.delay ?? -1, result.history,
                ]
            }
            bound += [now, now] as [any SQLBindable]
            try tx.execute(
                """
                WITH v (id, state, attempts, status, error, delay, item) AS (VALUES \(values))
                UPDATE deliveries SET state = v.state, attempts = v.attempts, last_status = NULLIF(v.status, -1),
                    last_error = NULLIF(v.error, ''), first_done = 1,
                    history = CASE WHEN v.item = '' THEN history WHEN history = '[]' THEN '[' || v.item || ']'
                        WHEN length(history) > \(limit) THEN history
                        ELSE substr(history, 1, length(history) - 1) || ',' || v.item || ']' END,
                    next_at = CASE WHEN v.state = 'pending' THEN \(time) + v.delay END,
                    done_at = CASE WHEN v.state = 'pending' THEN NULL ELSE \(time) END
                FROM v WHERE deliveries.id = v.id AND deliveries.state = 'pending'
                    AND (v.state = 'succeeded' OR deliveries.attempts >= v.attempts - 1)
                """, bound)
        }
    }

    /// Ends up to `limit` pending deliveries of a disabled endpoint, first attempts in their order.
    ///
    /// - Returns: the number of ended deliveries; fewer than the limit means that none is left.
    package func end(of webhook: ID<Webhook>, limit: Int64, at now: Timestamp) throws(StoreError) -> Int64 {
        var ended: Int64 = 0
        // One statement for each partial index, so that deliveries that ended long ago are not read again and again.
        for pending in ["first_done = 0 ORDER BY seq", "first_done = 1 ORDER BY next_at"] where ended < limit {
            ended += Int64(
                try tx.execute(
                    """
                    UPDATE deliveries SET state = 'failed', last_error = ?, next_at = NULL, done_at = ?
                    WHERE id IN (SELECT id FROM deliveries
                        WHERE webhook = ? AND state = 'pending' AND \(pending) LIMIT ?)
                    """, Delivery.Fault.disabled.rawValue, now, webhook, limit - ended))
        }
        return ended
    }

    /// Deletes up to `limit` deliveries of an endpoint, whatever their state.
    ///
    /// - Returns: the number of deleted deliveries; fewer than the limit means that none is left.
    package func delete(of webhook: ID<Webhook>, limit: Int64) throws(StoreError) -> Int64 {
        Int64(
            try tx.execute(
                "DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE webhook = ? LIMIT ?)", webhook,
                limit))
    }

    /// Makes another attempt due now and begins the delivery's schedule anew.
    ///
    /// A delivery whose first attempt has not been made is left unchanged.
    package func redeliver(_ id: ID<Delivery>, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            """
            UPDATE deliveries SET state = 'pending', attempts = 0, first_done = 1, done_at = NULL,
                next_at = \(tx.dialect.businessClock)
            WHERE id = ? AND (state <> 'pending' OR first_done = 1)
            """, now, id)
    }

    package func insert(_ deliveries: [NewDelivery], at now: Timestamp) throws(StoreError) {
        for chunk in Chunks.of(deliveries.count) {
            let row = "(?, ?, ?, ?, ?, 'pending', ?, ?)"
            let bound = chunk.flatMap { index -> [any SQLBindable] in
                let delivery = deliveries[index]
                return [
                    delivery.id, delivery.webhook, delivery.event, delivery.seq, delivery.subject, now, now,
                ]
            }
            try tx.enqueue(
                """
                INSERT INTO deliveries (id, webhook, event, seq, subject, state, next_at, created_at)
                VALUES \(Array(repeating: row, count: chunk.count).joined(separator: ", "))
                ON CONFLICT (webhook, event) DO NOTHING
                """, bound)
        }
    }
}

extension DueDelivery {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), event: try row.id("event"),
            position: AttemptPosition(nextAt: try row.time("next_at"), seq: try row.int("seq")),
            subject: try row.text("subject"), attempts: try row.int("attempts"), type: try row.text("type"),
            at: try row.time("at"),
            sequence: try row.int("sequence"), data: try row.text("data"), trace: try row.optionalText("trace"))
    }
}

extension DeliveryRecord {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), webhook: try row.id("webhook"), event: try row.id("event"),
            type: try row.text("type"), seq: try row.int("seq"), state: try row.choice("state"),
            attempts: try row.int("attempts"), nextAt: try row.optionalTime("next_at"),
            lastStatus: try row.optionalInt("last_status"), lastError: try row.optionalText("last_error"),
            isFirstDone: try row.bool("first_done"), createdAt: try row.time("created_at"),
            doneAt: try row.optionalTime("done_at"))
    }
}

/// The query of due attempts; a disabled endpoint has none, even while its deliveries are still being ended.
///
/// - Parameter index: the index for first attempts or that for retries.
private func dueAttempts(_ dialect: Dialect, by index: String) -> String {
    """
    SELECT d.id, d.event, d.seq, d.subject, d.attempts, d.next_at, e.type, e.at, e.sequence, e.data, e.trace
    FROM deliveries d\(dialect.indexed(by: index)) JOIN events e ON e.id = d.event JOIN webhooks w ON w.id = d.webhook
    WHERE d.webhook = ? AND w.status = 'enabled' AND d.state = 'pending'
    """
}
