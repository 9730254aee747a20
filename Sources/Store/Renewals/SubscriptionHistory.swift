package import Domain

// The history of managed subscriptions: the facts from which each of them can be rebuilt.
extension ManagedSubscriptionQueries where Connection == any Transaction {
    /// Appends to a subscription's history; the caller holds its lock.
    package func insertEntry(_ entry: SubscriptionEntry, of id: ID<Subscription>) throws(StoreError) {
        try tx.enqueue(
            """
            INSERT INTO subscription_timeline (subscription_id, position, at, cause, detail)
            SELECT ?, COUNT(*) + 1, ?, ?, ? FROM subscription_timeline WHERE subscription_id = ?
            """, id, entry.at, entry.cause.rawValue, try entry.facts.storedJSON(), id)
    }

    /// Locks the subscriptions of a condition until the commit.
    func lockAll(where condition: String, _ arguments: any SQLBindable...) throws(StoreError) {
        guard tx.dialect.locksRows else { return }
        try tx.enqueue(
            "SELECT id FROM managed_subscriptions WHERE \(condition)" + tx.dialect.forUpdate, arguments)
    }

    /// Appends one entry to the history of each subscription of a condition; the caller holds their locks.
    func insertEntries(
        _ entry: SubscriptionEntry, where condition: String, _ arguments: any SQLBindable...
    ) throws(StoreError) {
        let values: [any SQLBindable] = [entry.at, entry.cause.rawValue, try entry.facts.storedJSON()]
        try tx.enqueue(
            """
            INSERT INTO subscription_timeline (subscription_id, position, at, cause, detail)
            SELECT s.id, (SELECT COUNT(*) + 1 FROM subscription_timeline t WHERE t.subscription_id = s.id), ?, ?, ?
            FROM managed_subscriptions s WHERE \(condition)
            """, values + arguments)
    }

    /// Writes every fact of a subscription that its history determines, in a database that is rebuilt.
    package func restore(_ record: ManagedSubscriptionRecord) throws(StoreError) {
        let made = record.subscription
        try tx.enqueue(
            """
            UPDATE managed_subscriptions SET user_id = ?, stack_group = ?, currency = ?, trial_days = ?, external_id = ?,
                locale = ?, partner = ?, created_at = ?
            WHERE id = ?
            """,
            made.user, made.stackGroup, made.price.currency.code, made.trialDays, record.externalID, made.locale,
            made.partner, made.createdAt, made.id)
        try update(record)
    }
}
