extension Migrations {
    /// The console's sessions, the mark of audited acts that were made on it, and the indexes of its lists.
    ///
    /// Only the SHA-256 of a session's cookie is stored; its times are real. A session ends with its key, which is read
    /// beside it. `payments.contract` is the type of the contract, which is sealed otherwise; null for payments of earlier
    /// releases. `deliveries.history` has the attempts that were made, oldest first, as JSON.
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
        CREATE INDEX audit_by_actor ON audit (actor, at, subject, position);

        ALTER TABLE payments ADD COLUMN contract {text};
        ALTER TABLE deliveries ADD COLUMN history {text} NOT NULL DEFAULT '[]';
        CREATE INDEX orders_by_sku ON orders (sku, id);
        CREATE INDEX orders_by_place ON orders (environment, platform, id);
        CREATE INDEX orders_by_payday ON orders (paid_at) WHERE paid_at IS NOT NULL;
        CREATE INDEX orders_by_return ON orders (returned_at) WHERE returned_at IS NOT NULL;
        CREATE INDEX disputes_by_state ON disputes (state, id);
        CREATE INDEX order_anomalies_by_kind ON order_anomalies (anomaly, order_id);
        CREATE INDEX mismatches_open ON mismatches (at) WHERE state = 'open';
        CREATE INDEX refunds_by_number ON refunds (reference) WHERE reference IS NOT NULL;
        CREATE INDEX purchases_by_product ON purchases (product_id, bundle_id);
        CREATE INDEX sessions_listed ON sessions (user_id, id);
        CREATE INDEX notifications_by_account ON notifications (account, status, id);

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
