package import Domain
package import FoundationEssentials

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
        _ key: String, caller: String, fingerprint: Data, at now: Timestamp, lease: Int64
    ) throws(StoreError) -> IdempotencyClaim {
        let made = try rows(
            """
            INSERT INTO idempotency_keys (caller, key, fingerprint, lease_until, lease_epoch, created_at)
            VALUES (?, ?, ?, \(dialect.clock) + ?, 1, ?)
            ON CONFLICT DO NOTHING RETURNING key
            """, [caller, key, fingerprint, now, lease, now])
        if !made.isEmpty { return .run(epoch: 1, resource: nil) }
        let found = try rows(
            "SELECT * FROM idempotency_keys WHERE caller = ? AND key = ?" + dialect.forUpdate, [caller, key])
        guard let row = found.first else { throw .unavailable("the key is being claimed") }
        guard try row.blob("fingerprint") == fingerprint else { return .reused }
        if let status = try row.optionalInt("status") { return .replay(status: status, answer: try row.blob("answer")) }
        let taken = try rows(
            """
            UPDATE idempotency_keys SET lease_until = \(dialect.clock) + ?, lease_epoch = lease_epoch + 1
            WHERE caller = ? AND key = ? AND lease_until <= \(dialect.clock)
            RETURNING lease_epoch, resource
            """, [now, lease, caller, key, now])
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
            """, resource, caller, key, epoch) == 1
    }

    /// Keeps the answer for every later call with this key; a run that lost its lease keeps nothing.
    package func finishIdempotencyKey(
        _ key: String, caller: String, epoch: Int64, status: Int64, answer: Data
    ) throws(StoreError) {
        try run(
            """
            UPDATE idempotency_keys SET status = ?, answer = ?
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND status IS NULL
            """, status, answer, caller, key, epoch)
    }

    /// Ends a run whose answer is not kept; the next one goes on with what this one made.
    package func releaseIdempotencyKey(_ key: String, caller: String, epoch: Int64) throws(StoreError) {
        try run(
            """
            UPDATE idempotency_keys SET lease_until = 0
            WHERE caller = ? AND key = ? AND lease_epoch = ? AND status IS NULL
            """, caller, key, epoch)
    }
}
