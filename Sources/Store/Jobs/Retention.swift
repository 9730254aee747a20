package import Domain

/// The rows that are deleted once their retention time is over.
package enum RetentionTable: Sendable {
    /// The raw texts of notifications; their hashes and facts stay.
    case rawNotifications
    /// Notifications whose verification failed.
    case refusedNotifications
    /// Idempotency keys with their answers.
    case idempotencyKeys
    /// Sessions that can no longer read, with the list of their orders; the orders stay.
    case sessions
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
    /// Ages count by the clock of the leases, so that no node's clock can delete a row early.
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
            // Ids carry the time of the node that made them, whose clock may be a day off, and so may this node's.
            let end = ID<Notification>.least(at: now.adding(seconds: -seconds).adding(days: 2))
            return try tx.execute(
                """
                DELETE FROM notifications WHERE status = 'rejected' AND id IN (
                    SELECT id FROM notifications WHERE status = 'rejected' AND id < ? AND received_at < \(time) - ?
                    ORDER BY id LIMIT ?)
                """, end, now, seconds, limit)
        case .idempotencyKeys:
            // The key of a request that still holds its lease stays.
            return try tx.execute(
                """
                DELETE FROM idempotency_keys WHERE (caller, key) IN (
                    SELECT caller, key FROM idempotency_keys WHERE created_at < \(time) - ? AND lease_until <= \(time)
                    ORDER BY created_at LIMIT ?)
                """, now, seconds, now, limit)
        case .sessions:
            return try tx.execute(
                """
                DELETE FROM sessions WHERE id IN (
                    SELECT id FROM sessions WHERE readable_until < \(time) - ? ORDER BY readable_until LIMIT ?)
                """, now, seconds, limit)
        }
    }
}
