extension Migrations {
    /// Money that came beside a payment is a payment of its own under the first one's number, and money with another amount
    /// is kept until an admin settles it.
    ///
    /// Of mismatches that earlier releases recorded only the anomaly is there; one whose provider tells of it again is kept
    /// then. Each of them was told of by a person before, so none is made up here.
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
