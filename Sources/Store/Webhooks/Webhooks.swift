package import Domain
package import FoundationEssentials

/// A stored endpoint of a partner; its secrets are sealed.
package struct WebhookRecord: Sendable {
    package let id: ID<Webhook>
    package let partner: String
    package let url: String
    /// Empty for all types that the scopes allow.
    package let types: [String]
    /// The scopes of the key that made the webhook, which limit the events that it gets.
    package let scopes: [String]
    package let secret: Data
    package let previousSecret: Data?
    package let status: Webhook.Status
    package let disabledReason: Webhook.DisabledReason?
    package let failingSince: Timestamp?
    package let createdAt: Timestamp

    /// True for a deleted endpoint whose deliveries are still stored: it has no partner, URL or secret.
    package var isRetired: Bool { partner.isEmpty }

    package init(
        id: ID<Webhook>, partner: String, url: String, types: [String], scopes: [String], secret: Data,
        previousSecret: Data? = nil, status: Webhook.Status = .enabled, disabledReason: Webhook.DisabledReason? = nil,
        failingSince: Timestamp? = nil, createdAt: Timestamp
    ) {
        self.id = id
        self.partner = partner
        self.url = url
        self.types = types
        self.scopes = scopes
        self.secret = secret
        self.previousSecret = previousSecret
        self.status = status
        self.disabledReason = disabledReason
        self.failingSince = failingSince
        self.createdAt = createdAt
    }
}

/// Partners' webhook endpoints.
///
/// `db.webhooks` reads; `tx.webhooks` also writes.
package struct WebhookQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var webhooks: WebhookQueries<any Database> { WebhookQueries(db: self, tx: self) }
}

extension Transaction {
    package var webhooks: WebhookQueries<any Transaction> { WebhookQueries(db: self, tx: self) }
}

extension WebhookQueries {
    package func find(_ id: ID<Webhook>) throws(StoreError) -> WebhookRecord? {
        try db.row("SELECT * FROM webhooks WHERE id = ?", id).map(WebhookRecord.init(row:))
    }

    /// Finds the endpoint with the secrets that sign now: the previous one only until it expires.
    package func findForSigning(_ id: ID<Webhook>, at now: Timestamp) throws(StoreError) -> WebhookRecord? {
        try db.rows(
            """
            SELECT w.id, w.partner, w.url, w.types, w.scopes, w.secret, w.status, w.disabled_reason, w.failing_since,
                w.created_at, CASE WHEN w.previous_until > \(db.dialect.businessClock) THEN w.previous_secret END AS previous_secret
            FROM webhooks w WHERE w.id = ?
            """, [now, id]
        ).first.map(WebhookRecord.init(row:))
    }

    /// Lists a partner's endpoints, newest first.
    package func list(
        of partner: String, before cursor: String?, limit: Int64
    ) throws(StoreError) -> [WebhookRecord] {
        try db.rows(
            "SELECT * FROM webhooks WHERE partner = ? AND id < ? ORDER BY id DESC LIMIT ?",
            [partner, cursor ?? "whk_~", limit]
        ).map(WebhookRecord.init(row:))
    }

    /// Lists the endpoints of every partner, newest first.
    package func list(before cursor: String?, limit: Int64) throws(StoreError) -> [WebhookRecord] {
        try db.rows(
            "SELECT * FROM webhooks WHERE partner <> '' AND id < ? ORDER BY id DESC LIMIT ?",
            [cursor ?? "whk_~", limit]
        ).map(WebhookRecord.init(row:))
    }

    package func count(of partner: String) throws(StoreError) -> Int64 {
        try db.row("SELECT COUNT(*) AS n FROM webhooks WHERE partner = ?", partner)?.int("n") ?? 0
    }
}

extension WebhookQueries where Connection == any Transaction {
    /// Locks an endpoint until the commit.
    package func lock(_ id: ID<Webhook>) throws(StoreError) -> WebhookRecord? {
        try tx.rows("SELECT * FROM webhooks WHERE id = ?" + tx.dialect.forUpdate, [id]).first
            .map(WebhookRecord.init(row:))
    }

    /// Lists the endpoints that get events; none of them is changed or deleted until the commit.
    package func listEnabled() throws(StoreError) -> DeferredResult<[WebhookRecord]> {
        try tx.deferredRows("SELECT * FROM webhooks WHERE status = 'enabled' ORDER BY id" + tx.dialect.forShare).each(
            WebhookRecord.init(row:))
    }

    package func insert(_ webhook: WebhookRecord) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO webhooks (id, partner, url, types, scopes, secret, status, created_at)
            VALUES (?, ?, ?, ?, ?, ?, 'enabled', ?)
            """, webhook.id, webhook.partner, webhook.url, try webhook.types.storedJSON(),
            webhook.scopes.joined(separator: " "), webhook.secret, webhook.createdAt)
    }

    /// Sets the URL and the types; a changed URL resets the record of failures.
    package func update(_ id: ID<Webhook>, url: String, types: [String]) throws(StoreError) {
        try tx.execute(
            """
            UPDATE webhooks SET failing_since = CASE WHEN url = ? THEN failing_since END, url = ?, types = ?
            WHERE id = ?
            """, url, url, try types.storedJSON(), id)
    }

    package func enable(_ id: ID<Webhook>) throws(StoreError) {
        try tx.execute(
            "UPDATE webhooks SET status = 'enabled', disabled_reason = NULL, failing_since = NULL WHERE id = ?", id)
    }

    /// Disables an endpoint; from the commit on, no delivery of it is due.
    package func disable(_ id: ID<Webhook>, _ reason: Webhook.DisabledReason) throws(StoreError) {
        try tx.execute("UPDATE webhooks SET status = 'disabled', disabled_reason = ? WHERE id = ?", reason.rawValue, id)
    }

    /// Replaces the secret; the previous one signs beside it for a number of seconds.
    package func rotateSecret(
        of id: ID<Webhook>, to secret: Data, previous: Data, for seconds: Int64, at now: Timestamp
    ) throws(StoreError) {
        try tx.execute(
            """
            UPDATE webhooks SET secret = ?, previous_secret = ?, previous_until = \(tx.dialect.businessClock) + ? WHERE id = ?
            """, secret, previous, now, seconds, id)
    }

    /// Removes an endpoint from its partner; its row stays until its deliveries are deleted.
    package func retire(_ id: ID<Webhook>) throws(StoreError) {
        try tx.execute(
            """
            UPDATE webhooks SET partner = '', url = '', secret = ?, previous_secret = NULL, previous_until = NULL,
                status = 'disabled', disabled_reason = ?, failing_since = NULL
            WHERE id = ?
            """, Data(), Webhook.DisabledReason.partner.rawValue, id)
    }

    /// Deletes the row of an endpoint that has no delivery left.
    package func delete(_ id: ID<Webhook>) throws(StoreError) {
        try tx.execute("DELETE FROM webhooks WHERE id = ?", id)
    }

    /// Updates the health of an endpoint before its attempts are recorded.
    ///
    /// A success ends a period of failures, a failure begins one, and a failure after a pause longer than the gap
    /// begins a new one.
    ///
    /// - Returns: true when the endpoint has only failed for longer than the limit.
    package func recordHealth(
        of id: ID<Webhook>, succeeded: Bool, failingLimit: Int64, longestGap: Int64, at now: Timestamp
    ) throws(StoreError) -> Bool {
        guard !succeeded else {
            try tx.execute("UPDATE webhooks SET failing_since = NULL WHERE id = ? AND failing_since IS NOT NULL", id)
            return false
        }
        if try hasFailed(id, for: longestGap, at: now), try !wasAttempted(id, within: longestGap, at: now) {
            try tx.execute("UPDATE webhooks SET failing_since = NULL WHERE id = ?", id)
        }
        let began = try tx.execute(
            "UPDATE webhooks SET failing_since = \(tx.dialect.businessClock) WHERE id = ? AND failing_since IS NULL",
            now, id)
        guard began == 0 else { return false }
        return try hasFailed(id, for: failingLimit, at: now)
    }

    /// Returns whether an endpoint has only failed for this number of seconds.
    private func hasFailed(_ id: ID<Webhook>, for seconds: Int64, at now: Timestamp) throws(StoreError) -> Bool {
        try !tx.rows(
            "SELECT id FROM webhooks WHERE id = ? AND status = 'enabled' AND failing_since <= \(tx.dialect.businessClock) - ?",
            [id, now, seconds]
        ).isEmpty
    }

    /// Returns whether a failed attempt may have been made within this number of seconds, because its retry was not due
    /// before.
    private func wasAttempted(_ id: ID<Webhook>, within seconds: Int64, at now: Timestamp) throws(StoreError) -> Bool {
        let time = tx.dialect.businessClock
        // One after the other: the first query has an index of its own and nearly always finds a row.
        let isTriedAgain = try !tx.rows(
            """
            SELECT id FROM deliveries
            WHERE webhook = ? AND state = 'pending' AND first_done = 1 AND attempts > 0 AND next_at >= \(time) - ?
            LIMIT 1
            """, [id, now, seconds]
        ).isEmpty
        guard !isTriedAgain else { return true }
        return try !tx.rows(
            """
            SELECT id FROM deliveries
            WHERE webhook = ? AND state = 'failed' AND done_at >= \(time) - ? AND last_error NOT IN (?, ?)
            LIMIT 1
            """, [id, now, seconds, Delivery.Fault.disabled.rawValue, Delivery.Fault.forbidden.rawValue]
        ).isEmpty
    }
}

extension WebhookRecord {
    init(row: Row) throws(StoreError) {
        var reason: Webhook.DisabledReason?
        if row["disabled_reason"] != .null { reason = try row.choice("disabled_reason") }
        self.init(
            id: try row.id("id"), partner: try row.text("partner"), url: try row.text("url"),
            types: try row.json("types"), scopes: try row.text("scopes").split(separator: " ").map(String.init),
            secret: try row.blob("secret"), previousSecret: try row.optionalBlob("previous_secret"),
            status: try row.choice("status"), disabledReason: reason,
            failingSince: try row.optionalTime("failing_since"), createdAt: try row.time("created_at"))
    }
}
