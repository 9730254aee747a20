package import Domain

/// A subscription as it is kept beside its transactions: what was signed about its renewal, and whose it is.
package struct SubscriptionRecord: Sendable {
    package let id: ID<Subscription>
    package let environment: Environment
    package let original: String
    package let account: AccountID
    /// nil while nobody has claimed it.
    package let user: ID<User>?
    package let renewal: StoreRenewal?
    /// Whether the store said last that the subscription as a whole is taken back.
    package let isRevoked: Bool
    /// The state that events last told, as JSON.
    package let told: String?
    /// How far the customer's history has been read.
    package let historyCursor: String?
}

extension Database {
    /// - Parameter holder: the user in Xcode, else nil.
    package func subscription(
        _ environment: Environment, original: String, holder: ID<User>?
    ) throws(StoreError) -> SubscriptionRecord? {
        try row(
            "SELECT * FROM subscriptions WHERE environment = ? AND original_transaction_id = ? AND holder = ?",
            environment.rawValue, original, holder?.rawValue ?? ""
        ).map { row throws(StoreError) in try Self.subscription(row) }
    }

    package func subscription(_ id: ID<Subscription>) throws(StoreError) -> SubscriptionRecord? {
        try row("SELECT * FROM subscriptions WHERE id = ?", id)
            .map { row throws(StoreError) in try Self.subscription(row) }
    }

    /// The subscriptions that a user owns or shares, newest first, below `last`.
    package func subscriptions(
        of user: ID<User>, before last: ID<Subscription>?, limit: Int64
    ) throws(StoreError) -> [SubscriptionRecord] {
        try rows(
            """
            SELECT * FROM subscriptions WHERE id IN (
                SELECT id FROM (SELECT id FROM subscriptions WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ?) AS own
                UNION
                SELECT t.id FROM purchase_shares s JOIN subscriptions t ON t.environment = s.environment
                  AND t.original_transaction_id = s.original_transaction_id
                WHERE s.user_id = ? AND t.id < ?)
            ORDER BY id DESC LIMIT ?
            """, [user, last?.rawValue ?? "~", limit, user, last?.rawValue ?? "~", limit]
        ).map { row throws(StoreError) in try Self.subscription(row) }
    }

    /// An account's subscriptions in these environments, in the order of their ids.
    package func subscriptions(
        at account: AccountID, in environments: [Environment], after last: ID<Subscription>?, limit: Int64
    ) throws(StoreError) -> [SubscriptionRecord] {
        guard !environments.isEmpty else { return [] }
        let part = """
            SELECT * FROM (SELECT * FROM subscriptions WHERE account = ? AND environment = ? AND id > ?
                ORDER BY id LIMIT ?) AS part
            """
        let parts = environments.map { _ in part }.joined(separator: " UNION ALL ")
        let bound = environments.flatMap { [account, $0.rawValue, last?.rawValue ?? "", limit] as [any SQLBindable] }
        return try rows("SELECT * FROM (\(parts)) AS parts ORDER BY id LIMIT ?", bound + [limit]).map {
            row throws(StoreError) in try Self.subscription(row)
        }
    }

    /// Until when a store was asked for the notifications that it sent about an app; nil: never.
    package func notificationsAskedUntil(
        _ account: AccountID, _ environment: Environment, app: String
    ) throws(StoreError) -> Timestamp? {
        try row(
            "SELECT asked_until FROM missed_notifications WHERE account = ? AND environment = ? AND app = ?", account,
            environment.rawValue, app
        )?.time("asked_until")
    }

    /// Whether a subscription is a user's, or shared with this user.
    package func owns(_ user: ID<User>, _ subscription: SubscriptionRecord) throws(StoreError) -> Bool {
        if subscription.user == user { return true }
        return try row(
            "SELECT 1 AS one FROM purchase_shares WHERE environment = ? AND original_transaction_id = ? AND user_id = ?",
            subscription.environment.rawValue, subscription.original, user) != nil
    }

    /// The subscription whose period an order paid.
    package func subscriptionID(of order: ID<Order>) throws(StoreError) -> ID<Subscription>? {
        try row(
            """
            SELECT s.id FROM purchases p JOIN subscriptions s ON s.environment = p.environment
              AND s.original_transaction_id = p.original_transaction_id AND s.holder IN ('', p.user_id)
            WHERE p.order_id = ?
            """, order
        )?.id("id")
    }

    private static func subscription(_ row: Row) throws(StoreError) -> SubscriptionRecord {
        SubscriptionRecord(
            id: try row.id("id"), environment: try row.choice("environment"),
            original: try row.text("original_transaction_id"), account: try row.account("account"),
            user: try row.optionalID("user_id"),
            renewal: try row.optionalText("renewal") == nil ? nil : try row.json("renewal"),
            isRevoked: try row.bool("is_revoked"), told: try row.optionalText("told"),
            historyCursor: try row.optionalText("history_cursor"))
    }
}

extension Transaction {
    /// Serialises what happens to one original transaction until the commit; SQLite has one writer anyway.
    ///
    /// Whoever claims it and whoever stores something that nobody has claimed yet would not see each other otherwise.
    /// It comes before users' locks, so that who must be locked does not change meanwhile.
    package func lockOriginal(_ environment: Environment, _ original: String) throws(StoreError) {
        guard dialect == .postgres else { return }
        try send(
            "SELECT 1 AS one FROM pg_advisory_xact_lock(hashtextextended(?, 0))", "\(environment.rawValue)/\(original)")
    }

    /// Makes a subscription where there is none, and gives it to its user; one that was over is asked about again.
    ///
    /// - Parameter user: nil while nobody has claimed it.
    package func ensureSubscription(
        _ candidate: ID<Subscription>, _ subject: StoreSubject, account: AccountID, user: ID<User>?,
        nextCheckAt: Timestamp
    ) throws(StoreError) -> SubscriptionRecord {
        let holder = subject.environment == .xcode ? user : nil
        try run(
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
        let found = try subscription(subject.environment, original: subject.original, holder: holder)
        guard let found else { throw .corrupt("a subscription was not kept") }
        return found
    }

    /// Keeps what was signed about a renewal; an older word never replaces a newer one.
    ///
    /// - Returns: false when the stored one is as new.
    package func keepRenewal(_ renewal: StoreRenewal, of subscription: ID<Subscription>) throws(StoreError) -> Bool {
        try run(
            """
            UPDATE subscriptions SET renewal = ?, renewal_signed_at = ?
            WHERE id = ? AND (renewal IS NULL OR renewal_signed_at < ?)
            """, try renewal.storedJSON(), renewal.signedAt, subscription, renewal.signedAt) == 1
    }

    /// Keeps a store's own word on where a subscription stands; an older word never replaces a newer one.
    ///
    /// - Returns: false when the stored one is as new, or says the same.
    package func keepStanding(
        _ standing: StoreStanding, of subscription: SubscriptionRecord
    ) throws(StoreError) -> Bool {
        let isNewer = try run(
            "UPDATE subscriptions SET is_revoked = ?, standing_at = ? WHERE id = ? AND standing_at < ?",
            standing.isRevoked, standing.at, subscription.id, standing.at)
        return isNewer == 1 && standing.isRevoked != subscription.isRevoked
    }

    /// Remembers the state that an event tells.
    package func setTold(_ told: String, of subscription: ID<Subscription>) throws(StoreError) {
        try run("UPDATE subscriptions SET told = ? WHERE id = ?", told, subscription)
    }

    /// When a store is next asked about a subscription; nil: no more.
    package func setNextCheck(_ next: Timestamp?, of subscription: ID<Subscription>) throws(StoreError) {
        try run("UPDATE subscriptions SET next_check_at = ? WHERE id = ?", next, subscription)
    }

    package func setHistoryCursor(_ cursor: String?, of subscription: ID<Subscription>) throws(StoreError) {
        try run("UPDATE subscriptions SET history_cursor = ? WHERE id = ?", cursor, subscription)
    }

    /// Remembers until when a store was asked for the notifications about an app; never an earlier time.
    package func setNotificationsAsked(
        until: Timestamp, _ account: AccountID, _ environment: Environment, app: String
    ) throws(StoreError) {
        try run(
            """
            INSERT INTO missed_notifications (account, environment, app, asked_until) VALUES (?, ?, ?, ?)
            ON CONFLICT (account, environment, app) DO UPDATE SET asked_until = excluded.asked_until
            WHERE missed_notifications.asked_until < excluded.asked_until
            """, account, environment.rawValue, app, until)
    }
}
