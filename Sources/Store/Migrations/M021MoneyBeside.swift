extension Migrations {
    /// Payments that came in addition to another payment of the same attempt, and amounts that differ (mismatches), which
    /// wait for an admin.
    ///
    /// Earlier releases recorded only the anomaly of a mismatch. No mismatch is made from it here: one is inserted when the
    /// provider reports the amount again.
    static let moneyBeside = """
        ALTER TABLE payments ADD COLUMN original {text} REFERENCES payments (id);
        ALTER TABLE payments ADD COLUMN original_reference {text};
        CREATE UNIQUE INDEX payments_by_original ON payments (original, original_reference) WHERE original IS NOT NULL;
        CREATE TABLE mismatches (
            order_id {text} NOT NULL REFERENCES orders (id),
            n {int} NOT NULL CHECK (n > 0),
            payment_id {text} NOT NULL REFERENCES payments (id),
            reference {text} NOT NULL,
            amount {int} NOT NULL CHECK (amount > 0),
            currency {text} NOT NULL,
            at {int} NOT NULL,
            state {text} NOT NULL CHECK (state IN ('open', 'accepted', 'returned')),
            settled_at {int},
            PRIMARY KEY (order_id, n),
            UNIQUE (payment_id, reference, amount, currency),
            CHECK ((state = 'open') = (settled_at IS NULL))
        ) {strict};
        CREATE INDEX mismatches_settled ON mismatches (settled_at) WHERE settled_at IS NOT NULL;

        """
}
