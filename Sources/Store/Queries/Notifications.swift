package import Domain
package import FoundationEssentials

/// A verified notification as the inbox keeps it.
package struct NotificationRecord: Sendable {
    package let id: ID<Domain.Notification>
    package let account: AccountID
    package let eventID: String
    package let type: String
    /// The verified facts as JSON text.
    package let facts: String
    /// Sealed; dropped after the retention time.
    package let body: Data
    package let headers: Data
    /// SHA-256 of the raw body.
    package let digest: Data
    package let receivedAt: Timestamp

    package init(
        id: ID<Domain.Notification>, account: AccountID, eventID: String, type: String, facts: String, body: Data,
        headers: Data, digest: Data, receivedAt: Timestamp
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
    }
}

/// What is needed to process a stored notification.
package struct StoredNotification: Sendable {
    package let id: ID<Domain.Notification>
    package let account: AccountID
    package let facts: String
    /// Stored and not yet settled.
    package let isWaiting: Bool
}

extension Transaction {
    /// Stores a notification once and returns the stored one: this, or the one that came before it.
    package func storeNotification(_ record: NotificationRecord) throws(StoreError) -> StoredNotification {
        try run(
            """
            INSERT INTO notifications
                (id, account, provider_event_id, type, status, facts, body, headers, digest, received_at)
            VALUES (?, ?, ?, ?, 'stored', ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            record.id, record.account, record.eventID, record.type, record.facts, record.body, record.headers,
            record.digest, record.receivedAt)
        let stored = try row(
            "SELECT id, account, facts, status FROM notifications WHERE account = ? AND provider_event_id = ?",
            record.account, record.eventID)
        guard let stored else { throw .unavailable("the same notification is being stored") }
        return try Self.storedNotification(stored)
    }

    /// Takes a stored notification for processing.
    ///
    /// - Returns: nil when it is processed already; the row stays locked until the commit.
    package func takeNotification(_ id: ID<Domain.Notification>) throws(StoreError) -> StoredNotification? {
        let sql = "SELECT id, account, facts, status FROM notifications WHERE id = ? AND status = 'stored'"
        return try rows(sql + dialect.forUpdate, [id]).first
            .map { row throws(StoreError) in try Self.storedNotification(row) }
    }

    /// Parks a notification that cannot be settled, so that it blocks nothing and an admin sees it.
    package func markQuarantined(_ id: ID<Domain.Notification>) throws(StoreError) {
        try run("UPDATE notifications SET status = 'quarantined' WHERE id = ? AND status = 'stored'", id)
    }

    package func markProcessed(_ id: ID<Domain.Notification>, at now: Timestamp) throws(StoreError) {
        try run("UPDATE notifications SET status = 'processed', processed_at = ? WHERE id = ?", now, id)
    }

    private static func storedNotification(_ row: Row) throws(StoreError) -> StoredNotification {
        StoredNotification(
            id: try row.id("id"), account: try row.account("account"), facts: try row.text("facts"),
            isWaiting: try row.text("status") == "stored")
    }
}

extension Database {
    /// Stored and not yet processed, oldest first.
    package func unprocessedNotifications(
        after last: ID<Domain.Notification>?, limit: Int64
    ) throws(StoreError) -> [ID<Domain.Notification>] {
        try rows(
            "SELECT id FROM notifications WHERE status = 'stored' AND id > ? ORDER BY id LIMIT ?",
            [last?.rawValue ?? "", limit]
        )
        .map { row throws(StoreError) in try row.id("id") }
    }
}
