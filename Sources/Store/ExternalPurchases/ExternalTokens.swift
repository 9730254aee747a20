package import Domain

/// Tokens of purchases outside of the App Store, their reports and what is reported.
///
/// `db.externalPurchases` reads; `tx.externalPurchases` also writes.
package struct ExternalPurchaseQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var externalPurchases: ExternalPurchaseQueries<any Database> { ExternalPurchaseQueries(db: self, tx: self) }
}

extension Transaction {
    package var externalPurchases: ExternalPurchaseQueries<any Transaction> {
        ExternalPurchaseQueries(db: self, tx: self)
    }
}

/// A restriction of the list of tokens.
package struct ExternalTokenFilter: Sendable {
    package var state: ExternalToken.State?
    package var environment: Environment?

    package init(state: ExternalToken.State? = nil, environment: Environment? = nil) {
        self.state = state
        self.environment = environment
    }
}

extension ExternalPurchaseQueries {
    package func find(_ id: ID<ExternalToken>) throws(StoreError) -> ExternalToken? {
        try db.row("SELECT * FROM external_tokens WHERE id = ?", id).map(ExternalToken.init(row:))
    }

    package func find(
        at account: AccountID, externalPurchaseID: String
    ) throws(StoreError) -> ExternalToken? {
        try db.row(
            "SELECT * FROM external_tokens WHERE account = ? AND external_purchase_id = ?", account, externalPurchaseID
        ).map(ExternalToken.init(row:))
    }

    /// Lists tokens, newest first.
    package func list(
        _ filter: ExternalTokenFilter, before cursor: String?, limit: Int64, at now: Timestamp
    ) throws(StoreError) -> [ExternalToken] {
        var conditions = ["id < ?"]
        var arguments: [any SQLBindable] = [cursor ?? "ext_~"]
        switch filter.state {
        case nil: break
        case .due:
            conditions.append("(state = 'due' OR state = 'waiting' AND due_at <= \(db.dialect.businessClock))")
            arguments.append(now)
        case .waiting:
            conditions.append("state = 'waiting' AND due_at > \(db.dialect.businessClock)")
            arguments.append(now)
        case .reported, .refused:
            conditions.append("state = ?")
            arguments.append(filter.state?.rawValue)
        }
        if let environment = filter.environment {
            conditions.append("environment = ?")
            arguments.append(environment.rawValue)
        }
        return try db.rows(
            """
            SELECT * FROM external_tokens WHERE \(conditions.joined(separator: " AND ")) ORDER BY id DESC LIMIT ?
            """, arguments + [limit]
        ).map(ExternalToken.init(row:))
    }

    /// The time at which the `count`th newest token of a user was kept; nil where the user has fewer.
    package func time(ofNewest count: Int64, of user: ID<User>) throws(StoreError) -> Timestamp? {
        try db.row(
            "SELECT created_at FROM external_tokens WHERE user_id = ? ORDER BY created_at DESC LIMIT 1 OFFSET ?", user,
            count - 1
        ).map { row throws(StoreError) in try row.time("created_at") }
    }

    /// Lists the orders of a token, oldest first.
    package func orders(of token: ID<ExternalToken>) throws(StoreError) -> [Order] {
        try db.orders.list(withToken: token)
    }

    /// Returns whether another user has an order of a token.
    package func hasOrder(of token: ID<ExternalToken>, besides user: ID<User>) throws(StoreError) -> Bool {
        try db.row("SELECT id FROM orders WHERE external_token_id = ? AND user_id <> ? LIMIT 1", token, user) != nil
    }

    /// Returns whether an order of a token is open, or the end of one of its payments is not known.
    package func awaitsOrder(of token: ID<ExternalToken>) throws(StoreError) -> Bool {
        try db.row("\(AwaitedOrders.select(of: "?")) LIMIT 1", token) != nil
    }

    /// The hold of an account's reports; nil where it may send.
    package func hold(of account: AccountID) throws(StoreError) -> ExternalHold? {
        try db.row("SELECT * FROM external_holds WHERE account = ?", account).map(ExternalHold.init(row:))
    }

    package func listHolds() throws(StoreError) -> [ExternalHold] {
        try db.rows("SELECT * FROM external_holds ORDER BY account").map(ExternalHold.init(row:))
    }

    /// Returns whether an account has a token.
    package func hasTokens(of account: AccountID) throws(StoreError) -> Bool {
        try db.row("SELECT id FROM external_tokens WHERE account = ? LIMIT 1", account) != nil
    }

    /// Lists tokens without an accepted report that Apple handed out before a time and that no open order keeps.
    package func listUnreported(madeBefore time: Timestamp, limit: Int64) throws(StoreError) -> [ExternalToken] {
        try db.rows(
            """
            SELECT t.* FROM external_tokens t WHERE t.token_created_at <= ?
              AND NOT EXISTS (SELECT 1 FROM external_reports r WHERE r.token_id = t.id AND r.state = 'accepted')
              AND NOT EXISTS (\(AwaitedOrders.select(of: "t.id")))
            ORDER BY t.id LIMIT ?
            """, [time, limit]
        ).map(ExternalToken.init(row:))
    }

    /// Lists tokens with a refused report.
    package func listRefused(limit: Int64) throws(StoreError) -> [ExternalToken] {
        try db.rows("SELECT * FROM external_tokens WHERE state = 'refused' ORDER BY id LIMIT ?", [limit])
            .map(ExternalToken.init(row:))
    }
}

extension ExternalPurchaseQueries where Connection == any Transaction {
    /// Locks a token until the commit; its user and its orders are locked before it.
    package func lock(_ id: ID<ExternalToken>) throws(StoreError) -> ExternalToken? {
        if tx.dialect.locksRows {
            try tx.enqueue("SELECT id FROM external_tokens WHERE id = ?" + tx.dialect.forUpdate, id)
        }
        return try find(id)
    }

    /// Inserts a token unless the account has one with its id.
    ///
    /// - Returns: the stored token, locked until the commit.
    package func ensure(_ new: ExternalToken) throws(StoreError) -> ExternalToken {
        let token = new.token
        try tx.execute(
            """
            INSERT INTO external_tokens (id, account, environment, external_purchase_id, bundle_id, app_apple_id,
                token_type, token_created_at, token_expires_at, user_id, source, due_at, look_at, state, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                new.id, new.account, token.environment.rawValue, token.externalPurchaseID, token.bundleID,
                token.appAppleID, token.type, token.createdAt, token.expiresAt, new.user, new.source.rawValue,
                new.dueAt,
                new.dueAt, new.state.rawValue, new.createdAt,
            ] as [any SQLBindable])
        guard let found = try find(at: new.account, externalPurchaseID: token.externalPurchaseID),
            let locked = try lock(found.id)
        else { throw .corrupt("a token that was inserted is not there") }
        return locked
    }

    /// Writes the parts of a token that can change; the caller holds its lock.
    package func update(_ token: ExternalToken) throws(StoreError) {
        try tx.enqueue(
            """
            UPDATE external_tokens SET user_id = ?, source = ?, due_at = ?, token_type = COALESCE(token_type, ?),
                token_expires_at = COALESCE(token_expires_at, ?), state = ?
            WHERE id = ?
            """, token.user, token.source.rawValue, token.dueAt, token.token.type, token.token.expiresAt,
            token.state.rawValue, token.id)
    }

    /// Sets the time at which a token's job is made next; nil for none by time alone.
    package func setLook(_ time: Timestamp?, at token: ID<ExternalToken>) throws(StoreError) {
        try tx.enqueue("UPDATE external_tokens SET look_at = ? WHERE id = ?", time, token)
    }

    /// Has every token looked at now that has something to report.
    package func lookAtDue(at now: Timestamp) throws(StoreError) {
        try tx.execute("UPDATE external_tokens SET look_at = ? WHERE state = 'due'", now)
    }

    /// Holds an account's reports; a hold without an end stays one.
    package func hold(_ hold: ExternalHold) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO external_holds (account, reason, since, until) VALUES (?, ?, ?, ?)
            ON CONFLICT (account) DO UPDATE SET reason = excluded.reason, since = excluded.since, until = excluded.until
            WHERE external_holds.until IS NOT NULL
            """, hold.account, hold.reason, hold.since, hold.until)
    }

    /// Ends the hold of an account.
    package func endHold(of account: AccountID) throws(StoreError) {
        try tx.execute("DELETE FROM external_holds WHERE account = ?", account)
    }

    /// Ends the holds that no time ends, of all accounts; Apple's own limits stay.
    package func endEndlessHolds() throws(StoreError) {
        try tx.execute("DELETE FROM external_holds WHERE until IS NULL")
    }

    /// Takes a user's id out of the user's tokens.
    package func erase(_ user: ID<User>) throws(StoreError) {
        try tx.execute("UPDATE external_tokens SET user_id = NULL WHERE user_id = ?", user)
    }
}

/// An account that sends no reports.
package struct ExternalHold: Sendable, Equatable {
    package let account: AccountID
    package let reason: String
    package let since: Timestamp
    /// nil until a person ends it.
    package let until: Timestamp?

    package init(account: AccountID, reason: String, since: Timestamp, until: Timestamp?) {
        self.account = account
        self.reason = reason
        self.since = since
        self.until = until
    }

    fileprivate init(row: Row) throws(StoreError) {
        self.init(
            account: try row.account("account"), reason: try row.text("reason"), since: try row.time("since"),
            until: try row.optionalTime("until"))
    }
}

extension ExternalToken {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), account: try row.account("account"),
            token: ExternalPurchaseToken(
                externalPurchaseID: try row.text("external_purchase_id"), appAppleID: try row.int("app_apple_id"),
                bundleID: try row.text("bundle_id"), createdAt: try row.time("token_created_at"),
                expiresAt: try row.optionalTime("token_expires_at"), type: try row.optionalText("token_type")),
            user: try row.optionalID("user_id"), source: try row.choice("source"), dueAt: try row.time("due_at"),
            state: try row.choice("state"), createdAt: try row.time("created_at"))
    }
}

/// The orders that must end before their token is reported.
enum AwaitedOrders {
    /// - Parameter token: an expression of SQL: the token's id.
    static func select(of token: String) -> String {
        """
        SELECT o.id FROM orders o WHERE o.external_token_id = \(token) AND (o.state = 'open' OR EXISTS (
            SELECT 1 FROM payments p WHERE p.order_id = o.id AND \(InFlight.isTrue(of: "p.state"))))
        """
    }
}
