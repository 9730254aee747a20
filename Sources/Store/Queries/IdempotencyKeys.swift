package import Domain
package import FoundationEssentials

/// What a claim of an idempotency key found.
package enum IdempotencyClaim: Sendable, Equatable {
    /// The run may go on; `resource` is what an earlier, unfinished run made.
    case run(resource: String?)
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
        _ key: String, caller: String, fingerprint: Data, at now: Timestamp, lease: Int64
    ) throws(StoreError) -> IdempotencyClaim {
        let made = try rows(
            """
            INSERT INTO idempotency_keys (caller, key, fingerprint, lease_until, created_at)
            VALUES (?, ?, ?, \(dialect.clock) + ?, ?)
            ON CONFLICT DO NOTHING RETURNING key
            """, [caller, key, fingerprint, now, lease, now])
        if !made.isEmpty { return .run(resource: nil) }
        let found = try rows(
            "SELECT * FROM idempotency_keys WHERE caller = ? AND key = ?" + dialect.forUpdate, [caller, key])
        guard let row = found.first else { throw .unavailable("the key is being claimed") }
        guard try row.blob("fingerprint") == fingerprint else { return .reused }
        if let status = try row.optionalInt("status") { return .replay(status: status, answer: try row.blob("answer")) }
        let taken = try run(
            """
            UPDATE idempotency_keys SET lease_until = \(dialect.clock) + ?
            WHERE caller = ? AND key = ? AND lease_until <= \(dialect.clock)
            """, now, lease, caller, key, now)
        guard taken == 1 else { return .running }
        return .run(resource: try row.optionalText("resource"))
    }

    /// Binds what this run makes to its key, in the transaction that makes it.
    package func bindIdempotencyKey(_ key: String, caller: String, resource: String) throws(StoreError) {
        try run(
            "UPDATE idempotency_keys SET resource = ? WHERE caller = ? AND key = ? AND resource IS NULL", resource,
            caller, key)
    }

    /// Keeps the answer for every later call with this key.
    package func finishIdempotencyKey(
        _ key: String, caller: String, status: Int64, answer: Data
    ) throws(StoreError) {
        try run(
            "UPDATE idempotency_keys SET status = ?, answer = ? WHERE caller = ? AND key = ? AND status IS NULL",
            status, answer, caller, key)
    }

    /// Ends a run whose answer is not kept; the next one goes on with what this one made.
    package func releaseIdempotencyKey(_ key: String, caller: String) throws(StoreError) {
        try run(
            "UPDATE idempotency_keys SET lease_until = 0 WHERE caller = ? AND key = ? AND status IS NULL", caller, key)
    }
}
