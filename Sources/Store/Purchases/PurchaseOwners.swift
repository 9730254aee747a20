package import Domain

/// The owner of each original App Store transaction and the users that it is shared with.
///
/// `db.purchaseOwners` reads; `tx.purchaseOwners` also writes.
package struct PurchaseOwnerQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var purchaseOwners: PurchaseOwnerQueries<any Database> { PurchaseOwnerQueries(db: self, tx: self) }
}

extension Transaction {
    package var purchaseOwners: PurchaseOwnerQueries<any Transaction> { PurchaseOwnerQueries(db: self, tx: self) }
}

extension PurchaseOwnerQueries {
    /// Returns the time at which an original transaction was bound to its owner.
    package func boundAt(_ subject: StoreSubject) throws(StoreError) -> Timestamp? {
        try db.row(
            "SELECT bound_at FROM purchase_owners WHERE environment = ? AND original_transaction_id = ?",
            subject.environment.rawValue, subject.original
        )?.time("bound_at")
    }

    /// Lists the users with whom an original transaction is shared, in the order of sharing, without its owner.
    package func listSharers(of subject: StoreSubject) throws(StoreError) -> DeferredResult<[ID<User>]> {
        try db.deferredRows(
            """
            SELECT user_id FROM purchase_shares WHERE environment = ? AND original_transaction_id = ?
            ORDER BY shared_at, user_id
            """, subject.environment.rawValue, subject.original
        ).each { row throws(StoreError) in try row.id("user_id") }
    }

    /// Lists the owner and the users with whom the original transaction is shared.
    package func listHolders(of subject: StoreSubject) throws(StoreError) -> DeferredResult<Set<ID<User>>> {
        let owner = try find(of: subject)
        return try listSharers(of: subject).with(owner).map { Set($0).union([$1].compactMap { $0 }) }
    }

    /// Lists the environments in which an original transaction is known; Xcode is left out, because its ids are not
    /// unique.
    package func listEnvironments(ofOriginal original: String) throws(StoreError) -> [Environment] {
        let real = "'\(Environment.production.rawValue)', '\(Environment.sandbox.rawValue)'"
        return try db.rows(
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

    package func find(of subject: StoreSubject) throws(StoreError) -> DeferredResult<ID<User>?> {
        try db.deferredRows(
            "SELECT user_id FROM purchase_owners WHERE environment = ? AND original_transaction_id = ?",
            subject.environment.rawValue, subject.original
        ).first { row throws(StoreError) in try row.id("user_id") }
    }
}

extension PurchaseOwnerQueries where Connection == any Transaction {
    package func insertShare(of subject: StoreSubject, with user: ID<User>, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO purchase_shares (environment, original_transaction_id, user_id, shared_at) VALUES (?, ?, ?, ?)
            """, subject.environment.rawValue, subject.original, user, now)
    }

    /// Deletes a user's share and its grants; a user who becomes the owner gets the owner's grants instead.
    package func deleteShare(of subject: StoreSubject, with user: ID<User>) throws(StoreError) {
        let environment = subject.environment.rawValue
        let dropped = try tx.execute(
            "DELETE FROM purchase_shares WHERE environment = ? AND original_transaction_id = ? AND user_id = ?",
            environment, subject.original, user)
        guard dropped > 0 else { return }
        try tx.execute(
            """
            DELETE FROM grants WHERE user_id = ? AND environment = ?
              AND (source_kind = 'apple_subscription' AND source_id = ?
                OR source_kind = 'apple_transaction' AND source_id IN (
                    SELECT key FROM purchases WHERE environment = ? AND original_transaction_id = ?))
            """, user, environment, subject.original, environment, subject.original)
    }

    /// Binds an original transaction to its first claimant.
    ///
    /// - Parameter known: the owner that was read in this transaction under the original's lock.
    /// - Returns: the owner: this user, or an earlier claimant.
    package func bind(
        _ subject: StoreSubject, to user: ID<User>, known: DeferredResult<ID<User>?>? = nil, at now: Timestamp
    ) throws(StoreError) -> ID<User> {
        let bound = try tx.execute(
            """
            INSERT INTO purchase_owners (environment, original_transaction_id, user_id, bound_at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, subject.environment.rawValue, subject.original, user, now)
        if bound == 1 { return user }
        if let owner = try known?.value() { return owner }
        guard let owner = try find(of: StoreSubject(subject.environment, subject.original)).value() else {
            throw .unavailable("a purchase is being bound")
        }
        return owner
    }

    /// Moves an original transaction, its purchases, their grants and its subscription to another user.
    package func move(
        _ environment: Environment, original: String, from old: ID<User>, to new: ID<User>, at now: Timestamp
    ) throws(StoreError) {
        try tx.execute(
            """
            UPDATE purchase_owners SET user_id = ?, bound_at = ?
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, new, now, environment.rawValue, original, old)
        try tx.execute(
            """
            UPDATE grants SET user_id = ? WHERE user_id = ? AND environment = ?
              AND (source_kind = 'apple_subscription' AND source_id = ?
                OR source_kind = 'apple_transaction' AND source_id IN (
                    SELECT key FROM purchases WHERE environment = ? AND original_transaction_id = ?))
            """, new, old, environment.rawValue, original, environment.rawValue, original)
        try tx.execute(
            """
            UPDATE purchases SET user_id = ?, consumption_consent = NULL
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, new, environment.rawValue, original, old)
        try tx.execute(
            """
            UPDATE subscriptions SET user_id = ?
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, new, environment.rawValue, original, old)
    }

    /// Locks an original transaction until the commit (an advisory lock on PostgreSQL; SQLite has one writer).
    ///
    /// Without it, a claim and the storing of an unclaimed transaction would not see each other. It is taken before
    /// users' locks, so that the set of users to lock does not change meanwhile.
    package func lock(_ environment: Environment, _ original: String) throws(StoreError) {
        guard tx.dialect == .postgres else { return }
        try tx.enqueue(
            "SELECT 1 AS one FROM pg_advisory_xact_lock(hashtextextended(?, 0))", "\(environment.rawValue)/\(original)")
    }
}
