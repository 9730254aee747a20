extension Migrations {
    /// Jobs, which are done under leases: one row for each kind and subject.
    ///
    /// `asked` counts the requests for a job, so that a job that is requested during an attempt is attempted again.
    static let jobs = """
        CREATE TABLE jobs (
            id {text} NOT NULL PRIMARY KEY,
            kind {text} NOT NULL,
            subject {text} NOT NULL,
            state {text} NOT NULL CHECK (state IN ('waiting', 'quarantined')),
            run_at {int} NOT NULL,
            attempts {int} NOT NULL DEFAULT 0 CHECK (attempts >= 0),
            asked {int} NOT NULL DEFAULT 1 CHECK (asked > 0),
            lease_until {int} NOT NULL DEFAULT 0,
            lease_epoch {int} NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
            error {text} NOT NULL DEFAULT '',
            created_at {int} NOT NULL,
            UNIQUE (kind, subject)
        ) {strict};
        CREATE INDEX jobs_due ON jobs (kind, run_at) WHERE state = 'waiting';
        CREATE INDEX jobs_by_state ON jobs (state, id);
        ALTER TABLE idempotency_keys ADD COLUMN completed_at {int};
        CREATE INDEX idempotency_abandoned ON idempotency_keys (lease_until)
            WHERE status IS NULL AND resource IS NOT NULL AND completed_at IS NULL;

        """
}
