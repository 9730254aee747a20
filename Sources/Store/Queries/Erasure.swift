package import Domain

extension Database {
    /// Whether this user's mapping is gone: nobody can speak for them, and what was theirs is nobody else's.
    package func isErased(_ user: ID<User>) throws(StoreError) -> Bool { try externalUserID(user) == nil }
}

extension Transaction {
    /// Locks a user's mapping until the commit, so that no other transaction makes anything under that name meanwhile.
    package func lockMapping(_ external: ExternalUserID) throws(StoreError) -> ID<User>? {
        try rows("SELECT id FROM users WHERE external_id = ?" + dialect.forUpdate, [external.rawValue]).first?.id("id")
    }

    /// Events that hold free text of the app's about a user's orders.
    package func eventsWithMetadata(of user: ID<User>) throws(StoreError) -> [(id: ID<Event>, data: String)] {
        let found = try rows(
            """
            SELECT id, data FROM events
            WHERE subject IN (SELECT id FROM orders WHERE user_id = ? AND metadata <> '{}') ORDER BY subject, sequence
            """, [user])
        var events: [(id: ID<Event>, data: String)] = []
        for row in found { events.append((try row.id("id"), try row.text("data"))) }
        return events
    }

    package func replaceEvent(_ event: ID<Event>, data: String) throws(StoreError) {
        try run("UPDATE events SET data = ? WHERE id = ?", data, event)
    }

    /// Forgets a user's name and whatever the app or its user wrote in words of their own; what happened stays.
    ///
    /// The bindings of purchases and the app account token stay with the internal id, so that nobody inherits them.
    package func eraseUser(_ user: ID<User>) throws(StoreError) {
        try run(
            "UPDATE payments SET return_url = NULL WHERE order_id IN (SELECT id FROM orders WHERE user_id = ?)", user)
        try run("UPDATE orders SET metadata = '{}', return_url = NULL WHERE user_id = ?", user)
        try run("DELETE FROM idempotency_keys WHERE caller = ?", user)
        try run("UPDATE user_states SET next_change_at = NULL WHERE user_id = ?", user)
        try run("DELETE FROM users WHERE id = ?", user)
    }
}
