extension Migrations {
    /// Partial revocations by a store, family sharing, and periods that begin later.
    ///
    /// Orders of purchases that a family member shares have cost nothing. Other rows that earlier releases treated
    /// differently are recomputed by a job, because that changes what users own and has to be announced.
    static let appleParts = """
        ALTER TABLE purchases ADD COLUMN revocation_ends_sharing {int} CHECK (revocation_ends_sharing IN (0, 1));
        -- When the volume purchase ends whose receipt the row was read from.
        ALTER TABLE purchases ADD COLUMN receipt_ends_at {int};
        -- The store's own word on whether a subscription as a whole is taken back, and as of when.
        ALTER TABLE subscriptions ADD COLUMN standing_at {int} NOT NULL DEFAULT 0;
        ALTER TABLE subscriptions ADD COLUMN is_revoked {int} NOT NULL DEFAULT 0 CHECK (is_revoked IN (0, 1));
        -- Later parts of a subscription that are paid already, as JSON.
        ALTER TABLE grants ADD COLUMN ahead {text};
        UPDATE orders SET
            charged = CASE WHEN charged_currency IS NULL AND (
                SELECT p.currency FROM purchases p WHERE p.order_id = orders.id) IS NULL THEN NULL ELSE 0 END,
            charged_currency = COALESCE(charged_currency, (
                SELECT p.currency FROM purchases p WHERE p.order_id = orders.id)),
            amount = CASE WHEN amount IS NOT NULL AND origin IN ('purchase', 'renewal') THEN 0 ELSE amount END,
            returned = 0, returned_at = NULL
        WHERE EXISTS (SELECT 1 FROM purchases p WHERE p.order_id = orders.id AND p.is_family_shared = 1);
        INSERT INTO jobs (id, kind, subject, state, run_at, created_at)
            SELECT 'job_00000000000000000000000000', 'regrade_purchases', '', 'waiting', 0, 0
            WHERE EXISTS (SELECT 1 FROM purchases WHERE order_id IS NOT NULL
                AND (revoked_at IS NOT NULL AND revocation_percentage < 100000
                    OR expires_at IS NOT NULL AND (kind <> 'Auto-Renewable Subscription' OR purchased_at > signed_at)));

        """
}
