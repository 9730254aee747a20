import Crypto
package import Domain
package import FoundationEssentials

/// The stored form of a caller's key: a digest, because a caller may use a person's name as the key.
package enum StoredKey {
    /// A caller's key is visible ASCII without spaces, so no key in plain text begins like this.
    private static let prefix = "sha256 "

    /// Returns "sha256 " and 64 hexadecimal digits of the caller and the key, so that equal keys of two callers differ.
    package static func of(_ key: String, caller: String) -> String {
        let digest = SHA256.hash(data: Data("\(caller.utf8.count):\(caller)\(key)".utf8))
        return prefix + Hex.encoded(digest)
    }
}

/// The result of claiming an idempotency key.
package enum IdempotencyClaim: Sendable, Equatable {
    /// The request may go on under this lease; `resource` is the object that an earlier, unfinished request made.
    case run(epoch: Int64, resource: String?)
    case replay(status: Int64, answer: Data)
    /// Another request with this key holds the lease.
    case running
    /// The key was used with another request.
    case reused
}

/// Callers' idempotency keys with their leases and answers.
///
/// `db.idempotencyKeys` reads; `tx.idempotencyKeys` also writes.
package struct IdempotencyKeyQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var idempotencyKeys: IdempotencyKeyQueries<any Database> { IdempotencyKeyQueries(db: self, tx: self) }
}

extension Transaction {
    package var idempotencyKeys: IdempotencyKeyQueries<any Transaction> { IdempotencyKeyQueries(db: self, tx: self) }
}

extension IdempotencyKeyQueries {
    /// Returns whether a caller has used a key; one of an earlier release is stored in plain text.
    package func exists(_ key: String, caller: String) throws(StoreError) -> Bool {
        try db.row(
            "SELECT 1 AS one FROM idempotency_keys WHERE caller = ? AND key IN (?, ?)", caller,
            StoredKey.of(key, caller: caller), key) != nil
    }
}

extension IdempotencyKeyQueries where Connection == any Transaction {
    /// Marks abandoned requests as complete once their object has reached its final state.
    package func complete(of resource: String, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            """
            UPDATE idempotency_keys SET completed_at = ?
            WHERE resource = ? AND status IS NULL AND completed_at IS NULL
            """, now, resource)
    }

    /// Claims a caller's key for a request.
    ///
    /// - Parameter lease: seconds after which an unfinished request no longer blocks the key.
    package func claim(
        _ key: String, caller: String, fingerprint: Data, orEarlier earlier: Data? = nil, at now: Timestamp,
        lease: Int64
    ) throws(StoreError) -> IdempotencyClaim {
        let stored = StoredKey.of(key, caller: caller)
        // An earlier release stored keys in plain text.
        let made = try tx.rows(
            """
            INSERT INTO idempotency_keys (caller, key, fingerprint, lease_until, lease_epoch, created_at)
            SELECT ?, ?, ?, \(tx.dialect.realClock) + ?, 1, ?
            WHERE NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE caller = ? AND key = ?)
            ON CONFLICT DO NOTHING RETURNING key
            """, [caller, stored, fingerprint, now, lease, now, caller, key])
        if !made.isEmpty { return .run(epoch: 1, resource: nil) }
        let found = try tx.rows(
            "SELECT * FROM idempotency_keys WHERE caller = ? AND key IN (?, ?)" + tx.dialect.forUpdate,
            [caller, stored, key])
        guard let row = found.first else { throw .unavailable("the key is being claimed") }
        if try row.text("key") != stored { try digest(key, of: caller) }
        let known = try row.blob("fingerprint")
        guard known == fingerprint || known == earlier else { return .reused }
        if let status = try row.optionalInt("status") { return .replay(status: status, answer: try row.blob("answer")) }
        let taken = try tx.rows(
            """
            UPDATE idempotency_keys SET lease_until = \(tx.dialect.realClock) + ?, lease_epoch = lease_epoch + 1
            WHERE caller = ? AND key = ? AND lease_until <= \(tx.dialect.realClock)
            RETURNING lease_epoch, resource
            """, [now, lease, caller, stored, now])
        guard let lease = taken.first else { return .running }
        return .run(epoch: try lease.int("lease_epoch"), resource: try lease.optionalText("resource"))
    }

    /// Claims an unused key for the object that its request makes, in the transaction that makes the object.
    ///
    /// - Parameter epoch: the number of the lease, which no other request has.
    /// - Returns: false where another request has claimed the key; the caller rolls back.
    package func claim(
        _ key: String, caller: String, fingerprint: Data, epoch: Int64, resource: String, at now: Timestamp,
        lease: Int64
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            INSERT INTO idempotency_keys (caller, key, fingerprint, lease_until, lease_epoch, resource, created_at)
            VALUES (?, ?, ?, \(tx.dialect.realClock) + ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, caller, StoredKey.of(key, caller: caller), fingerprint, now, lease, epoch, resource, now) == 1
    }

    /// Binds the object that this request makes to its key, in the transaction that makes the object.
    ///
    /// - Returns: false when the request has lost its lease to another, or an object is bound already; the caller rolls
    ///   back.
    package func bind(
        _ key: String, caller: String, epoch: Int64, resource: String
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            UPDATE idempotency_keys SET resource = ?
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND resource IS NULL
            """, resource, caller, StoredKey.of(key, caller: caller), epoch) == 1
    }

    /// Binds another object to a request's key in place of the first, and extends the lease.
    ///
    /// An answer that this request has stored, by a commit of which it did not hear, is taken back: it is about the first
    /// object. One that an erasure has emptied stays.
    ///
    /// - Returns: false when the request has lost its lease to another; the caller rolls back.
    package func rebind(
        _ key: String, caller: String, epoch: Int64, resource: String, at now: Timestamp, lease: Int64
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            UPDATE idempotency_keys
            SET resource = ?, lease_until = \(tx.dialect.realClock) + ?, status = NULL, answer = NULL
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND (status IS NULL OR length(answer) > 0)
            """, resource, now, lease, caller, StoredKey.of(key, caller: caller), epoch) == 1
    }

    /// Stores the answer for every later call with this key.
    ///
    /// - Returns: false where the lease was lost, or the key was never claimed.
    @discardableResult
    package func finish(
        _ key: String, caller: String, epoch: Int64, status: Int64, answer: Data
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            UPDATE idempotency_keys SET status = ?, answer = ?
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND status IS NULL
            """, status, answer, caller, StoredKey.of(key, caller: caller), epoch) == 1
    }

    /// Stores the answer of a request that made no object and so never claimed its key, unless another request has
    /// claimed it.
    package func insertFinished(
        _ key: String, caller: String, fingerprint: Data, epoch: Int64, status: Int64, answer: Data, at now: Timestamp
    ) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO idempotency_keys
                (caller, key, fingerprint, lease_until, lease_epoch, status, answer, created_at)
            VALUES (?, ?, ?, 0, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, caller, StoredKey.of(key, caller: caller), fingerprint, epoch, status, answer, now)
    }

    /// Gives up the lease without storing an answer; the next request continues with the bound object.
    package func release(_ key: String, caller: String, epoch: Int64) throws(StoreError) {
        try tx.execute(
            """
            UPDATE idempotency_keys SET lease_until = 0
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND status IS NULL
            """, caller, StoredKey.of(key, caller: caller), epoch)
    }

    /// Digests keys that an earlier release stored in plain text, and returns their number.
    package func digestAll(limit: Int64) throws(StoreError) -> Int {
        let found = try tx.rows(
            "SELECT caller, key FROM idempotency_keys WHERE substr(key, 1, 7) <> 'sha256 ' LIMIT ?", [limit])
        for row in found { try digest(try row.text("key"), of: try row.text("caller")) }
        return found.count
    }

    private func digest(_ key: String, of caller: String) throws(StoreError) {
        let stored = StoredKey.of(key, caller: caller)
        let moved = try tx.execute(
            """
            UPDATE idempotency_keys SET key = ? WHERE caller = ? AND key = ?
              AND NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE caller = ? AND key = ?)
            """, stored, caller, key, caller, stored)
        // A node of the earlier release may have stored a key whose digest this release has stored already.
        if moved == 0 { try tx.execute("DELETE FROM idempotency_keys WHERE caller = ? AND key = ?", caller, key) }
    }
}
