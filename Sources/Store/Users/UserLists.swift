package import Domain

/// A user in a list.
package struct ListedUser: Sendable {
    package let id: ID<User>
    /// The app's own id.
    package let name: String
    package let createdAt: Timestamp
    package let orders: Int64
}

extension UserQueries {
    /// Lists users whose own ids begin with a text, in the order of these; erased users are in no list.
    ///
    /// - Parameters:
    ///   - prefix: the beginning, in which no character has a meaning of its own; empty lists all.
    ///   - name: the last id of the page before.
    package func list(prefix: String, after name: String?, limit: Int64) throws(StoreError) -> [ListedUser] {
        // The last scalar of Unicode, which is no character, is above every continuation of the prefix.
        let end = prefix + "\u{10FFFF}"
        let (lower, bound) = name.map { (">", $0) } ?? (">=", prefix)
        return try db.rows(
            """
            SELECT u.id, u.external_id, s.created_at,
                (SELECT COUNT(*) FROM orders o WHERE o.user_id = u.id) AS orders
            FROM users u JOIN user_states s ON s.user_id = u.id
            WHERE u.external_id \(lower) ? AND u.external_id < ? ORDER BY u.external_id LIMIT ?
            """, [bound, end, limit]
        ).map { row throws(StoreError) in
            ListedUser(
                id: try row.id("id"), name: try row.text("external_id"), createdAt: try row.time("created_at"),
                orders: try row.int("orders"))
        }
    }

    /// Returns the time at which a user was first seen.
    package func createdAt(_ user: ID<User>) throws(StoreError) -> Timestamp? {
        try db.row("SELECT created_at FROM user_states WHERE user_id = ?", user)?.time("created_at")
    }
}
