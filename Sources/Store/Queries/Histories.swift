package import Domain

/// One change of a balance.
package struct LedgerEntry: Sendable {
    package let unit: String
    package let environment: Environment
    package let source: LedgerSource
    package let delta: Int64
    package let at: Timestamp
}

/// What an audited act changed, and why it was done.
package struct AuditedAct: Sendable {
    package let at: Timestamp
    package let before: String
    package let after: String
    package let reason: String?
}

// What led to what a user owns, as far as other queries do not tell it.
extension Database {
    /// The latest store purchases that are a user's now, or whose order is, newest first.
    package func storePurchases(of user: ID<User>, limit: Int64) throws(StoreError) -> [PurchaseRecord] {
        try rows(
            """
            SELECT \(Self.purchaseColumns) FROM (
                SELECT place, name FROM (SELECT environment AS place, key AS name FROM purchases WHERE user_id = ?
                    ORDER BY purchased_at DESC, key DESC LIMIT ?) AS own
                UNION
                SELECT p.environment, p.key FROM orders o JOIN purchases p ON p.order_id = o.id
                WHERE o.user_id = ? AND (p.user_id IS NULL OR p.user_id <> o.user_id)) AS found
            CROSS JOIN purchases WHERE environment = found.place AND key = found.name
            ORDER BY purchased_at DESC, key DESC LIMIT ?
            """, [user, limit, user, limit]
        ).map { row throws(StoreError) in try Self.purchase(row) }
    }

    /// The latest changes of a user's balances, newest first.
    package func ledger(of user: ID<User>, limit: Int64) throws(StoreError) -> [LedgerEntry] {
        try rows(
            """
            SELECT unit, environment, source_kind, source_id, delta, at FROM ledger WHERE user_id = ?
            ORDER BY at DESC, source_kind DESC, source_id DESC, step DESC, unit DESC LIMIT ?
            """, [user, limit]
        ).map { row throws(StoreError) in
            LedgerEntry(
                unit: try row.text("unit"), environment: try row.choice("environment"),
                source: LedgerSource(kind: try row.text("source_kind"), id: try row.text("source_id")),
                delta: try row.int("delta"), at: try row.time("at"))
        }
    }

    /// The latest audited acts of one name about each of many subjects, oldest first.
    package func audit(
        subjects: [String], action: String, limit: Int
    ) throws(StoreError) -> [String: [AuditedAct]] {
        let found = try rowsByKey(subjects, "subject", binding: [action]) {
            """
            SELECT subject, at, before, after, NULL AS reason FROM audit WHERE action = ? AND subject IN (\($0))
            ORDER BY subject, position
            """
        }
        var acts: [String: [AuditedAct]] = [:]
        for (subject, rows) in found {
            acts[subject] = try rows.suffix(limit).map { row throws(StoreError) in try Self.act(row) }
        }
        return acts
    }

    /// The latest audited acts of one name about a subject, newest first.
    package func audit(
        subject: String, action: String, limit: Int64
    ) throws(StoreError) -> [AuditedAct] {
        try rows(
            """
            SELECT a.at, a.before, a.after, r.reason FROM audit a
            LEFT JOIN audit_reasons r ON r.subject = a.subject AND r.position = a.position
            WHERE a.subject = ? AND a.action = ? ORDER BY a.position DESC LIMIT ?
            """,
            [subject, action, limit]
        ).map { row throws(StoreError) in
            try Self.act(row)
        }
    }

    private static func act(_ row: Row) throws(StoreError) -> AuditedAct {
        AuditedAct(
            at: try row.time("at"), before: try row.text("before"), after: try row.text("after"),
            reason: try row.optionalText("reason"))
    }
}
