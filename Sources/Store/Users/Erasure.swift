package import Domain
import FoundationEssentials

extension UserQueries {
    /// Returns whether the user was erased: the external id is gone, and no other user gets what was theirs.
    package func isErased(_ user: ID<User>) throws(StoreError) -> Bool { try findExternalID(user) == nil }
}

extension UserQueries where Connection == any Transaction {
    /// Locks the external id of a user until the commit, so that no other transaction uses it meanwhile.
    package func lock(_ external: ExternalUserID) throws(StoreError) -> ID<User>? {
        try tx.rows("SELECT id FROM users WHERE external_id = ?" + tx.dialect.forUpdate, [external.rawValue]).first?.id(
            "id")
    }

    /// Deletes a user's external id and all free text about them; orders, payments and grants stay.
    ///
    /// A refund in flight keeps its reason until it is final. Stored answers of other callers' idempotency keys are
    /// emptied, so that the keys still prevent a second act. The bindings of purchases and the app account token stay
    /// with the internal id, so that no other user can claim them.
    package func erase(_ user: ID<User>) throws(StoreError) {
        try tx.execute(
            """
            UPDATE payments SET return_url = NULL, payer_address = NULL, wechat_openid = NULL
            WHERE order_id IN (SELECT id FROM orders WHERE user_id = ?)
            """, user)
        try tx.execute("UPDATE orders SET metadata = '{}', return_url = NULL WHERE user_id = ?", user)
        try tx.execute("DELETE FROM idempotency_keys WHERE caller = ?", user)
        try tx.execute("DELETE FROM offer_signatures WHERE user_id = ?", user)
        try tx.execute("DELETE FROM audit_reasons WHERE user_id = ?", user)
        try tx.execute("UPDATE ledger SET reason = NULL WHERE user_id = ? AND reason IS NOT NULL", user)
        try tx.execute(
            """
            UPDATE refunds SET reason = ''
            WHERE state IN ('succeeded', 'failed', 'reversed') AND reason <> ?
              AND order_id IN (SELECT id FROM orders WHERE user_id = ?)
            """, Refund.madeElsewhere, user)
        try emptyAnswers(about: user)
        try tx.execute("UPDATE user_states SET next_change_at = NULL WHERE user_id = ?", user)
        try tx.execute("DELETE FROM users WHERE id = ?", user)
        tx.markChanged(user)
    }

    /// Empties stored answers about a user; a repeated request with such a key gets an error in place of the answer.
    private func emptyAnswers(about user: ID<User>) throws(StoreError) {
        try tx.execute(
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
}
