package import Domain
package import FoundationEssentials

/// A notification to insert into the inbox.
package struct NotificationRecord: Sendable {
    package let id: ID<Domain.Notification>
    package let account: AccountID
    package let eventID: String
    package let type: String
    /// The verified facts as JSON text.
    package let facts: String
    /// The sealed raw body; deleted after the retention time.
    package let body: Data
    package let headers: Data
    /// SHA-256 of the raw body.
    package let digest: Data
    package let receivedAt: Timestamp
    /// The reason of a refusal, from a closed set; nil for a notification that was accepted.
    package let refusal: String?

    package init(
        id: ID<Domain.Notification>, account: AccountID, eventID: String, type: String, facts: String, body: Data,
        headers: Data, digest: Data, receivedAt: Timestamp, refusal: String? = nil
    ) {
        self.id = id
        self.account = account
        self.eventID = eventID
        self.type = type
        self.facts = facts
        self.body = body
        self.headers = headers
        self.digest = digest
        self.receivedAt = receivedAt
        self.refusal = refusal
    }
}

/// A stored notification, as its processing needs it.
package struct StoredNotification: Sendable {
    package let id: ID<Domain.Notification>
    package let account: AccountID
    package let facts: String
    /// True while it is stored and not processed.
    package let isWaiting: Bool
    /// The sealed raw body; nil where it was deleted, and where the notification was not read for processing.
    package let body: Data?
}

/// A notification in a list.
package struct NotificationSummary: Sendable {
    package let id: ID<Domain.Notification>
    package let account: AccountID
    package let type: String
    package let eventID: String
    package let status: Domain.Notification.Status
    package let refusal: String?
    package let receivedAt: Timestamp
    package let processedAt: Timestamp?
}

/// A notification with its raw text, which is deleted after the retention time.
package struct NotificationContent: Sendable {
    package let id: ID<Domain.Notification>
    package let account: AccountID
    package let status: Domain.Notification.Status
    package let body: Data?
    package let headers: Data?
    package let receivedAt: Timestamp
}

/// The limits of an account's refused notifications.
package struct RefusedLimits: Sendable {
    package let count: Int64
    /// The sum of the sizes of sealed bodies and headers.
    package let bytes: Int64

    package init(count: Int64, bytes: Int64) {
        self.count = count
        self.bytes = bytes
    }
}

/// Providers' notifications: the inbox.
///
/// `db.notifications` reads; `tx.notifications` also writes.
package struct NotificationQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var notifications: NotificationQueries<any Database> { NotificationQueries(db: self, tx: self) }
}

extension Transaction {
    package var notifications: NotificationQueries<any Transaction> { NotificationQueries(db: self, tx: self) }
}

extension NotificationQueries {
    /// Returns whether the inbox has this event of an account.
    package func exists(_ account: AccountID, eventID: String) throws(StoreError) -> Bool {
        try db.row(
            "SELECT 1 AS one FROM notifications WHERE account = ? AND provider_event_id = ?", account,
            eventID.firstScalars(255)) != nil
    }

    /// Returns the times at which the last verified notifications of accounts arrived.
    package func lastArrivals(at accounts: [AccountID]) throws(StoreError) -> [AccountID: Timestamp] {
        var times: [AccountID: Timestamp] = [:]
        for account in accounts {
            for status in [Domain.Notification.Status.stored, .processed, .quarantined] {
                let row = try db.row(
                    "SELECT received_at FROM notifications WHERE account = ? AND status = ? ORDER BY id DESC LIMIT 1",
                    account, status.rawValue)
                guard let arrived = try row?.time("received_at") else { continue }
                times[account] = max(times[account] ?? arrived, arrived)
            }
        }
        return times
    }

    /// Lists the notifications of an account, newest first; nil lists all statuses.
    package func list(
        of account: String, _ status: Domain.Notification.Status?, before cursor: String?, limit: Int64
    ) throws(StoreError) -> [NotificationSummary] {
        let statuses = status.map { [$0] } ?? Domain.Notification.Status.allCases
        let part = """
            SELECT id FROM (SELECT id FROM notifications WHERE account = ? AND status = ? AND id < ?
                ORDER BY id DESC LIMIT ?) AS part
            """
        let parts = Array(repeating: part, count: statuses.count).joined(separator: " UNION ALL ")
        let arguments = statuses.flatMap { [account, $0.rawValue, cursor ?? "ntf_~", limit] as [any SQLBindable] }
        return try db.rows(
            Self.summaryColumns + """
                 WHERE id IN (SELECT id FROM (\(parts)) AS parts ORDER BY id DESC LIMIT ?) ORDER BY id DESC
                """, arguments + [limit]
        ).map(NotificationSummary.init(row:))
    }

    /// The verified facts of a notification as JSON text.
    package func findFacts(_ id: ID<Domain.Notification>) throws(StoreError) -> String? {
        try db.row("SELECT facts FROM notifications WHERE id = ?", id)?.text("facts")
    }

    /// Lists notifications, newest first; nil lists all statuses.
    package func list(
        _ status: Domain.Notification.Status?, before cursor: String?, limit: Int64
    ) throws(StoreError) -> [NotificationSummary] {
        var conditions: [String] = []
        var arguments: [any SQLBindable] = []
        if let status {
            conditions.append("status = ?")
            arguments.append(status.rawValue)
        }
        if let cursor {
            conditions.append("id < ?")
            arguments.append(cursor)
        }
        let restriction = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        arguments.append(limit)
        return try db.rows(Self.summaryColumns + restriction + " ORDER BY id DESC LIMIT ?", arguments)
            .map(NotificationSummary.init(row:))
    }

    package func find(_ id: ID<Domain.Notification>) throws(StoreError) -> NotificationSummary? {
        try db.row(Self.summaryColumns + " WHERE id = ?", id).map(NotificationSummary.init(row:))
    }

    package func findRaw(_ id: ID<Domain.Notification>) throws(StoreError) -> NotificationContent? {
        try db.row("SELECT id, account, status, body, headers, received_at FROM notifications WHERE id = ?", id).map {
            row throws(StoreError) in
            NotificationContent(
                id: try row.id("id"), account: try row.account("account"), status: try row.choice("status"),
                body: try row.optionalBlob("body"), headers: try row.optionalBlob("headers"),
                receivedAt: try row.time("received_at"))
        }
    }

    private static var summaryColumns: String {
        "SELECT id, account, type, provider_event_id, status, refusal, received_at, processed_at FROM notifications"
    }
}

extension NotificationQueries where Connection == any Transaction {
    /// Inserts a notification whose verification failed, once for each event id.
    ///
    /// Beyond the limits, unsigned notifications are deleted first, then the oldest.
    ///
    /// - Parameter isSigned: true for a valid signature; such a notification replaces an unsigned one with the same
    ///   event id.
    package func insertRefused(
        _ record: NotificationRecord, isSigned: Bool, limits: RefusedLimits
    ) throws(StoreError) {
        if isSigned {
            try tx.execute(
                """
                DELETE FROM notifications
                WHERE account = ? AND provider_event_id = ? AND status = 'rejected' AND refused_signed = 0
                """, record.account, record.eventID)
        }
        let size = Int64(record.body.count + record.headers.count)
        _ = try insert(record, status: "rejected", refused: (size, isSigned))
        let refused = try tx.rows(
            """
            SELECT id, refused_bytes FROM notifications WHERE status = 'rejected' AND account = ?
            ORDER BY refused_signed DESC, id DESC
            """, [record.account])
        var (count, bytes): (Int64, Int64) = (0, 0)
        for row in refused {
            count += 1
            bytes += try row.int("refused_bytes")
            guard count > limits.count || bytes > limits.bytes else { continue }
            try tx.execute("DELETE FROM notifications WHERE id = ?", try row.id("id", Domain.Notification.self))
        }
    }

    /// Returns the row under which a notification is processed again: its own, or an earlier one with the same event
    /// id.
    ///
    /// - Parameter record: the result of verifying the notification again.
    package func replayTarget(
        of id: ID<Domain.Notification>, as record: NotificationRecord?
    ) throws(StoreError) -> ID<Domain.Notification> {
        guard let record else { return id }
        let earlier = try tx.row(
            "SELECT id FROM notifications WHERE account = ? AND provider_event_id = ?", record.account, record.eventID)
        return try earlier?.id("id", Domain.Notification.self) ?? id
    }

    /// Sets a notification back to `stored` for processing; the caller has locked its job.
    ///
    /// - Parameter record: the result of verifying the notification again; nil leaves the facts.
    package func replay(
        _ id: ID<Domain.Notification>, as record: NotificationRecord?, into target: ID<Domain.Notification>
    ) throws(StoreError) {
        guard let record else {
            try tx.execute("UPDATE notifications SET status = 'stored' WHERE id = ?", id)
            return
        }
        try tx.execute(
            """
            UPDATE notifications SET status = 'stored', refusal = NULL, type = ?, facts = ?, provider_event_id = ?
            WHERE id = ?
            """, record.type, record.facts, record.eventID, target)
        if target != id { try tx.execute("DELETE FROM notifications WHERE id = ? AND status = 'rejected'", id) }
    }

    /// Inserts a notification unless its account has this event already.
    ///
    /// - Parameter refused: the size of a refused notification in bytes, and whether it was signed.
    /// - Returns: true where it was inserted.
    private func insert(
        _ record: NotificationRecord, status: String, refused: (bytes: Int64, isSigned: Bool) = (0, false)
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            INSERT INTO notifications
                (id, account, provider_event_id, type, status, facts, body, headers, digest, received_at, refusal,
                refused_bytes, refused_signed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            record.id, record.account, record.eventID, record.type, status, record.facts, record.body, record.headers,
            record.digest, record.receivedAt, record.refusal, refused.bytes, refused.isSigned) == 1
    }

    /// Inserts a notification once and returns the stored row: this one, or an earlier one of the same event.
    package func insert(_ record: NotificationRecord) throws(StoreError) -> StoredNotification {
        if try insert(record, status: "stored") {
            return StoredNotification(
                id: record.id, account: record.account, facts: record.facts, isWaiting: true, body: nil)
        }
        let stored = try tx.row(
            "SELECT id, account, facts, status FROM notifications WHERE account = ? AND provider_event_id = ?",
            record.account, record.eventID)
        guard let stored else { throw .unavailable("the same notification is being stored") }
        return try StoredNotification(row: stored)
    }

    /// Locks a stored notification until the commit, for processing.
    ///
    /// - Returns: nil when it has been processed already.
    package func lock(_ id: ID<Domain.Notification>) throws(StoreError) -> StoredNotification? {
        let sql = "SELECT id, account, facts, status, body FROM notifications WHERE id = ? AND status = 'stored'"
        return try tx.rows(sql + tx.dialect.forUpdate, [id]).first
            .map { row throws(StoreError) in try StoredNotification(row: row, body: try row.optionalBlob("body")) }
    }

    /// Puts a notification that cannot be processed into quarantine, where an admin sees it.
    package func quarantine(_ id: ID<Domain.Notification>) throws(StoreError) {
        try tx.enqueue("UPDATE notifications SET status = 'quarantined' WHERE id = ? AND status = 'stored'", id)
    }

    /// Takes a notification out of quarantine, when its job is retried.
    package func release(_ id: ID<Domain.Notification>) throws(StoreError) {
        try tx.enqueue("UPDATE notifications SET status = 'stored' WHERE id = ? AND status = 'quarantined'", id)
    }

    package func markProcessed(_ id: ID<Domain.Notification>, at now: Timestamp) throws(StoreError) {
        // The first time stays, because a rebuild from the inbox orders by it.
        try tx.enqueue(
            "UPDATE notifications SET status = 'processed', processed_at = COALESCE(processed_at, ?) WHERE id = ?", now,
            id)
    }
}

extension StoredNotification {
    init(row: Row, body: Data? = nil) throws(StoreError) {
        self.init(
            id: try row.id("id"), account: try row.account("account"), facts: try row.text("facts"),
            isWaiting: try row.text("status") == "stored", body: body)
    }
}

extension NotificationSummary {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), account: try row.account("account"), type: try row.text("type"),
            eventID: try row.text("provider_event_id"), status: try row.choice("status"),
            refusal: try row.optionalText("refusal"), receivedAt: try row.time("received_at"),
            processedAt: try row.optionalTime("processed_at"))
    }
}
