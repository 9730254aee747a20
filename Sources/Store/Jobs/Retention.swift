package import Domain

/// The rows that are deleted when their retention time is over.
package enum RetentionTable: Sendable {
    /// The raw texts of notifications; their hashes and facts stay.
    case rawNotifications
    /// Notifications that never verified.
    case refusedNotifications
    /// Idempotency keys with their answers.
    case idempotencyKeys
}

/// Deletion of rows whose retention time is over.
///
/// `db.retention` reads; `tx.retention` also writes.
package struct RetentionQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var retention: RetentionQueries<any Database> { RetentionQueries(db: self, tx: self) }
}

extension Transaction {
    package var retention: RetentionQueries<any Transaction> { RetentionQueries(db: self, tx: self) }
}

extension RetentionQueries where Connection == any Transaction {
    /// Deletes rows that are older than a number of days, the oldest first, and returns their count.
    ///
    /// Ages count by the clock that leases count by, so that no node's own clock can drop anything early.
    package func delete(
        _ table: RetentionTable, olderThan days: Int64, limit: Int64, at now: Timestamp
    ) throws(StoreError) -> Int {
        let time = tx.dialect.clock
        let seconds = days * 86_400
        switch table {
        case .rawNotifications:
            return try tx.execute(
                """
                UPDATE notifications SET body = NULL, headers = NULL WHERE id IN (
                    SELECT id FROM notifications WHERE body IS NOT NULL AND received_at < \(time) - ?
                    ORDER BY received_at LIMIT ?)
                """, now, seconds, limit)
        case .refusedNotifications:
            // Ids tell the time of the node that made them, which may be a day off, as this one's may.
            let end = ID<Notification>.least(at: now.adding(seconds: -seconds).adding(days: 2))
            return try tx.execute(
                """
                DELETE FROM notifications WHERE status = 'rejected' AND id IN (
                    SELECT id FROM notifications WHERE status = 'rejected' AND id < ? AND received_at < \(time) - ?
                    ORDER BY id LIMIT ?)
                """, end, now, seconds, limit)
        case .idempotencyKeys:
            // A run that still holds its key is not cut off from it.
            return try tx.execute(
                """
                DELETE FROM idempotency_keys WHERE (caller, key) IN (
                    SELECT caller, key FROM idempotency_keys WHERE created_at < \(time) - ? AND lease_until <= \(time)
                    ORDER BY created_at LIMIT ?)
                """, now, seconds, now, limit)
        }
    }
}
