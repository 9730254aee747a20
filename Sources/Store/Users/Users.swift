package import Domain

/// The row of a user that every settlement locks first.
package struct UserState: Sendable {
    package let id: ID<User>
    /// Incremented with every change of what the user owns.
    package let version: Int64
    /// The UUID that Apple's transactions carry for this user; nil until it is first requested.
    package let appAccountToken: String?
}

/// Users: the mapping of the app's user ids to internal ids, and each user's version.
///
/// `db.users` reads; `tx.users` also writes.
package struct UserQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var users: UserQueries<any Database> { UserQueries(db: self, tx: self) }
}

extension Transaction {
    package var users: UserQueries<any Transaction> { UserQueries(db: self, tx: self) }
}

extension UserQueries {
    /// Lists users with an entitlement that began or ended by time alone until `now`, longest ago first.
    package func listDueChanges(until now: Timestamp, limit: Int64) throws(StoreError) -> [ID<User>] {
        try db.rows(
            """
            SELECT user_id FROM user_states WHERE next_change_at IS NOT NULL AND next_change_at <= ?
            ORDER BY next_change_at, user_id LIMIT ?
            """, [now, limit]
        ).map { row throws(StoreError) in try row.id("user_id") }
    }

    /// Finds the user for whom an `appAccountToken` was made.
    package func findID(appAccountToken token: String) throws(StoreError) -> DeferredResult<ID<User>?> {
        try db.deferredRows("SELECT user_id FROM user_states WHERE app_account_token = ?", token)
            .first { row throws(StoreError) in try row.id("user_id") }
    }

    package func findState(_ external: ExternalUserID) throws(StoreError) -> UserState? {
        try db.row(
            """
            SELECT s.user_id, s.version, s.app_account_token FROM users u JOIN user_states s ON s.user_id = u.id
            WHERE u.external_id = ?
            """, external.rawValue
        ).map { row throws(StoreError) in
            UserState(
                id: try row.id("user_id"), version: try row.int("version"),
                appAccountToken: try row.optionalText("app_account_token"))
        }
    }

    package func findID(_ external: ExternalUserID) throws(StoreError) -> ID<User>? {
        try db.row("SELECT id FROM users WHERE external_id = ?", external.rawValue)?.id("id")
    }

    /// The external id of a user; nil after an erasure.
    package func findExternalID(_ user: ID<User>) throws(StoreError) -> String? {
        try db.row("SELECT external_id FROM users WHERE id = ?", user)?.text("external_id")
    }

    /// Lists the external ids of many users; those of erased users are missing.
    package func listExternalIDs(_ users: some Sequence<ID<User>>) throws(StoreError) -> [ID<User>: String] {
        var names: [ID<User>: String] = [:]
        let found = try db.rowsByKey(Array(Set(users)).sorted(), "id") {
            "SELECT id, external_id FROM users WHERE id IN (\($0))"
        }
        for row in found.values.joined() { names[try row.id("id")] = try row.text("external_id") }
        return names
    }

    /// Returns the version of a user's entitlements, and the next time at which one begins or ends by time alone.
    package func version(of user: ID<User>) throws(StoreError) -> (version: Int64, nextChangeAt: Timestamp?) {
        guard let row = try db.row("SELECT version, next_change_at FROM user_states WHERE user_id = ?", user) else {
            throw .corrupt("a user has no state")
        }
        return (try row.int("version"), try row.optionalTime("next_change_at"))
    }
}

extension UserQueries where Connection == any Transaction {
    /// Returns the user with this external id; inserts one when there is none.
    package func ensure(
        _ external: ExternalUserID, candidate: ID<User>, at now: Timestamp
    ) throws(StoreError) -> ID<User> {
        try ensure(external, known: try lockShared(external), candidate: candidate, at: now)
    }

    /// Finds the user with this external id and locks the id against erasure until the commit.
    package func lockShared(_ external: ExternalUserID) throws(StoreError) -> DeferredResult<ID<User>?> {
        // Shared, so that an erasure waits for the rows that are being made for this user.
        try tx.deferredRows("SELECT id FROM users WHERE external_id = ?" + tx.dialect.forShare, external.rawValue)
            .first { row throws(StoreError) in try row.id("id") }
    }

    /// - Parameter known: the result of ``lockShared(_:)``.
    package func ensure(
        _ external: ExternalUserID, known: DeferredResult<ID<User>?>, candidate: ID<User>, at now: Timestamp
    ) throws(StoreError) -> ID<User> {
        if let known = try known.value() { return known }
        let made = try tx.execute(
            "INSERT INTO users (id, external_id) VALUES (?, ?) ON CONFLICT DO NOTHING", candidate, external.rawValue)
        guard made == 0 else {
            try tx.enqueue("INSERT INTO user_states (user_id, created_at) VALUES (?, ?)", candidate, now)
            return candidate
        }
        guard let known = try findID(external) else { throw .unavailable("a user was made at the same moment") }
        return known
    }

    /// Locks a user until the commit; always the first lock of a settlement.
    package func lock(_ user: ID<User>) throws(StoreError) {
        guard tx.dialect.locksRows else { return }
        try tx.enqueue("SELECT user_id FROM user_states WHERE user_id = ?" + tx.dialect.forUpdate, user)
    }

    /// Increments the version of a user's entitlements; the caller holds the user's lock.
    ///
    /// An erased user gets no next change.
    ///
    /// - Parameter version: the stored version; the statement fails when it is another.
    /// - Returns: the new version.
    package func incrementVersion(
        of user: ID<User>, from version: Int64, nextChangeAt: Timestamp?
    ) throws(StoreError) -> Int64 {
        try tx.enqueue(
            """
            UPDATE user_states SET version = CASE WHEN version = ? THEN version + 1 END, next_change_at = CASE
                WHEN EXISTS (SELECT 1 FROM users WHERE id = user_states.user_id) THEN CAST(? AS BIGINT) END
            WHERE user_id = ?
            """, version, nextChangeAt, user)
        tx.markChanged(user)
        return version + 1
    }

    /// Returns the UUID that Apple's transactions carry for this user; stores the candidate when there is none yet.
    package func appAccountToken(of user: ID<User>, candidate: String) throws(StoreError) -> String {
        try tx.execute(
            "UPDATE user_states SET app_account_token = ? WHERE user_id = ? AND app_account_token IS NULL", candidate,
            user)
        guard let row = try tx.row("SELECT app_account_token FROM user_states WHERE user_id = ?", user) else {
            throw .corrupt("a user has no state")
        }
        return try row.text("app_account_token")
    }
}
