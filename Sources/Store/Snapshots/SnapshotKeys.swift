package import Domain
package import FoundationEssentials

/// A stored key that signs snapshots, or signed some that may still be valid.
package struct SnapshotKeyRecord: Sendable {
    /// The thumbprint of the public key.
    package let kid: String
    /// The number, by which keys are ordered; 0 before it is stored.
    package let n: Int64
    /// The private key, sealed.
    package let secret: Data
    /// The coordinates x and y of the public key, 32 bytes each.
    package let publicKey: Data

    package init(kid: String, n: Int64 = 0, secret: Data, publicKey: Data) {
        self.kid = kid
        self.n = n
        self.secret = secret
        self.publicKey = publicKey
    }
}

/// The keys of signed snapshots.
///
/// `db.snapshotKeys` reads; `tx.snapshotKeys` also writes.
package struct SnapshotKeyQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var snapshotKeys: SnapshotKeyQueries<any Database> { SnapshotKeyQueries(db: self, tx: self) }
}

extension Transaction {
    package var snapshotKeys: SnapshotKeyQueries<any Transaction> { SnapshotKeyQueries(db: self, tx: self) }
}

extension SnapshotKeyQueries {
    /// Lists the keys that sign, the newest first: several where nodes have different `secrets.keys`.
    package func listSigning() throws(StoreError) -> [SnapshotKeyRecord] {
        try db.rows("SELECT * FROM snapshot_keys WHERE published_until IS NULL ORDER BY n DESC LIMIT 10")
            .map(SnapshotKeyRecord.init(row:))
    }

    /// Lists the keys whose signatures may be valid, the newest first.
    package func listPublished(at now: Timestamp) throws(StoreError) -> [SnapshotKeyRecord] {
        try db.rows(
            """
            SELECT * FROM snapshot_keys WHERE published_until IS NULL OR published_until > ? ORDER BY n DESC LIMIT 100
            """, [now]
        ).map(SnapshotKeyRecord.init(row:))
    }
}

extension SnapshotKeyQueries where Connection == any Transaction {
    /// Inserts a key after the newest that its maker knows, unless another node was faster.
    ///
    /// - Parameter newest: the number of that key; 0 for none.
    package func insert(
        _ key: SnapshotKeyRecord, after newest: Int64, at now: Timestamp
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            INSERT INTO snapshot_keys (kid, n, secret, public_key, made_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, key.kid, newest + 1, key.secret, key.publicKey, now) == 1
    }

    /// Makes a key the one that signs; the others are published until a time, and those whose time is over are deleted.
    ///
    /// - Returns: false where another rotation was faster.
    package func rotate(
        to key: SnapshotKeyRecord, publishingOthersUntil end: Timestamp, at now: Timestamp
    ) throws(StoreError) -> Bool {
        let newest = try tx.row("SELECT MAX(n) AS n FROM snapshot_keys")?.optionalInt("n") ?? 0
        guard try insert(key, after: newest, at: now) else { return false }
        try tx.execute("DELETE FROM snapshot_keys WHERE published_until <= ?", now)
        try tx.execute(
            "UPDATE snapshot_keys SET published_until = ? WHERE published_until IS NULL AND kid <> ?", end, key.kid)
        return true
    }
}

extension SnapshotKeyRecord {
    init(row: Row) throws(StoreError) {
        self.init(
            kid: try row.text("kid"), n: try row.int("n"), secret: try row.blob("secret"),
            publicKey: try row.blob("public_key"))
    }
}
