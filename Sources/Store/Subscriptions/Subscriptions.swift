package import Domain

/// A stored subscription: its signed renewal info and its user; its periods are its transactions.
package struct SubscriptionRecord: Sendable {
    package let id: ID<Subscription>
    package let environment: Environment
    package let original: String
    package let account: AccountID
    /// nil while it is unclaimed.
    package let user: ID<User>?
    package let renewal: StoreRenewal?
    /// True when the store's newest status states that the whole subscription is revoked.
    package let isRevoked: Bool
    /// The state in the last event, as JSON.
    package let announcedState: String?
    /// The revision up to which the customer's transaction history was read.
    package let historyCursor: String?
}

/// App Store subscriptions.
///
/// `db.subscriptions` reads; `tx.subscriptions` also writes.
package struct SubscriptionQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var subscriptions: SubscriptionQueries<any Database> { SubscriptionQueries(db: self, tx: self) }
}

extension Transaction {
    package var subscriptions: SubscriptionQueries<any Transaction> { SubscriptionQueries(db: self, tx: self) }
}

extension SubscriptionQueries {
    /// - Parameter holder: the user in Xcode, else nil.
    package func find(
        _ environment: Environment, original: String, holder: ID<User>?
    ) throws(StoreError) -> SubscriptionRecord? {
        try db.row(
            "SELECT * FROM subscriptions WHERE environment = ? AND original_transaction_id = ? AND holder = ?",
            environment.rawValue, original, holder?.rawValue ?? ""
        ).map(SubscriptionRecord.init(row:))
    }

    package func find(_ id: ID<Subscription>) throws(StoreError) -> SubscriptionRecord? {
        try db.row("SELECT * FROM subscriptions WHERE id = ?", id)
            .map(SubscriptionRecord.init(row:))
    }

    /// Lists the subscriptions that a user owns or shares and whose ids come before `last`, newest first.
    package func list(
        of user: ID<User>, before last: ID<Subscription>?, limit: Int64
    ) throws(StoreError) -> [SubscriptionRecord] {
        try db.rows(
            """
            SELECT * FROM subscriptions WHERE id IN (
                SELECT id FROM (SELECT id FROM subscriptions WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ?) AS own
                UNION
                SELECT t.id FROM purchase_shares s JOIN subscriptions t ON t.environment = s.environment
                  AND t.original_transaction_id = s.original_transaction_id
                WHERE s.user_id = ? AND t.id < ?)
            ORDER BY id DESC LIMIT ?
            """, [user, last?.rawValue ?? "~", limit, user, last?.rawValue ?? "~", limit]
        ).map(SubscriptionRecord.init(row:))
    }

    /// Lists an account's subscriptions in these environments, in the order of their ids.
    package func list(
        at account: AccountID, in environments: [Environment], after last: ID<Subscription>?, limit: Int64
    ) throws(StoreError) -> [SubscriptionRecord] {
        guard !environments.isEmpty else { return [] }
        let part = """
            SELECT * FROM (SELECT * FROM subscriptions WHERE account = ? AND environment = ? AND id > ?
                ORDER BY id LIMIT ?) AS part
            """
        let parts = environments.map { _ in part }.joined(separator: " UNION ALL ")
        let bound = environments.flatMap { [account, $0.rawValue, last?.rawValue ?? "", limit] as [any SQLBindable] }
        return try db.rows("SELECT * FROM (\(parts)) AS parts ORDER BY id LIMIT ?", bound + [limit]).map(
            SubscriptionRecord.init(row:))
    }

    /// Returns whether a user owns or shares a subscription.
    package func isHolder(_ user: ID<User>, of subscription: SubscriptionRecord) throws(StoreError) -> Bool {
        if subscription.user == user { return true }
        return try db.row(
            "SELECT 1 AS one FROM purchase_shares WHERE environment = ? AND original_transaction_id = ? AND user_id = ?",
            subscription.environment.rawValue, subscription.original, user) != nil
    }

    /// Finds the subscription whose period an order paid.
    package func findID(of order: ID<Order>) throws(StoreError) -> ID<Subscription>? {
        try db.row(
            """
            SELECT s.id FROM purchases p JOIN subscriptions s ON s.environment = p.environment
              AND s.original_transaction_id = p.original_transaction_id AND s.holder IN ('', p.user_id)
            WHERE p.order_id = ?
            """, order
        )?.id("id")
    }
}

extension SubscriptionQueries where Connection == any Transaction {
    /// Sets the user of a subscription that has none.
    package func claim(_ subject: StoreSubject, for user: ID<User>) throws(StoreError) {
        try tx.execute(
            """
            UPDATE subscriptions SET user_id = ?
            WHERE environment = ? AND original_transaction_id = ? AND user_id IS NULL
            """, user, subject.environment.rawValue, subject.original)
    }

    /// Inserts a subscription where there is none, and sets its user; one that had ended is checked again.
    ///
    /// - Parameter user: nil while it is unclaimed.
    package func ensure(
        _ candidate: ID<Subscription>, _ subject: StoreSubject, account: AccountID, user: ID<User>?,
        nextCheckAt: Timestamp
    ) throws(StoreError) -> SubscriptionRecord {
        let holder = subject.environment == .xcode ? user : nil
        try tx.execute(
            """
            INSERT INTO subscriptions (id, environment, original_transaction_id, holder, account, user_id, next_check_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (environment, original_transaction_id, holder) DO UPDATE SET
                user_id = COALESCE(subscriptions.user_id, excluded.user_id),
                next_check_at = COALESCE(subscriptions.next_check_at, excluded.next_check_at)
            WHERE subscriptions.user_id IS NULL AND excluded.user_id IS NOT NULL
               OR subscriptions.next_check_at IS NULL AND excluded.next_check_at IS NOT NULL
            """,
            candidate, subject.environment.rawValue, subject.original, holder?.rawValue ?? "", account, user,
            subject.environment == .xcode ? nil : nextCheckAt)
        let found = try find(subject.environment, original: subject.original, holder: holder)
        guard let found else { throw .corrupt("a subscription was not kept") }
        return found
    }

    /// Sets the signed renewal information; an older one never replaces a newer one.
    ///
    /// - Returns: false when the stored one is as new.
    package func setRenewal(_ renewal: StoreRenewal, of subscription: ID<Subscription>) throws(StoreError) -> Bool {
        try tx.execute(
            """
            UPDATE subscriptions SET renewal = ?, renewal_signed_at = ?
            WHERE id = ? AND (renewal IS NULL OR renewal_signed_at < ?)
            """, try renewal.storedJSON(), renewal.signedAt, subscription, renewal.signedAt) == 1
    }

    /// Sets the status that the store answered; an older one never replaces a newer one.
    ///
    /// - Returns: false when the stored one is as new, or says the same.
    package func setStatus(
        _ standing: StoreStanding, of subscription: SubscriptionRecord
    ) throws(StoreError) -> Bool {
        let isNewer = try tx.execute(
            "UPDATE subscriptions SET is_revoked = ?, standing_at = ? WHERE id = ? AND standing_at < ?",
            standing.isRevoked, standing.at, subscription.id, standing.at)
        return isNewer == 1 && standing.isRevoked != subscription.isRevoked
    }

    /// Sets the state of the last event.
    package func setAnnouncedState(_ state: String, of subscription: ID<Subscription>) throws(StoreError) {
        try tx.execute("UPDATE subscriptions SET told = ? WHERE id = ?", state, subscription)
    }

    /// Sets the time of the next query to the store about a subscription; nil for none.
    package func setNextCheck(_ next: Timestamp?, of subscription: ID<Subscription>) throws(StoreError) {
        try tx.execute("UPDATE subscriptions SET next_check_at = ? WHERE id = ?", next, subscription)
    }

    package func setHistoryCursor(_ cursor: String?, of subscription: ID<Subscription>) throws(StoreError) {
        try tx.execute("UPDATE subscriptions SET history_cursor = ? WHERE id = ?", cursor, subscription)
    }
}

extension SubscriptionRecord {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), environment: try row.choice("environment"),
            original: try row.text("original_transaction_id"), account: try row.account("account"),
            user: try row.optionalID("user_id"),
            renewal: try row.optionalText("renewal") == nil ? nil : try row.json("renewal"),
            isRevoked: try row.bool("is_revoked"), announcedState: try row.optionalText("told"),
            historyCursor: try row.optionalText("history_cursor"))
    }
}
