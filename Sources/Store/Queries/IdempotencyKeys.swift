import Crypto
package import Domain
package import FoundationEssentials

/// How a caller's key is stored: a caller may have made it of a person's name, so only its digest is kept.
package enum StoredKey {
    /// A key of a caller's is visible ASCII, so nothing that begins like this is one that was stored as it came.
    private static let prefix = "sha256 "

    /// "sha256 " and 64 hexadecimal digits; the caller's name is in it, so that equal keys of two callers differ.
    package static func of(_ key: String, caller: String) -> String {
        let digest = SHA256.hash(data: Data("\(caller.utf8.count):\(caller)\(key)".utf8))
        return prefix + digest.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

/// What a claim of an idempotency key found.
package enum IdempotencyClaim: Sendable, Equatable {
    /// The run may go on under this lease; `resource` is what an earlier, unfinished run made.
    case run(epoch: Int64, resource: String?)
    case replay(status: Int64, answer: Data)
    /// Another run holds the lease.
    case running
    /// The key was used with another request.
    case reused
}

extension Transaction {
    /// Claims a caller's key for a request, or says why not.
    ///
    /// - Parameter lease: seconds after which an unfinished run no longer blocks the key.
    package func claimIdempotencyKey(
        _ key: String, caller: String, fingerprint: Data, orEarlier earlier: Data? = nil, at now: Timestamp,
        lease: Int64
    ) throws(StoreError) -> IdempotencyClaim {
        let stored = StoredKey.of(key, caller: caller)
        // An earlier release stored keys as they came.
        let made = try rows(
            """
            INSERT INTO idempotency_keys (caller, key, fingerprint, lease_until, lease_epoch, created_at)
            SELECT ?, ?, ?, \(dialect.clock) + ?, 1, ?
            WHERE NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE caller = ? AND key = ?)
            ON CONFLICT DO NOTHING RETURNING key
            """, [caller, stored, fingerprint, now, lease, now, caller, key])
        if !made.isEmpty { return .run(epoch: 1, resource: nil) }
        let found = try rows(
            "SELECT * FROM idempotency_keys WHERE caller = ? AND key IN (?, ?)" + dialect.forUpdate,
            [caller, stored, key])
        guard let row = found.first else { throw .unavailable("the key is being claimed") }
        if try row.text("key") != stored { try digestKey(key, of: caller) }
        let known = try row.blob("fingerprint")
        guard known == fingerprint || known == earlier else { return .reused }
        if let status = try row.optionalInt("status") { return .replay(status: status, answer: try row.blob("answer")) }
        let taken = try rows(
            """
            UPDATE idempotency_keys SET lease_until = \(dialect.clock) + ?, lease_epoch = lease_epoch + 1
            WHERE caller = ? AND key = ? AND lease_until <= \(dialect.clock)
            RETURNING lease_epoch, resource
            """, [now, lease, caller, stored, now])
        guard let lease = taken.first else { return .running }
        return .run(epoch: try lease.int("lease_epoch"), resource: try lease.optionalText("resource"))
    }

    /// Binds what this run makes to its key, in the transaction that makes it.
    ///
    /// - Returns: false when the run has lost its lease to another, or something is bound already; the caller undoes it all.
    package func bindIdempotencyKey(
        _ key: String, caller: String, epoch: Int64, resource: String
    ) throws(StoreError) -> Bool {
        try run(
            """
            UPDATE idempotency_keys SET resource = ?
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND resource IS NULL
            """, resource, caller, StoredKey.of(key, caller: caller), epoch) == 1
    }

    /// Binds a run's key to what takes the place of what it made, and holds the key for another lease.
    ///
    /// - Returns: false when the run has lost its lease to another; the caller undoes it all.
    package func rebindIdempotencyKey(
        _ key: String, caller: String, epoch: Int64, resource: String, at now: Timestamp, lease: Int64
    ) throws(StoreError) -> Bool {
        try run(
            """
            UPDATE idempotency_keys SET resource = ?, lease_until = \(dialect.clock) + ?
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND status IS NULL
            """, resource, now, lease, caller, StoredKey.of(key, caller: caller), epoch) == 1
    }

    /// Keeps the answer for every later call with this key; a run that lost its lease keeps nothing.
    package func finishIdempotencyKey(
        _ key: String, caller: String, epoch: Int64, status: Int64, answer: Data
    ) throws(StoreError) {
        try run(
            """
            UPDATE idempotency_keys SET status = ?, answer = ?
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND status IS NULL
            """, status, answer, caller, StoredKey.of(key, caller: caller), epoch)
    }

    /// Ends a run whose answer is not kept; the next one goes on with what this one made.
    package func releaseIdempotencyKey(_ key: String, caller: String, epoch: Int64) throws(StoreError) {
        try run(
            """
            UPDATE idempotency_keys SET lease_until = 0
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND status IS NULL
            """, caller, StoredKey.of(key, caller: caller), epoch)
    }

    /// Digests keys that an earlier release stored as they came, and returns how many.
    package func digestKeys(limit: Int64) throws(StoreError) -> Int {
        let found = try rows(
            "SELECT caller, key FROM idempotency_keys WHERE substr(key, 1, 7) <> 'sha256 ' LIMIT ?", [limit])
        for row in found { try digestKey(try row.text("key"), of: try row.text("caller")) }
        return found.count
    }

    private func digestKey(_ key: String, of caller: String) throws(StoreError) {
        let stored = StoredKey.of(key, caller: caller)
        let moved = try run(
            """
            UPDATE idempotency_keys SET key = ? WHERE caller = ? AND key = ?
              AND NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE caller = ? AND key = ?)
            """, stored, caller, key, caller, stored)
        // A node of the earlier release may have stored one while this release had the same already.
        if moved == 0 { try run("DELETE FROM idempotency_keys WHERE caller = ? AND key = ?", caller, key) }
    }
}
