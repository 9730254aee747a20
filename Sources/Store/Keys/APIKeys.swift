package import Domain
package import FoundationEssentials

/// A stored API key; of its secret only the hash is stored.
package struct APIKeyRecord: Sendable {
    package let id: ID<APIKey>
    package let name: String
    package let partner: String
    package let scopes: [String]
    /// SHA-256 of the whole key.
    package let hash: Data
    package let createdAt: Timestamp
    /// The time from which the key is invalid; nil for never.
    package let expiresAt: Timestamp?
    /// The time of its last use, exact to a minute; nil for never.
    package let lastUsedAt: Timestamp?
    package let revokedAt: Timestamp?

    /// Returns whether the key is valid.
    ///
    /// - Parameter now: the real time.
    package func isValid(at now: Timestamp) -> Bool { revokedAt == nil && (expiresAt.map { now < $0 } ?? true) }

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

/// API keys and their scopes.
///
/// `db.apiKeys` reads; `tx.apiKeys` also writes.
package struct APIKeyQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var apiKeys: APIKeyQueries<any Database> { APIKeyQueries(db: self, tx: self) }
}

extension Transaction {
    package var apiKeys: APIKeyQueries<any Transaction> { APIKeyQueries(db: self, tx: self) }
}

extension APIKeyQueries {
    package func find(_ id: ID<APIKey>) throws(StoreError) -> APIKeyRecord? {
        try db.row("SELECT * FROM api_keys WHERE id = ?", id).map(APIKeyRecord.init(row:))
    }

    /// Lists keys, newest first.
    package func list(before cursor: String?, limit: Int64) throws(StoreError) -> [APIKeyRecord] {
        try db.rows("SELECT * FROM api_keys WHERE id < ? ORDER BY id DESC LIMIT ?", [cursor ?? "key_~", limit])
            .map(APIKeyRecord.init(row:))
    }

    /// Lists the scopes of all valid keys of a partner.
    package func listScopes(of partner: String, at now: Timestamp) throws(StoreError) -> Set<String> {
        let rows = try db.rows(
            """
            SELECT DISTINCT scopes FROM api_keys
            WHERE partner = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
            """, [partner, now])
        var scopes: Set<String> = []
        for row in rows { scopes.formUnion(try row.text("scopes").split(separator: " ").map(String.init)) }
        return scopes
    }

    /// Lists the scopes of the valid keys of each partner that has an enabled endpoint.
    package func listSubscriberScopes() throws(StoreError) -> DeferredResult<[String: Set<String>]> {
        try db.deferredRows(
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

    /// Finds the oldest valid key with the scope `admin`.
    package func findFirstAdmin(at now: Timestamp) throws(StoreError) -> APIKeyRecord? {
        try db.row(
            """
            SELECT * FROM api_keys
            WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
              AND ' ' || scopes || ' ' LIKE '% admin %' ORDER BY id LIMIT 1
            """, now
        ).map(APIKeyRecord.init(row:))
    }
}

extension APIKeyQueries where Connection == any Transaction {
    /// Finds a key and locks it until the commit.
    package func lock(_ id: ID<APIKey>) throws(StoreError) -> APIKeyRecord? {
        try tx.row("SELECT * FROM api_keys WHERE id = ?" + tx.dialect.forUpdate, id).map(APIKeyRecord.init(row:))
    }

    package func insert(_ key: APIKeyRecord) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO api_keys (id, name, partner, scopes, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, key.id, key.name, key.partner, key.scopes.joined(separator: " "), key.hash, key.createdAt,
            key.expiresAt)
    }

    /// Records the use of a key; a time before the stored one changes nothing.
    package func recordUse(of key: ID<APIKey>, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            "UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)", now,
            key,
            now)
    }

    /// - Returns: false when there is no valid key with this id.
    package func revoke(_ id: ID<APIKey>, at now: Timestamp) throws(StoreError) -> Bool {
        try tx.execute("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", now, id) == 1
    }
}

extension APIKeyRecord {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), name: try row.text("name"), partner: try row.text("partner"),
            scopes: try row.text("scopes").split(separator: " ").map(String.init), hash: try row.blob("hash"),
            createdAt: try row.time("created_at"), expiresAt: try row.optionalTime("expires_at"),
            lastUsedAt: try row.optionalTime("last_used_at"), revokedAt: try row.optionalTime("revoked_at"))
    }
}
