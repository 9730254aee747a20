package import Domain

// Who holds an original transaction: the owner that it is bound to, and with whom it is shared.
extension Database {
    /// When an original transaction was bound to its owner.
    package func boundAt(_ subject: StoreSubject) throws(StoreError) -> Timestamp? {
        try row(
            "SELECT bound_at FROM purchase_owners WHERE environment = ? AND original_transaction_id = ?",
            subject.environment.rawValue, subject.original
        )?.time("bound_at")
    }

    /// With whom an original transaction is shared, the first one first; its owner is none of them.
    package func sharers(of subject: StoreSubject) throws(StoreError) -> [ID<User>] {
        try askSharers(of: subject).value()
    }

    package func askSharers(of subject: StoreSubject) throws(StoreError) -> Pending<[ID<User>]> {
        try ask(
            """
            SELECT user_id FROM purchase_shares WHERE environment = ? AND original_transaction_id = ?
            ORDER BY shared_at, user_id
            """, subject.environment.rawValue, subject.original
        ).each { row throws(StoreError) in try row.id("user_id") }
    }

    /// The owner and the sharers.
    package func holders(of subject: StoreSubject) throws(StoreError) -> Set<ID<User>> {
        try askHolders(of: subject).value()
    }

    package func askHolders(of subject: StoreSubject) throws(StoreError) -> Pending<Set<ID<User>>> {
        let owner = try askPurchaseOwner(of: subject)
        return try askSharers(of: subject).with(owner).map { Set($0).union([$1].compactMap { $0 }) }
    }

    /// Where an original transaction is known; in Xcode nothing belongs to anybody.
    package func environments(ofOriginal original: String) throws(StoreError) -> [Environment] {
        let real = "'\(Environment.production.rawValue)', '\(Environment.sandbox.rawValue)'"
        return try rows(
            """
            SELECT environment FROM (
                SELECT environment FROM purchases WHERE environment IN (\(real)) AND original_transaction_id = ?
                UNION SELECT environment FROM subscriptions WHERE environment IN (\(real)) AND original_transaction_id = ?
                UNION SELECT environment FROM purchase_owners
                    WHERE environment IN (\(real)) AND original_transaction_id = ?) known
            ORDER BY environment
            """, [original, original, original]
        ).map { row throws(StoreError) in try row.choice("environment") }
    }
}

extension Transaction {
    package func sharePurchase(_ subject: StoreSubject, with user: ID<User>, at now: Timestamp) throws(StoreError) {
        try run(
            """
            INSERT INTO purchase_shares (environment, original_transaction_id, user_id, shared_at) VALUES (?, ?, ?, ?)
            """, subject.environment.rawValue, subject.original, user, now)
    }

    /// Ends a user's share with the grants that it gave: whoever becomes the owner has the owner's grants.
    package func dropShare(of subject: StoreSubject, with user: ID<User>) throws(StoreError) {
        let environment = subject.environment.rawValue
        let dropped = try run(
            "DELETE FROM purchase_shares WHERE environment = ? AND original_transaction_id = ? AND user_id = ?",
            environment, subject.original, user)
        guard dropped > 0 else { return }
        try run(
            """
            DELETE FROM grants WHERE user_id = ? AND environment = ?
              AND (source_kind = 'apple_subscription' AND source_id = ?
                OR source_kind = 'apple_transaction' AND source_id IN (
                    SELECT key FROM purchases WHERE environment = ? AND original_transaction_id = ?))
            """, user, environment, subject.original, environment, subject.original)
    }

    /// Gives a subscription that nobody has claimed to its user.
    package func claimSubscription(_ subject: StoreSubject, for user: ID<User>) throws(StoreError) {
        try run(
            """
            UPDATE subscriptions SET user_id = ?
            WHERE environment = ? AND original_transaction_id = ? AND user_id IS NULL
            """, user, subject.environment.rawValue, subject.original)
    }
}
