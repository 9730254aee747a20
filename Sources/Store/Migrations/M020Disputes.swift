extension Migrations {
    /// The time of a dispute's state, and the sum of a payment's open disputes.
    ///
    /// For stored disputes only the arrival of the last state is known, from the order's timeline; a later time from the
    /// provider replaces it.
    static let disputesByTime = """
        ALTER TABLE disputes ADD COLUMN told_at {int} NOT NULL DEFAULT 0;
        UPDATE disputes SET told_at = COALESCE((SELECT MAX(t.at) FROM order_timeline t
            WHERE t.order_id = disputes.order_id AND t.type LIKE 'dispute.%' AND t.detail = disputes.id), created_at);
        ALTER TABLE payments ADD COLUMN disputed {int} NOT NULL DEFAULT 0 CHECK (disputed >= 0);
        UPDATE payments SET disputed = (SELECT CASE WHEN SUM(d.amount) > payments.captured - payments.lost
                THEN payments.captured - payments.lost ELSE SUM(d.amount) END
            FROM disputes d WHERE d.payment_id = payments.id AND d.state = 'open')
        WHERE EXISTS (SELECT 1 FROM disputes d WHERE d.payment_id = payments.id AND d.state = 'open');

        """
}
