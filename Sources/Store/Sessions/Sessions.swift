package import Domain
package import FoundationEssentials

/// A session with the app's own id of its user.
package struct SessionRecord: Sendable {
    package let session: Session
    /// nil after the user's erasure.
    package let userName: ExternalUserID?
}

/// Sessions of browsers, and the orders that each has made.
///
/// `db.sessions` reads; `tx.sessions` also writes.
package struct SessionQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var sessions: SessionQueries<any Database> { SessionQueries(db: self, tx: self) }
}

extension Transaction {
    package var sessions: SessionQueries<any Transaction> { SessionQueries(db: self, tx: self) }
}

extension SessionQueries {
    /// Finds the session of a token.
    ///
    /// - Parameter digest: SHA-256 of the token.
    package func find(digest: Data) throws(StoreError) -> SessionRecord? {
        try db.row(
            """
            SELECT s.*, u.external_id FROM sessions s LEFT JOIN users u ON u.id = s.user_id WHERE s.token_digest = ?
            """, digest
        ).map { row throws(StoreError) in
            SessionRecord(
                session: try Session(row: row),
                userName: try row.optionalText("external_id").flatMap { ExternalUserID($0) })
        }
    }

    package func find(_ id: ID<Session>) throws(StoreError) -> Session? {
        try db.row("SELECT * FROM sessions WHERE id = ?", id).map(Session.init(row:))
    }

    /// Lists the sessions of a user, newest first.
    package func list(of user: ID<User>, before cursor: String?, limit: Int64) throws(StoreError) -> [Session] {
        try db.rows(
            "SELECT * FROM sessions WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
            [user, cursor ?? "ses_~", limit]
        ).map(Session.init(row:))
    }

    /// Finds the newest order that a session has made, with its number.
    package func findOrder(of session: ID<Session>) throws(StoreError) -> (n: Int64, order: ID<Order>)? {
        try db.row("SELECT n, order_id FROM session_orders WHERE session_id = ? ORDER BY n DESC LIMIT 1", session)
            .map { row throws(StoreError) in (try row.int("n"), try row.id("order_id")) }
    }

    /// Returns whether a session has made an order.
    package func hasMade(_ order: ID<Order>, _ session: ID<Session>) throws(StoreError) -> Bool {
        try db.row("SELECT n FROM session_orders WHERE order_id = ? AND session_id = ?", order, session) != nil
    }
}

extension SessionQueries where Connection == any Transaction {
    /// Finds a session and locks it until the commit.
    package func lock(_ id: ID<Session>) throws(StoreError) -> Session? {
        try tx.row("SELECT * FROM sessions WHERE id = ?" + tx.dialect.forUpdate, id).map(Session.init(row:))
    }

    /// Lists a user's sessions that have neither expired nor ended, oldest first, each with whether it has an order.
    ///
    /// The caller holds the user's lock.
    package func listRunning(
        of user: ID<User>, at now: Timestamp, limit: Int64
    ) throws(StoreError) -> [(id: ID<Session>, hasOrder: Bool)] {
        try tx.rows(
            """
            SELECT s.id, EXISTS (SELECT 1 FROM session_orders o WHERE o.session_id = s.id) AS has_order FROM sessions s
            WHERE s.user_id = ? AND s.expires_at > ? AND s.ended_at IS NULL ORDER BY s.id LIMIT ?
            """, [user, now, limit]
        ).map { row throws(StoreError) in (try row.id("id"), try row.bool("has_order")) }
    }

    /// - Parameter digest: SHA-256 of the token.
    package func insert(_ session: Session, digest: Data) throws(StoreError) {
        let (sale, maker) = (session.sale, session.maker)
        let name = if case .partner(let name) = maker { name } else { "" }
        try tx.execute(
            """
            INSERT INTO sessions (id, token_digest, user_id, purpose, maker_kind, maker, skus, quantity, days, currency,
                platform, provider, accept, return_url, cancel_url, metadata, storefront, locale, created_at, expires_at,
                readable_until, external_token_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                session.id, digest, session.user, session.purpose.rawValue, maker.kind, name,
                sale.skus.map(\.rawValue).joined(separator: " "), sale.quantity, sale.days, sale.currency?.code,
                sale.platform.rawValue, sale.provider,
                ContractType.allCases.filter(sale.accept.contains).map(\.rawValue).joined(separator: " "),
                sale.returnURL, sale.cancelURL, try sale.metadata.storedJSON(), sale.storefront, session.locale,
                session.createdAt, session.expiresAt, session.readableUntil, sale.externalToken,
            ])
    }

    /// Ends a session.
    ///
    /// - Returns: the time of its end, which is that of the first call.
    package func end(_ id: ID<Session>, at now: Timestamp) throws(StoreError) -> (endedAt: Timestamp, isNew: Bool)? {
        let changed = try tx.execute("UPDATE sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL", now, id)
        guard changed == 0 else { return (now, true) }
        return try tx.row("SELECT ended_at FROM sessions WHERE id = ? AND ended_at IS NOT NULL", id)
            .map { row throws(StoreError) in (try row.time("ended_at"), false) }
    }

    /// Stores the plan that the payer has chosen.
    package func choose(_ plan: Session.Plan, in session: ID<Session>) throws(StoreError) {
        try tx.execute(
            "UPDATE sessions SET chosen_sku = ?, chosen_days = ? WHERE id = ?", plan.sku, plan.days, session)
    }

    /// Stores the language that the payer has chosen.
    package func setLocale(_ locale: String, of session: ID<Session>) throws(StoreError) {
        try tx.execute("UPDATE sessions SET locale = ? WHERE id = ?", locale, session)
    }

    /// Claims a session for one checkout, so that two at once cannot cancel each other's attempts.
    ///
    /// - Parameter lease: the seconds after which a checkout that was cut short no longer blocks the next.
    /// - Returns: the lease's end, by which it is released; nil where another checkout runs.
    package func claim(_ session: ID<Session>, at now: Timestamp, lease: Int64) throws(StoreError) -> Timestamp? {
        let end = now.adding(seconds: lease)
        let claimed = try tx.execute(
            "UPDATE sessions SET busy_until = ? WHERE id = ? AND (busy_until IS NULL OR busy_until <= ?)", end, session,
            now)
        return claimed == 1 ? end : nil
    }

    package func release(_ session: ID<Session>, until end: Timestamp) throws(StoreError) {
        try tx.execute("UPDATE sessions SET busy_until = NULL WHERE id = ? AND busy_until = ?", session, end)
    }

    /// Stores an order as a session's order with a number, with its plan, and lets the session read it until a time.
    ///
    /// - Returns: false where the session has an order with this number; the caller rolls back.
    package func insertOrder(
        _ order: ID<Order>, _ n: Int64, of session: ID<Session>, plan: Session.Plan, readableUntil: Timestamp
    ) throws(StoreError) -> Bool {
        let made = try tx.execute(
            "INSERT INTO session_orders (session_id, n, order_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", session, n,
            order)
        guard made == 1 else { return false }
        try tx.execute(
            """
            UPDATE sessions SET chosen_sku = ?, chosen_days = ?,
                readable_until = CASE WHEN readable_until < ? THEN ? ELSE readable_until END
            WHERE id = ?
            """, plan.sku, plan.days, readableUntil, readableUntil, session)
        return true
    }

    /// Ends all sessions of a user, deletes what their maker wrote about the user, and their idempotency keys.
    package func erase(of user: ID<User>, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            """
            UPDATE sessions SET ended_at = COALESCE(ended_at, ?), return_url = NULL, cancel_url = NULL, metadata = '{}',
                wechat_state = NULL, wechat_openid = NULL
            WHERE user_id = ?
            """, now, user)
        try tx.execute(
            """
            DELETE FROM idempotency_keys WHERE caller IN (
                SELECT '\(Self.callerPrefix)' || id FROM sessions WHERE user_id = ?)
            """, user)
    }

    /// The beginning of the caller's name under which a session's idempotency keys are stored.
    package static var callerPrefix: String { "session/" }
}

extension Session.Maker {
    fileprivate var kind: String {
        switch self {
        case .user: "user"
        case .partner: "partner"
        case .admin: "admin"
        }
    }

    fileprivate init(_ kind: String, _ name: String) throws(StoreError) {
        switch kind {
        case "user": self = .user
        case "partner": self = .partner(name)
        case "admin": self = .admin
        default: throw .corrupt("column maker_kind is unknown")
        }
    }
}

extension Session {
    init(row: Row) throws(StoreError) {
        let chosen = try row.optionalText("chosen_sku") == nil ? nil : try row.code("chosen_sku")
        let chosenDays = try row.optionalInt("chosen_days")
        self.init(
            id: try row.id("id"), user: try row.id("user_id"), purpose: try row.choice("purpose"),
            maker: try Maker(try row.text("maker_kind"), try row.text("maker")), sale: try SessionSale(row: row),
            chosen: chosen.map { Plan(sku: $0, days: chosenDays) }, locale: try row.optionalText("locale"),
            createdAt: try row.time("created_at"), expiresAt: try row.time("expires_at"),
            readableUntil: try row.time("readable_until"), endedAt: try row.optionalTime("ended_at"))
        if try row.optionalBlob("wechat_openid") != nil {
            authorization = .given(appID: try row.text("wechat_app_id"))
        } else if try row.optionalText("wechat_account") != nil {
            authorization = .asked
        }
    }
}

extension SessionSale {
    fileprivate init(row: Row) throws(StoreError) {
        let words = { (column: String) throws(StoreError) in try row.text(column).split(separator: " ").map(String.init)
        }
        self.init(
            skus: try words("skus").compactMap { SKUCode($0) }, quantity: try row.int("quantity"),
            days: try row.optionalInt("days"), currency: try row.optionalText("currency").flatMap { Currency($0) },
            platform: try row.choice("platform"), provider: try row.optionalText("provider"),
            accept: Set(try words("accept").compactMap { ContractType(rawValue: $0) }),
            returnURL: try row.optionalText("return_url"), cancelURL: try row.optionalText("cancel_url"),
            metadata: try row.json("metadata"), storefront: try row.optionalText("storefront"))
        externalToken = try row.optionalID("external_token_id")
    }
}
