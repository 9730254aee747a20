package import Domain

/// The row of a user that every settlement locks first.
package struct UserState: Sendable {
    package let id: ID<User>
    /// Counts every change of what the user owns.
    package let version: Int64
    /// The UUID that Apple's transactions carry for this user; nil until somebody asks for it.
    package let appAccountToken: String?
}

// The mapping from the app's user ids to ours, and what is kept of each user.
extension Database {
    package func userState(_ external: ExternalUserID) throws(StoreError) -> UserState? {
        try row(
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

    package func userID(_ external: ExternalUserID) throws(StoreError) -> ID<User>? {
        try row("SELECT id FROM users WHERE external_id = ?", external.rawValue)?.id("id")
    }

    /// The app's own id; nil after an erasure.
    package func externalUserID(_ user: ID<User>) throws(StoreError) -> String? {
        try row("SELECT external_id FROM users WHERE id = ?", user)?.text("external_id")
    }

    /// The app's own ids of many users; those of erased ones are missing.
    package func externalUserIDs(_ users: some Sequence<ID<User>>) throws(StoreError) -> [ID<User>: String] {
        var names: [ID<User>: String] = [:]
        let users = Array(users)
        for chunk in Chunks.of(users.count) {
            let marks = Array(repeating: "?", count: chunk.count).joined(separator: ", ")
            let rows = try rows("SELECT id, external_id FROM users WHERE id IN (\(marks))", Array(users[chunk]))
            for row in rows { names[try row.id("id")] = try row.text("external_id") }
        }
        return names
    }

    package func userVersion(_ user: ID<User>) throws(StoreError) -> Int64 {
        try row("SELECT version FROM user_states WHERE user_id = ?", user)?.int("version") ?? 0
    }
}

extension Transaction {
    /// The user of this name, made when first seen.
    package func ensureUser(
        _ external: ExternalUserID, candidate: ID<User>, at now: Timestamp
    ) throws(StoreError) -> ID<User> {
        // Shared, so that an erasure waits for what is being made under this name.
        let known = try rows("SELECT id FROM users WHERE external_id = ?" + dialect.forShare, [external.rawValue])
        if let known = known.first { return try known.id("id") }
        let made = try run(
            "INSERT INTO users (id, external_id) VALUES (?, ?) ON CONFLICT DO NOTHING", candidate, external.rawValue)
        guard made == 0 else {
            try send("INSERT INTO user_states (user_id, created_at) VALUES (?, ?)", candidate, now)
            return candidate
        }
        guard let known = try userID(external) else { throw .unavailable("a user was made at the same moment") }
        return known
    }

    /// Locks a user until the commit; always the first lock of a settlement.
    package func lockUser(_ user: ID<User>) throws(StoreError) {
        guard dialect.locksRows else { return }
        let locked = try rows("SELECT user_id FROM user_states WHERE user_id = ?" + dialect.forUpdate, [user])
        guard !locked.isEmpty else { throw .corrupt("a user has no state") }
    }

    /// Counts a change of what the user owns and returns the new version; for who was erased no boundary is kept.
    package func bumpUser(_ user: ID<User>, nextChangeAt: Timestamp?) throws(StoreError) -> Int64 {
        let changed = try rows(
            """
            UPDATE user_states SET version = version + 1, next_change_at = CASE
                WHEN EXISTS (SELECT 1 FROM users WHERE id = user_states.user_id) THEN CAST(? AS BIGINT) END
            WHERE user_id = ? RETURNING version
            """, [nextChangeAt, user])
        guard let row = changed.first else { throw .corrupt("a user has no state") }
        noteChange(of: user)
        return try row.int("version")
    }

    /// The UUID that Apple's transactions carry for this user; the candidate is kept when there is none yet.
    package func appAccountToken(_ user: ID<User>, candidate: String) throws(StoreError) -> String {
        try run(
            "UPDATE user_states SET app_account_token = ? WHERE user_id = ? AND app_account_token IS NULL", candidate,
            user)
        guard let row = try row("SELECT app_account_token FROM user_states WHERE user_id = ?", user) else {
            throw .corrupt("a user has no state")
        }
        return try row.text("app_account_token")
    }
}
