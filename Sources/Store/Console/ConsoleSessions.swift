package import Domain
package import FoundationEssentials

/// A session of the console with the API key that it acts for.
package struct ConsoleSessionRecord: Sendable {
    package let key: APIKeyRecord
    package let expiresAt: Timestamp
    /// The time of its last use, exact to a minute.
    package let usedAt: Timestamp
}

/// Sessions of the console, by the SHA-256 of their cookies; all times are real.
///
/// `db.consoleSessions` reads; `tx.consoleSessions` also writes.
package struct ConsoleSessionQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var consoleSessions: ConsoleSessionQueries<any Database> { ConsoleSessionQueries(db: self, tx: self) }
}

extension Transaction {
    package var consoleSessions: ConsoleSessionQueries<any Transaction> { ConsoleSessionQueries(db: self, tx: self) }
}

extension ConsoleSessionQueries {
    /// Finds a session, also one that is over.
    package func find(digest: Data) throws(StoreError) -> ConsoleSessionRecord? {
        try db.row(
            """
            SELECT k.*, s.expires_at AS session_expires_at, s.used_at AS session_used_at
            FROM console_sessions s JOIN api_keys k ON k.id = s.key_id WHERE s.digest = ?
            """, digest
        ).map { row throws(StoreError) in
            ConsoleSessionRecord(
                key: try APIKeyRecord(row: row), expiresAt: try row.time("session_expires_at"),
                usedAt: try row.time("session_used_at"))
        }
    }
}

extension ConsoleSessionQueries where Connection == any Transaction {
    package func insert(
        digest: Data, key: ID<APIKey>, at now: Timestamp, until end: Timestamp
    ) throws(StoreError) {
        try tx.execute(
            "INSERT INTO console_sessions (digest, key_id, created_at, expires_at, used_at) VALUES (?, ?, ?, ?, ?)",
            digest, key, now, end, now)
    }

    /// Records the use of a session; a time before the stored one changes nothing.
    package func recordUse(digest: Data, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            "UPDATE console_sessions SET used_at = ? WHERE digest = ? AND used_at < ?", now, digest, now)
    }

    /// - Returns: false where there is no such session.
    package func delete(digest: Data) throws(StoreError) -> Bool {
        try tx.execute("DELETE FROM console_sessions WHERE digest = ?", digest) == 1
    }
}
