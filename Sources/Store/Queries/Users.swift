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
        let found = try rowsByKey(Array(Set(users)).sorted(), "id") {
            "SELECT id, external_id FROM users WHERE id IN (\($0))"
        }
        for row in found.values.joined() { names[try row.id("id")] = try row.text("external_id") }
        return names
    }

    /// The version of what a user owns, and when time alone next changes it.
    package func standing(of user: ID<User>) throws(StoreError) -> (version: Int64, nextChangeAt: Timestamp?) {
        guard let row = try row("SELECT version, next_change_at FROM user_states WHERE user_id = ?", user) else {
            throw .corrupt("a user has no state")
        }
        return (try row.int("version"), try row.optionalTime("next_change_at"))
    }
}

extension Transaction {
    /// The user of this name, made when first seen.
    package func ensureUser(
        _ external: ExternalUserID, candidate: ID<User>, at now: Timestamp
    ) throws(StoreError) -> ID<User> {
        try ensureUser(external, known: try askUser(external), candidate: candidate, at: now)
    }

    /// The user of this name, who stays as long as the transaction lasts.
    package func askUser(_ external: ExternalUserID) throws(StoreError) -> Pending<ID<User>?> {
        // Shared, so that an erasure waits for what is being made under this name.
        try ask("SELECT id FROM users WHERE external_id = ?" + dialect.forShare, external.rawValue)
            .first { row throws(StoreError) in try row.id("id") }
    }

    /// - Parameter known: what ``askUser(_:)`` finds.
    package func ensureUser(
        _ external: ExternalUserID, known: Pending<ID<User>?>, candidate: ID<User>, at now: Timestamp
    ) throws(StoreError) -> ID<User> {
        if let known = try known.value() { return known }
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
        try send("SELECT user_id FROM user_states WHERE user_id = ?" + dialect.forUpdate, user)
    }

    /// Counts a change of what the user owns, whose lock the caller holds; for who was erased no boundary is kept.
    ///
    /// - Parameter version: the one that stands, without which the statement fails: NULL is no version.
    /// - Returns: the new version.
    package func bumpUser(
        _ user: ID<User>, from version: Int64, nextChangeAt: Timestamp?
    ) throws(StoreError) -> Int64 {
        try send(
            """
            UPDATE user_states SET version = CASE WHEN version = ? THEN version + 1 END, next_change_at = CASE
                WHEN EXISTS (SELECT 1 FROM users WHERE id = user_states.user_id) THEN CAST(? AS BIGINT) END
            WHERE user_id = ?
            """, version, nextChangeAt, user)
        noteChange(of: user)
        return version + 1
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
