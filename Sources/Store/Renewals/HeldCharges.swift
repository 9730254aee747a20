package import Domain

// The needs of a hold of renewals: the subscriptions that are due, and those whose providers were not asked yet.
extension BillingHoldQueries {
    /// Counts the running subscriptions whose renewal is due.
    package func countDue(at now: Timestamp) throws(StoreError) -> Int64 {
        try db.row(
            """
            SELECT COUNT(*) AS n FROM managed_subscriptions
            WHERE state = 'running' AND period_end <= \(db.dialect.businessClock) AND cancellation IS NULL
                AND charging_stopped_by IS NULL
            """, now
        )?.int("n") ?? 0
    }

    /// Counts the running subscriptions whose provider was not asked since a hold began.
    package func countUnchecked(since: Timestamp) throws(StoreError) -> Int64 {
        try db.row(
            """
            SELECT COUNT(*) AS n FROM managed_subscriptions
            WHERE state = 'running' AND created_at < ? AND (checked_at IS NULL OR checked_at < ?)
            """, since, since
        )?.int("n") ?? 0
    }

    /// Lists running subscriptions whose provider was not asked since a hold began.
    package func listUnchecked(
        since: Timestamp, after last: String, limit: Int64
    ) throws(StoreError) -> [ManagedSubscriptionRecord] {
        try db.rows(
            """
            SELECT * FROM managed_subscriptions
            WHERE state = 'running' AND created_at < ? AND (checked_at IS NULL OR checked_at < ?) AND id > ?
            ORDER BY id LIMIT ?
            """, [since, since, last, limit]
        ).map(ManagedSubscriptionRecord.init(row:))
    }

    /// The time of the newest stored fact of any payment: what came later, the database does not know.
    package func newestFact() throws(StoreError) -> Timestamp? {
        try db.row("SELECT at FROM learned_facts ORDER BY id DESC LIMIT 1")?.optionalTime("at")
    }
}

extension BillingHoldQueries where Connection == any Transaction {
    package func markChecked(_ subscription: ID<Subscription>, at now: Timestamp) throws(StoreError) {
        try tx.enqueue("UPDATE managed_subscriptions SET checked_at = ? WHERE id = ?", now, subscription)
    }

    /// Ends a hold: the time for which it lasted does not count for lapsing, and what is due is due now.
    package func release(_ hold: BillingHold, at now: Timestamp) throws(StoreError) {
        let isDue = "state = 'running' AND period_end <= ?"
        try tx.managedSubscriptions.lockAll(where: isDue, now)
        let released = SubscriptionEntry(
            at: now, cause: .quiet(.holdReleased), facts: SubscriptionEntryFacts { $0.since = hold.since })
        try tx.managedSubscriptions.insertEntries(released, where: isDue, now)
        try tx.execute(
            """
            UPDATE managed_subscriptions SET due_at = ?,
                held_seconds = held_seconds + ? - CASE WHEN period_end > ? THEN period_end ELSE ? END
            WHERE \(isDue)
            """, now, now, hold.since, hold.since, now)
        try end()
    }
}
