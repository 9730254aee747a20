package import Domain
package import FoundationEssentials

/// A credential without its secret, of which only the hash is stored.
package struct APIKeyRecord: Sendable {
    package let id: ID<APIKey>
    package let name: String
    package let partner: String
    package let scopes: [String]
    /// SHA-256 of the whole key.
    package let hash: Data
    package let createdAt: Timestamp
    /// From then on it is no key; nil for one without an end.
    package let expiresAt: Timestamp?
    /// Within a minute; nil where it never was.
    package let lastUsedAt: Timestamp?
    package let revokedAt: Timestamp?

    package init(
        id: ID<APIKey>, name: String, partner: String, scopes: [String], hash: Data, createdAt: Timestamp,
        expiresAt: Timestamp? = nil, lastUsedAt: Timestamp? = nil, revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.partner = partner
        self.scopes = scopes
        self.hash = hash
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
        self.revokedAt = revokedAt
    }
}

extension Database {
    package func apiKey(_ id: ID<APIKey>) throws(StoreError) -> APIKeyRecord? {
        try row("SELECT * FROM api_keys WHERE id = ?", id).map { row throws(StoreError) in try Self.apiKey(row) }
    }

    /// Newest first.
    package func apiKeys(before cursor: String?, limit: Int64) throws(StoreError) -> [APIKeyRecord] {
        try rows("SELECT * FROM api_keys WHERE id < ? ORDER BY id DESC LIMIT ?", [cursor ?? "key_~", limit])
            .map { row throws(StoreError) in try Self.apiKey(row) }
    }

    /// What the keys of a partner that are still good may do together.
    package func liveScopes(of partner: String, at now: Timestamp) throws(StoreError) -> Set<String> {
        let rows = try rows(
            """
            SELECT DISTINCT scopes FROM api_keys
            WHERE partner = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
            """, [partner, now])
        var scopes: Set<String> = []
        for row in rows { scopes.formUnion(try row.text("scopes").split(separator: " ").map(String.init)) }
        return scopes
    }

    /// The same for every partner that has an endpoint which is switched on.
    package func liveScopesOfSubscribers() throws(StoreError) -> Pending<[String: Set<String>]> {
        try ask(
            """
            SELECT DISTINCT partner, scopes FROM api_keys
            WHERE revoked_at IS NULL AND partner IN (SELECT partner FROM webhooks WHERE status = 'enabled')
            """
        ).map { rows throws(StoreError) in
            var scopes: [String: Set<String>] = [:]
            for row in rows {
                let names = try row.text("scopes").split(separator: " ").map(String.init)
                scopes[try row.text("partner"), default: []].formUnion(names)
            }
            return scopes
        }
    }

    package func hasAdminKey(at now: Timestamp) throws(StoreError) -> Bool {
        try row(
            """
            SELECT id FROM api_keys
            WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
              AND ' ' || scopes || ' ' LIKE '% admin %' LIMIT 1
            """, now) != nil
    }

    private static func apiKey(_ row: Row) throws(StoreError) -> APIKeyRecord {
        APIKeyRecord(
            id: try row.id("id"), name: try row.text("name"), partner: try row.text("partner"),
            scopes: try row.text("scopes").split(separator: " ").map(String.init), hash: try row.blob("hash"),
            createdAt: try row.time("created_at"), expiresAt: try row.optionalTime("expires_at"),
            lastUsedAt: try row.optionalTime("last_used_at"), revokedAt: try row.optionalTime("revoked_at"))
    }
}

extension Transaction {
    package func insertAPIKey(_ key: APIKeyRecord) throws(StoreError) {
        try run(
            """
            INSERT INTO api_keys (id, name, partner, scopes, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, key.id, key.name, key.partner, key.scopes.joined(separator: " "), key.hash, key.createdAt,
            key.expiresAt)
    }

    /// Notes that a key was used; a time that is noted already never goes back.
    package func noteUse(of key: ID<APIKey>, at now: Timestamp) throws(StoreError) {
        try run(
            "UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)", now,
            key,
            now)
    }

    /// - Returns: false when there is no such key that is still good.
    package func revokeAPIKey(_ id: ID<APIKey>, at now: Timestamp) throws(StoreError) -> Bool {
        try run("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", now, id) == 1
    }
}
