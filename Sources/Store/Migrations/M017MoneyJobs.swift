extension Migrations {
    /// Jobs count the runs in a row that end without a word apart from the others, and a payment says what its client takes.
    ///
    /// Earlier releases gave up jobs that wait for money when a provider was away for long.
    static let moneyJobs = """
        ALTER TABLE jobs ADD COLUMN silence {int} NOT NULL DEFAULT 0 CHECK (silence >= 0);
        UPDATE jobs SET state = 'waiting', attempts = 0
            WHERE state = 'quarantined' AND kind IN ('expire_order', 'reconcile_payment', 'reconcile_refund');
        ALTER TABLE payments ADD COLUMN accepts {text};

        """
}
