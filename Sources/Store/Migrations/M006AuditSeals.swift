extension Migrations {
    /// The chain over all subjects' audit chains, and an index for retention.
    ///
    /// `audit.seal` is the position of the seal that covers an entry; it is set once.
    static let auditSeals = """
        CREATE TABLE audit_seals (
            position {int} NOT NULL PRIMARY KEY CHECK (position > 0),
            at {int} NOT NULL,
            entries {int} NOT NULL CHECK (entries > 0),
            digest {blob} NOT NULL
        ) {strict};
        ALTER TABLE audit ADD COLUMN seal {int} CHECK (seal > 0);
        CREATE INDEX audit_unsealed ON audit (subject, position) WHERE seal IS NULL;
        CREATE INDEX audit_by_seal ON audit (seal) WHERE seal IS NOT NULL;
        CREATE INDEX notifications_with_raw ON notifications (received_at) WHERE body IS NOT NULL;

        """

    /// Triggers that refuse every change of the audit but the sealing of an entry.
    static let auditIsAppendOnly: [Dialect: [String]] = [
        .sqlite: [
            """
            CREATE TRIGGER audit_keeps_entries BEFORE UPDATE ON audit
            WHEN OLD.seal IS NOT NULL OR NEW.seal IS NULL OR NEW.subject <> OLD.subject OR NEW.position <> OLD.position
                OR NEW.at <> OLD.at OR NEW.actor <> OLD.actor OR NEW.request_id <> OLD.request_id
                OR NEW.action <> OLD.action OR NEW.before <> OLD.before OR NEW.after <> OLD.after
                OR NEW.digest <> OLD.digest
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END
            """,
            """
            CREATE TRIGGER audit_loses_nothing BEFORE DELETE ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END
            """,
            """
            CREATE TRIGGER audit_seals_stay BEFORE UPDATE ON audit_seals
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END
            """,
            """
            CREATE TRIGGER audit_seals_lose_nothing BEFORE DELETE ON audit_seals
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END
            """,
        ],
        .postgres: [
            """
            CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION ''the audit is append-only''; END'
            """,
            """
            CREATE TRIGGER audit_keeps_entries BEFORE UPDATE ON audit FOR EACH ROW
            WHEN (OLD.seal IS NOT NULL OR NEW.seal IS NULL OR NEW.subject <> OLD.subject
                OR NEW.position <> OLD.position OR NEW.at <> OLD.at OR NEW.actor <> OLD.actor
                OR NEW.request_id <> OLD.request_id OR NEW.action <> OLD.action OR NEW.before <> OLD.before
                OR NEW.after <> OLD.after OR NEW.digest <> OLD.digest)
            EXECUTE FUNCTION audit_is_append_only()
            """,
            """
            CREATE TRIGGER audit_loses_nothing BEFORE DELETE OR TRUNCATE ON audit
            FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
            """,
            """
            CREATE TRIGGER audit_seals_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_seals
            FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
            """,
        ],
    ]
}
