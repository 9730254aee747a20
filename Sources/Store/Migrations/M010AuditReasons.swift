extension Migrations {
    /// Free text by people is stored beside the chained audit, so that an erasure can delete it.
    ///
    /// The histories of orders and refunds of erased users lose their free text. Older audit entries stay as they are,
    /// because a change would break the chain. Idempotency keys that an earlier release stored in plain text are found
    /// by their index and digested in the course of retention.
    static let auditReasons = """
        CREATE TABLE audit_reasons (
            subject {text} NOT NULL,
            position {int} NOT NULL,
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            reason {text} NOT NULL,
            PRIMARY KEY (subject, position)
        ) {strict};
        CREATE INDEX audit_reasons_by_user ON audit_reasons (user_id);
        CREATE INDEX idempotency_undigested ON idempotency_keys (caller, key) WHERE substr(key, 1, 7) <> 'sha256 ';
        UPDATE order_timeline SET detail = substr(detail, 1, 30) WHERE type = 'refund.created';
        UPDATE refunds SET reason = ''
        WHERE state IN ('succeeded', 'failed', 'reversed') AND reason <> 'made at the provider'
            AND NOT EXISTS (
                SELECT 1 FROM orders o JOIN users u ON u.id = o.user_id WHERE o.id = refunds.order_id);

        """
}
