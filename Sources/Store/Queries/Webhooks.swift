package import Domain
package import FoundationEssentials

/// A partner's endpoint as it is stored; its secrets are sealed.
package struct WebhookRecord: Sendable {
    package let id: ID<Webhook>
    package let partner: String
    package let url: String
    /// Empty for every type that the scopes allow.
    package let types: [String]
    /// Those of the key that made it, which bound what it may see.
    package let scopes: [String]
    package let secret: Data
    package let previousSecret: Data?
    package let status: Webhook.Status
    package let disabledReason: Webhook.DisabledReason?
    package let failingSince: Timestamp?
    package let createdAt: Timestamp

    /// Whether it was deleted and only its deliveries are still there: it is nobody's, without an address or a secret.
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

extension Database {
    package func webhook(_ id: ID<Webhook>) throws(StoreError) -> WebhookRecord? {
        try row("SELECT * FROM webhooks WHERE id = ?", id).map { row throws(StoreError) in try Self.webhook(row) }
    }

    /// The endpoint with the secrets that sign now: the previous one only while it lives.
    package func signingWebhook(_ id: ID<Webhook>, at now: Timestamp) throws(StoreError) -> WebhookRecord? {
        try rows(
            """
            SELECT w.id, w.partner, w.url, w.types, w.scopes, w.secret, w.status, w.disabled_reason, w.failing_since,
                w.created_at, CASE WHEN w.previous_until > \(dialect.clock) THEN w.previous_secret END AS previous_secret
            FROM webhooks w WHERE w.id = ?
            """, [now, id]
        ).first.map { row throws(StoreError) in try Self.webhook(row) }
    }

    /// A partner's endpoints, newest first.
    package func webhooks(
        of partner: String, before cursor: String?, limit: Int64
    ) throws(StoreError) -> [WebhookRecord] {
        try rows(
            "SELECT * FROM webhooks WHERE partner = ? AND id < ? ORDER BY id DESC LIMIT ?",
            [partner, cursor ?? "whk_~", limit]
        ).map { row throws(StoreError) in try Self.webhook(row) }
    }

    package func countWebhooks(of partner: String) throws(StoreError) -> Int64 {
        try row("SELECT COUNT(*) AS n FROM webhooks WHERE partner = ?", partner)?.int("n") ?? 0
    }

    static func webhook(_ row: Row) throws(StoreError) -> WebhookRecord {
        var reason: Webhook.DisabledReason?
        if row["disabled_reason"] != .null { reason = try row.choice("disabled_reason") }
        return WebhookRecord(
            id: try row.id("id"), partner: try row.text("partner"), url: try row.text("url"),
            types: try row.json("types"), scopes: try row.text("scopes").split(separator: " ").map(String.init),
            secret: try row.blob("secret"), previousSecret: try row.optionalBlob("previous_secret"),
            status: try row.choice("status"), disabledReason: reason,
            failingSince: try row.optionalTime("failing_since"), createdAt: try row.time("created_at"))
    }
}

extension Transaction {
    /// Locks an endpoint until the commit.
    package func lockWebhook(_ id: ID<Webhook>) throws(StoreError) -> WebhookRecord? {
        try rows("SELECT * FROM webhooks WHERE id = ?" + dialect.forUpdate, [id]).first
            .map { row throws(StoreError) in try Self.webhook(row) }
    }

    /// The endpoints that get events; until the commit none of them is changed or deleted.
    package func enabledWebhooks() throws(StoreError) -> Pending<[WebhookRecord]> {
        try ask("SELECT * FROM webhooks WHERE status = 'enabled' ORDER BY id" + dialect.forShare).each(Self.webhook)
    }

    package func insertWebhook(_ webhook: WebhookRecord) throws(StoreError) {
        try run(
            """
            INSERT INTO webhooks (id, partner, url, types, scopes, secret, status, created_at)
            VALUES (?, ?, ?, ?, ?, ?, 'enabled', ?)
            """, webhook.id, webhook.partner, webhook.url, try webhook.types.storedJSON(),
            webhook.scopes.joined(separator: " "), webhook.secret, webhook.createdAt)
    }

    /// Another address begins without the failures of the one before.
    package func setWebhook(_ id: ID<Webhook>, url: String, types: [String]) throws(StoreError) {
        try run(
            """
            UPDATE webhooks SET failing_since = CASE WHEN url = ? THEN failing_since END, url = ?, types = ?
            WHERE id = ?
            """, url, url, try types.storedJSON(), id)
    }

    package func enableWebhook(_ id: ID<Webhook>) throws(StoreError) {
        try run(
            "UPDATE webhooks SET status = 'enabled', disabled_reason = NULL, failing_since = NULL WHERE id = ?", id)
    }

    /// Switches an endpoint off: nothing of it is due from the commit on.
    package func disableWebhook(_ id: ID<Webhook>, _ reason: Webhook.DisabledReason) throws(StoreError) {
        try run("UPDATE webhooks SET status = 'disabled', disabled_reason = ? WHERE id = ?", reason.rawValue, id)
    }

    /// The old secret signs beside the new one for so many seconds.
    package func rotateSecret(
        of id: ID<Webhook>, to secret: Data, previous: Data, for seconds: Int64, at now: Timestamp
    ) throws(StoreError) {
        try run(
            """
            UPDATE webhooks SET secret = ?, previous_secret = ?, previous_until = \(dialect.clock) + ? WHERE id = ?
            """, secret, previous, now, seconds, id)
    }

    /// Takes an endpoint from its partner for good; its row waits for its deliveries to go.
    package func retireWebhook(_ id: ID<Webhook>) throws(StoreError) {
        try run(
            """
            UPDATE webhooks SET partner = '', url = '', secret = ?, previous_secret = NULL, previous_until = NULL,
                status = 'disabled', disabled_reason = ?, failing_since = NULL
            WHERE id = ?
            """, Data(), Webhook.DisabledReason.partner.rawValue, id)
    }

    /// Deletes the row of an endpoint that has no delivery left.
    package func dropWebhook(_ id: ID<Webhook>) throws(StoreError) { try run("DELETE FROM webhooks WHERE id = ?", id) }

    /// Notes that attempts ended, before they are recorded: a success ends a time of failures, a failure begins one.
    ///
    /// So does a failure before which nothing was attempted for longer than the gap: what was before says nothing of now.
    /// - Returns: whether the endpoint has only failed for longer than the limit.
    package func noteHealth(
        of id: ID<Webhook>, succeeded: Bool, failingLimit: Int64, longestGap: Int64, at now: Timestamp
    ) throws(StoreError) -> Bool {
        guard !succeeded else {
            try run("UPDATE webhooks SET failing_since = NULL WHERE id = ? AND failing_since IS NOT NULL", id)
            return false
        }
        if try hasFailed(id, for: longestGap, at: now), try !wasAttempted(id, within: longestGap, at: now) {
            try run("UPDATE webhooks SET failing_since = NULL WHERE id = ?", id)
        }
        let began = try run(
            "UPDATE webhooks SET failing_since = \(dialect.clock) WHERE id = ? AND failing_since IS NULL", now, id)
        guard began == 0 else { return false }
        return try hasFailed(id, for: failingLimit, at: now)
    }

    /// Whether an endpoint has only failed for so many seconds.
    private func hasFailed(_ id: ID<Webhook>, for seconds: Int64, at now: Timestamp) throws(StoreError) -> Bool {
        try !rows(
            "SELECT id FROM webhooks WHERE id = ? AND status = 'enabled' AND failing_since <= \(dialect.clock) - ?",
            [id, now, seconds]
        ).isEmpty
    }

    /// Whether an attempt that failed may have been made within so many seconds: its next one was not due before them.
    private func wasAttempted(_ id: ID<Webhook>, within seconds: Int64, at now: Timestamp) throws(StoreError) -> Bool {
        let time = dialect.clock
        // One after the other: the first has an index of its own, and nearly always finds something.
        let isTriedAgain = try !rows(
            """
            SELECT id FROM deliveries
            WHERE webhook = ? AND state = 'pending' AND first_done = 1 AND attempts > 0 AND next_at >= \(time) - ?
            LIMIT 1
            """, [id, now, seconds]
        ).isEmpty
        guard !isTriedAgain else { return true }
        return try !rows(
            """
            SELECT id FROM deliveries
            WHERE webhook = ? AND state = 'failed' AND done_at >= \(time) - ? AND last_error NOT IN (?, ?)
            LIMIT 1
            """, [id, now, seconds, Delivery.Fault.disabled.rawValue, Delivery.Fault.forbidden.rawValue]
        ).isEmpty
    }
}
