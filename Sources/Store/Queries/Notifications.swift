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
    /// Why it was refused, in a word of a closed set; nil for one that was taken.
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

/// What is needed to process a stored notification.
package struct StoredNotification: Sendable {
    package let id: ID<Domain.Notification>
    package let account: AccountID
    package let facts: String
    /// Stored and not yet settled.
    package let isWaiting: Bool
    /// Sealed; nil where the raw text has been dropped, and where it was not taken for processing.
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

/// A kept notification with its raw text, which is dropped after the retention time.
package struct KeptNotification: Sendable {
    package let id: ID<Domain.Notification>
    package let account: AccountID
    package let status: Domain.Notification.Status
    package let body: Data?
    package let headers: Data?
    package let receivedAt: Timestamp
}

/// How much is kept of an account's notifications that were refused.
package struct RefusedRoom: Sendable {
    package let count: Int64
    /// Of sealed bodies and headers.
    package let bytes: Int64

    package init(count: Int64, bytes: Int64) {
        self.count = count
        self.bytes = bytes
    }
}

extension Transaction {
    /// Keeps a notification that did not verify, once for its event id; where the room is full those make room that were
    /// not signed, and then the oldest.
    ///
    /// - Parameter isSigned: whether its signature was good. One that was takes the place of an equal one that was not.
    package func keepRefused(
        _ record: NotificationRecord, isSigned: Bool, room: RefusedRoom
    ) throws(StoreError) {
        if isSigned {
            try run(
                """
                DELETE FROM notifications
                WHERE account = ? AND provider_event_id = ? AND status = 'rejected' AND refused_signed = 0
                """, record.account, record.eventID)
        }
        let size = Int64(record.body.count + record.headers.count)
        try insert(record, status: "rejected", refused: (size, isSigned))
        let kept = try rows(
            """
            SELECT id, refused_bytes FROM notifications WHERE status = 'rejected' AND account = ?
            ORDER BY refused_signed DESC, id DESC
            """, [record.account])
        var (count, bytes): (Int64, Int64) = (0, 0)
        for row in kept {
            count += 1
            bytes += try row.int("refused_bytes")
            guard count > room.count || bytes > room.bytes else { continue }
            try run("DELETE FROM notifications WHERE id = ?", try row.id("id", Domain.Notification.self))
        }
    }

    /// The notification that a kept one waits as when it is processed again: itself, or the one that came before it with the
    /// same event id.
    ///
    /// - Parameter record: what verifying it again came to.
    package func replayTarget(
        of id: ID<Domain.Notification>, as record: NotificationRecord?
    ) throws(StoreError) -> ID<Domain.Notification> {
        guard let record else { return id }
        let earlier = try row(
            "SELECT id FROM notifications WHERE account = ? AND provider_event_id = ?", record.account, record.eventID)
        return try earlier?.id("id", Domain.Notification.self) ?? id
    }

    /// Makes a kept notification wait for processing again, after its job was locked.
    ///
    /// - Parameter record: what verifying it again came to; nil keeps the facts as they are.
    package func replayNotification(
        _ id: ID<Domain.Notification>, as record: NotificationRecord?, into target: ID<Domain.Notification>
    ) throws(StoreError) {
        guard let record else {
            try run("UPDATE notifications SET status = 'stored' WHERE id = ?", id)
            return
        }
        try run(
            """
            UPDATE notifications SET status = 'stored', refusal = NULL, type = ?, facts = ?, provider_event_id = ?
            WHERE id = ?
            """, record.type, record.facts, record.eventID, target)
        if target != id { try run("DELETE FROM notifications WHERE id = ? AND status = 'rejected'", id) }
    }

    /// Keeps a notification unless its account has this event already.
    ///
    /// - Parameter refused: of one that was refused, its size and whether it was signed.
    private func insert(
        _ record: NotificationRecord, status: String, refused: (bytes: Int64, isSigned: Bool) = (0, false)
    ) throws(StoreError) {
        try send(
            """
            INSERT INTO notifications
                (id, account, provider_event_id, type, status, facts, body, headers, digest, received_at, refusal,
                refused_bytes, refused_signed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            record.id, record.account, record.eventID, record.type, status, record.facts, record.body, record.headers,
            record.digest, record.receivedAt, record.refusal, refused.bytes, refused.isSigned)
    }

    /// Stores a notification once and returns the stored one: this, or the one that came before it.
    package func storeNotification(_ record: NotificationRecord) throws(StoreError) -> StoredNotification {
        try insert(record, status: "stored")
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
        let sql = "SELECT id, account, facts, status, body FROM notifications WHERE id = ? AND status = 'stored'"
        return try rows(sql + dialect.forUpdate, [id]).first
            .map { row throws(StoreError) in try Self.storedNotification(row, body: try row.optionalBlob("body")) }
    }

    /// Parks a notification that cannot be settled, so that it blocks nothing and an admin sees it.
    package func markQuarantined(_ id: ID<Domain.Notification>) throws(StoreError) {
        try send("UPDATE notifications SET status = 'quarantined' WHERE id = ? AND status = 'stored'", id)
    }

    /// Takes a notification out of the quarantine, for its job that is run again.
    package func unquarantine(_ id: ID<Domain.Notification>) throws(StoreError) {
        try send("UPDATE notifications SET status = 'stored' WHERE id = ? AND status = 'quarantined'", id)
    }

    package func markProcessed(_ id: ID<Domain.Notification>, at now: Timestamp) throws(StoreError) {
        // The first time stays: whoever rebuilds from the inbox goes by it.
        try send(
            "UPDATE notifications SET status = 'processed', processed_at = COALESCE(processed_at, ?) WHERE id = ?", now,
            id)
    }
}

extension Database {
    /// Whether an event of an account has been taken in.
    package func hasNotification(_ account: AccountID, eventID: String) throws(StoreError) -> Bool {
        try row(
            "SELECT 1 AS one FROM notifications WHERE account = ? AND provider_event_id = ?", account,
            eventID.firstScalars(255)) != nil
    }

    /// Newest first; a status that is nil restricts nothing.
    package func notifications(
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
        return try rows(Self.summaryColumns + restriction + " ORDER BY id DESC LIMIT ?", arguments)
            .map { row throws(StoreError) in try Self.summary(row) }
    }

    package func notification(_ id: ID<Domain.Notification>) throws(StoreError) -> NotificationSummary? {
        try row(Self.summaryColumns + " WHERE id = ?", id).map { row throws(StoreError) in try Self.summary(row) }
    }

    package func keptNotification(_ id: ID<Domain.Notification>) throws(StoreError) -> KeptNotification? {
        try row("SELECT id, account, status, body, headers, received_at FROM notifications WHERE id = ?", id).map {
            row throws(StoreError) in
            KeptNotification(
                id: try row.id("id"), account: try row.account("account"), status: try row.choice("status"),
                body: try row.optionalBlob("body"), headers: try row.optionalBlob("headers"),
                receivedAt: try row.time("received_at"))
        }
    }

    static func storedNotification(
        _ row: Row, body: Data? = nil
    ) throws(StoreError) -> StoredNotification {
        StoredNotification(
            id: try row.id("id"), account: try row.account("account"), facts: try row.text("facts"),
            isWaiting: try row.text("status") == "stored", body: body)
    }

    private static var summaryColumns: String {
        "SELECT id, account, type, provider_event_id, status, refusal, received_at, processed_at FROM notifications"
    }

    private static func summary(_ row: Row) throws(StoreError) -> NotificationSummary {
        NotificationSummary(
            id: try row.id("id"), account: try row.account("account"), type: try row.text("type"),
            eventID: try row.text("provider_event_id"), status: try row.choice("status"),
            refusal: try row.optionalText("refusal"), receivedAt: try row.time("received_at"),
            processedAt: try row.optionalTime("processed_at"))
    }
}
