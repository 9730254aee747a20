extension Migrations {
    /// The number of consecutive attempts of a job that ended without a result, counted apart from the others, and the
    /// contract types that the client of a payment accepts.
    ///
    /// Earlier releases put jobs that wait for money into quarantine when a provider was unreachable for long.
    static let moneyJobs = """
        ALTER TABLE jobs ADD COLUMN silence {int} NOT NULL DEFAULT 0 CHECK (silence >= 0);
        UPDATE jobs SET state = 'waiting', attempts = 0
            WHERE state = 'quarantined' AND kind IN ('expire_order', 'reconcile_payment', 'reconcile_refund');
        ALTER TABLE payments ADD COLUMN accepts {text};

        """
}
