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
    /// Sessions of the console that have ended.
    case consoleSessions
    /// The answers about offers that are redeemed once, which no call repeats any more.
    case offerSignatures
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
    /// Ages count by business time, those of idempotency keys and offers by the real time, so that a repeated request is
    /// still known after the clock was moved. On PostgreSQL both are the database's: no node's clock can delete a row
    /// early.
    package func delete(
        _ table: RetentionTable, olderThan days: Int64, limit: Int64, at now: ClockReading
    ) throws(StoreError) -> Int {
        let (time, real) = (tx.dialect.businessClock, tx.dialect.realClock)
        let seconds = days * 86_400
        switch table {
        case .rawNotifications:
            return try tx.execute(
                """
                UPDATE notifications SET body = NULL, headers = NULL WHERE id IN (
                    SELECT id FROM notifications WHERE body IS NOT NULL AND received_at < \(time) - ?
                    ORDER BY received_at LIMIT ?)
                """, now.business, seconds, limit)
        case .refusedNotifications:
            // A bound of the index only: ids carry the real time of the node that made them, which is never later than
            // business time, but whose clock may be a day off, and so may this node's.
            let end = ID<Notification>.least(at: now.business.adding(seconds: -seconds).adding(days: 2))
            return try tx.execute(
                """
                DELETE FROM notifications WHERE status = 'rejected' AND id IN (
                    SELECT id FROM notifications WHERE status = 'rejected' AND id < ? AND received_at < \(time) - ?
                    ORDER BY id LIMIT ?)
                """, end, now.business, seconds, limit)
        case .idempotencyKeys:
            // The key of a request that still holds its lease stays.
            return try tx.execute(
                """
                DELETE FROM idempotency_keys WHERE (caller, key) IN (
                    SELECT caller, key FROM idempotency_keys WHERE created_at < \(real) - ? AND lease_until <= \(real)
                    ORDER BY created_at LIMIT ?)
                """, now.real, seconds, now.real, limit)
        case .sessions:
            return try tx.execute(
                """
                DELETE FROM sessions WHERE id IN (
                    SELECT id FROM sessions WHERE readable_until < \(real) - ? ORDER BY readable_until LIMIT ?)
                """, now.real, seconds, limit)
        case .consoleSessions:
            return try tx.execute(
                """
                DELETE FROM console_sessions WHERE digest IN (
                    SELECT digest FROM console_sessions WHERE expires_at < \(real) - ? ORDER BY expires_at LIMIT ?)
                """, now.real, seconds, limit)
        case .offerSignatures:
            return try tx.execute(
                """
                DELETE FROM offer_signatures WHERE (user_id, account, product_id, offer_id, format) IN (
                    SELECT user_id, account, product_id, offer_id, format FROM offer_signatures
                    WHERE signed_at < \(real) - ? ORDER BY signed_at LIMIT ?)
                """, now.real, seconds, limit)
        }
    }
}
