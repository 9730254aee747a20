extension Migrations {
    /// Partial indexes of payments, refunds and set-ups in flight on SQLite, with OR in place of IN.
    ///
    /// An insert, and each update of a column that the indexes have, tests their conditions, and SQLite opens a b-tree in
    /// memory for each `state IN ('created', 'pending', 'unknown')`. The entries are as they were, so only the text of the
    /// schema changes, as in ``checksByComparison``.
    static let inFlightByComparison: [Dialect: [String]] = [
        .sqlite: [
            "PRAGMA writable_schema = ON",
            """
            UPDATE sqlite_schema SET sql = replace(sql, 'state IN (''created'', ''pending'', ''unknown'')',
                '(state = ''created'' OR state = ''pending'' OR state = ''unknown'')')
            WHERE type = 'index' AND tbl_name IN ('payments', 'refunds', 'setups')
            """,
            "PRAGMA writable_schema = RESET", "CREATE TABLE schema_change (at INTEGER)", "DROP TABLE schema_change",
        ]
    ]
}
