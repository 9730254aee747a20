package import Domain

/// What is kept for a time only.
package enum Perishable: Sendable {
    /// Raw texts of notifications; their hashes and facts stay.
    case rawNotifications
    /// Notifications that never verified.
    case refusedNotifications
    /// Idempotency keys with their answers.
    case idempotencyKeys
}

extension Transaction {
    /// Drops what is older than so many days, the oldest first, and returns how much.
    ///
    /// Ages count by the clock that leases count by, so that no node's own clock can drop anything early.
    package func drop(
        _ perishable: Perishable, olderThan days: Int64, limit: Int64, at now: Timestamp
    ) throws(StoreError) -> Int {
        let time = dialect.clock
        let seconds = days * 86_400
        switch perishable {
        case .rawNotifications:
            return try run(
                """
                UPDATE notifications SET body = NULL, headers = NULL WHERE id IN (
                    SELECT id FROM notifications WHERE body IS NOT NULL AND received_at < \(time) - ?
                    ORDER BY received_at LIMIT ?)
                """, now, seconds, limit)
        case .refusedNotifications:
            // Ids tell the time of the node that made them, which may be a day off, as this one's may.
            let end = ID<Notification>.least(at: now.adding(seconds: -seconds).adding(days: 2))
            return try run(
                """
                DELETE FROM notifications WHERE status = 'rejected' AND id IN (
                    SELECT id FROM notifications WHERE status = 'rejected' AND id < ? AND received_at < \(time) - ?
                    ORDER BY id LIMIT ?)
                """, end, now, seconds, limit)
        case .idempotencyKeys:
            // A run that still holds its key is not cut off from it.
            return try run(
                """
                DELETE FROM idempotency_keys WHERE (caller, key) IN (
                    SELECT caller, key FROM idempotency_keys WHERE created_at < \(time) - ? AND lease_until <= \(time)
                    ORDER BY created_at LIMIT ?)
                """, now, seconds, now, limit)
        }
    }
}
