package import Domain

/// The filters of a list of subscriptions that the database has columns for.
package struct SubscriptionFilter: Sendable {
    package var user: ID<User>?
    package var account: AccountID?

    package init(user: ID<User>? = nil, account: AccountID? = nil) {
        self.user = user
        self.account = account
    }

    fileprivate func condition() -> (sql: String, bound: [any SQLBindable]) {
        var (sql, bound): (String, [any SQLBindable]) = ("", [])
        if let user {
            sql += " AND user_id = ?"
            bound.append(user)
        }
        if let account {
            sql += " AND account = ?"
            bound.append(account)
        }
        return (sql, bound)
    }
}

extension ManagedSubscriptionQueries {
    /// Lists subscriptions that have begun and whose ids come before `last`, newest first.
    package func list(
        _ filter: SubscriptionFilter, before last: ID<Subscription>?, limit: Int64
    ) throws(StoreError) -> [ManagedSubscriptionRecord] {
        let (sql, bound) = filter.condition()
        return try db.rows(
            """
            SELECT * FROM managed_subscriptions WHERE id < ? AND \(Self.hasBegun)\(sql) ORDER BY id DESC LIMIT ?
            """, [last?.rawValue ?? "~"] + bound + [limit]
        ).map(ManagedSubscriptionRecord.init(row:))
    }
}

extension SubscriptionQueries {
    /// Lists subscriptions whose ids come before `last`, newest first.
    package func list(
        _ filter: SubscriptionFilter, before last: ID<Subscription>?, limit: Int64
    ) throws(StoreError) -> [SubscriptionRecord] {
        let (sql, bound) = filter.condition()
        return try db.rows(
            "SELECT * FROM subscriptions WHERE id < ?\(sql) ORDER BY id DESC LIMIT ?",
            [last?.rawValue ?? "~"] + bound + [limit]
        ).map(SubscriptionRecord.init(row:))
    }
}
