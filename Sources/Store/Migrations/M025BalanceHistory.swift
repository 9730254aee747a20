extension Migrations {
    /// The position of each change of a balance, the balance after it, and its reason.
    ///
    /// Stored changes get their positions by time and source; their reasons stay in the audit.
    static let balanceHistory = """
        ALTER TABLE ledger ADD COLUMN position {int};
        ALTER TABLE ledger ADD COLUMN balance {int};
        ALTER TABLE ledger ADD COLUMN reason {text};
        UPDATE ledger SET position = h.position, balance = h.balance
        FROM (
            SELECT user_id, unit, environment, source_kind, source_id, step,
                ROW_NUMBER() OVER (
                    PARTITION BY user_id, unit ORDER BY at, environment, source_kind, source_id, step) AS position,
                SUM(delta) OVER (
                    PARTITION BY user_id, unit, environment ORDER BY at, source_kind, source_id, step
                    ROWS UNBOUNDED PRECEDING) AS balance
            FROM ledger) AS h
        WHERE ledger.user_id = h.user_id AND ledger.unit = h.unit AND ledger.environment = h.environment
            AND ledger.source_kind = h.source_kind AND ledger.source_id = h.source_id AND ledger.step = h.step;
        CREATE UNIQUE INDEX ledger_by_position ON ledger (user_id, unit, position);

        """
}
