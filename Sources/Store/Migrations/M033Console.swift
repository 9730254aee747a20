extension Migrations {
    /// The console's sessions, and the mark of audited acts that were made on it.
    ///
    /// Only the SHA-256 of a session's cookie is stored; its times are real. A session ends with its key, which is read
    /// beside it.
    static let console = """
        CREATE TABLE console_sessions (
            digest {blob} NOT NULL PRIMARY KEY,
            key_id {text} NOT NULL REFERENCES api_keys (id),
            created_at {int} NOT NULL,
            expires_at {int} NOT NULL,
            used_at {int} NOT NULL,
            CHECK (expires_at > created_at),
            CHECK (used_at >= created_at)
        ) {strict};
        CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);
        ALTER TABLE audit ADD COLUMN via {text} CHECK (via IN ('console'));

        """

    /// The trigger that refuses every change of the audit but the sealing of an entry, with the mark.
    static let auditKeepsMarks: [Dialect: [String]] = [
        .sqlite: [
            "DROP TRIGGER audit_keeps_entries",
            """
            CREATE TRIGGER audit_keeps_entries BEFORE UPDATE ON audit
            WHEN OLD.seal IS NOT NULL OR NEW.seal IS NULL OR NEW.subject <> OLD.subject OR NEW.position <> OLD.position
                OR NEW.at <> OLD.at OR NEW.actor <> OLD.actor OR NEW.request_id <> OLD.request_id
                OR NEW.action <> OLD.action OR NEW.before <> OLD.before OR NEW.after <> OLD.after
                OR NEW.digest <> OLD.digest OR NEW.via IS NOT OLD.via
            BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END
            """,
        ],
        .postgres: [
            "DROP TRIGGER audit_keeps_entries ON audit",
            """
            CREATE TRIGGER audit_keeps_entries BEFORE UPDATE ON audit FOR EACH ROW
            WHEN (OLD.seal IS NOT NULL OR NEW.seal IS NULL OR NEW.subject <> OLD.subject
                OR NEW.position <> OLD.position OR NEW.at <> OLD.at OR NEW.actor <> OLD.actor
                OR NEW.request_id <> OLD.request_id OR NEW.action <> OLD.action OR NEW.before <> OLD.before
                OR NEW.after <> OLD.after OR NEW.digest <> OLD.digest OR NEW.via IS DISTINCT FROM OLD.via)
            EXECUTE FUNCTION audit_is_append_only()
            """,
        ],
    ]
}
