package import Domain
import FoundationEssentials

extension Database {
    /// Whether this user's mapping is gone: nobody can speak for them, and what was theirs is nobody else's.
    package func isErased(_ user: ID<User>) throws(StoreError) -> Bool { try externalUserID(user) == nil }
}

extension Transaction {
    /// Locks a user's mapping until the commit, so that no other transaction makes anything under that name meanwhile.
    package func lockMapping(_ external: ExternalUserID) throws(StoreError) -> ID<User>? {
        try rows("SELECT id FROM users WHERE external_id = ?" + dialect.forUpdate, [external.rawValue]).first?.id("id")
    }

    /// Events that hold free text about a user's orders: the app's, or reasons as earlier releases put them there.
    package func eventsWithFreeText(of user: ID<User>) throws(StoreError) -> [(id: ID<Event>, data: String)] {
        let found = try rows(
            """
            SELECT id, data FROM events
            WHERE subject IN (
                SELECT o.id FROM orders o WHERE o.user_id = ?
                  AND (o.metadata <> '{}' OR EXISTS (SELECT 1 FROM refunds r WHERE r.order_id = o.id)))
            ORDER BY subject, sequence
            """, [user])
        var events: [(id: ID<Event>, data: String)] = []
        for row in found { events.append((try row.id("id"), try row.text("data"))) }
        return events
    }

    package func replaceEvent(_ event: ID<Event>, data: String) throws(StoreError) {
        try run("UPDATE events SET data = ? WHERE id = ?", data, event)
    }

    /// Forgets a user's name and whatever anybody wrote about them in words of their own; what happened stays.
    ///
    /// A refund that is still on its way is sent as it was meant; its reason goes with its end. Answers that were kept for
    /// others' idempotency keys are emptied, so that the keys still keep an act from being done twice.
    /// The bindings of purchases and the app account token stay with the internal id, so that nobody inherits them.
    package func eraseUser(_ user: ID<User>) throws(StoreError) {
        try run(
            """
            UPDATE payments SET return_url = NULL, payer_address = NULL
            WHERE order_id IN (SELECT id FROM orders WHERE user_id = ?)
            """, user)
        try run("UPDATE orders SET metadata = '{}', return_url = NULL WHERE user_id = ?", user)
        try run("DELETE FROM idempotency_keys WHERE caller = ?", user)
        try run("DELETE FROM audit_reasons WHERE user_id = ?", user)
        try run("UPDATE ledger SET reason = NULL WHERE user_id = ? AND reason IS NOT NULL", user)
        try run(
            """
            UPDATE refunds SET reason = ''
            WHERE state IN ('succeeded', 'failed', 'reversed') AND reason <> ?
              AND order_id IN (SELECT id FROM orders WHERE user_id = ?)
            """, Refund.madeElsewhere, user)
        try emptyAnswers(about: user)
        try run("UPDATE user_states SET next_change_at = NULL WHERE user_id = ?", user)
        try run("DELETE FROM users WHERE id = ?", user)
        noteChange(of: user)
    }

    /// An empty answer is no sealed one: whoever asks with the key again is told that there is nothing any more.
    private func emptyAnswers(about user: ID<User>) throws(StoreError) {
        try run(
            """
            UPDATE idempotency_keys SET answer = ?
            WHERE status IS NOT NULL AND resource IS NOT NULL AND resource IN (
                SELECT id FROM orders WHERE user_id = ?
                UNION ALL SELECT p.id FROM payments p JOIN orders o ON o.id = p.order_id WHERE o.user_id = ?
                UNION ALL SELECT r.id FROM refunds r JOIN orders o ON o.id = r.order_id WHERE o.user_id = ?
                UNION ALL SELECT id FROM grants WHERE user_id = ?
                UNION ALL SELECT source_id FROM ledger WHERE user_id = ? AND source_kind IN ('debit', 'admin', 'partner'))
            """, Data(), user, user, user, user, user)
    }

    /// Takes the reason from a refund that came to its end after its user was erased.
    func forgetReason(of refund: ID<Refund>) throws(StoreError) {
        try run(
            """
            UPDATE refunds SET reason = '' WHERE id = ? AND reason <> ? AND NOT EXISTS (
                SELECT 1 FROM orders o JOIN users u ON u.id = o.user_id WHERE o.id = refunds.order_id)
            """, refund, Refund.madeElsewhere)
    }
}
