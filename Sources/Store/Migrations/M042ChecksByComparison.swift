extension Migrations {
    /// Constraints of SQLite's tables with three values and more, written with OR.
    ///
    /// SQLite opens a b-tree in memory for `x IN ('a', 'b', 'c')` at every insert, and none for comparisons. Rows are as
    /// they were, so only the text of the schema changes; SQLite's page https://sqlite.org/lang_altertable.html allows that
    /// for constraints (section 8). Making and dropping a table lets every connection read the schema anew.
    static let checksByComparison: [Dialect: [String]] = [
        .sqlite: ["PRAGMA writable_schema = ON"]
            + checks.map { column, values in
                let literals = values.map { "'\($0)'" }
                // The list of `source_kind` is stored in two lines.
                let listed = literals.joined(separator: ", ")
                    .replacing("transaction', ", with: "transaction',\n        ")
                let compared = literals.map { "\(column) = \($0)" }.joined(separator: " OR ")
                return """
                    UPDATE sqlite_schema SET sql = replace(sql, \(literal("CHECK (\(column) IN (\(listed)))")),
                        \(literal("CHECK (\(compared))"))) WHERE type = 'table'
                    """
            } + [
                "PRAGMA writable_schema = RESET", "CREATE TABLE schema_change (at INTEGER)", "DROP TABLE schema_change",
            ]
    ]

    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    private static let checks: [(column: String, values: [String])] = [
        ("environment", ["Production", "Sandbox", "Xcode"]),
        ("origin", ["checkout", "purchase", "renewal", "import"]),
        ("state", ["open", "paid", "closed"]),
        ("state", ["created", "pending", "unknown", "succeeded", "failed", "cancelled"]),
        ("state", ["created", "pending", "unknown", "succeeded", "failed", "reversed"]),
        ("state", ["open", "won", "lost"]),
        ("state", ["pending", "succeeded", "failed"]),
        ("status", ["stored", "processed", "quarantined", "rejected"]),
        ("maker_kind", ["user", "partner", "admin"]),
        (
            "source_kind",
            ["order", "apple_transaction", "apple_subscription", "admin", "partner", "managed_subscription"]
        ),
        ("revoked_by", ["refund", "dispute", "admin"]),
    ]
}
