package import Domain

/// A table whose rows a rebuild starts with, put back to how they began.
package struct ReplayTable: Sendable {
    package let name: String
    /// The columns that its pages are ordered by: a unique key.
    let key: [String]
    /// Which rows.
    let condition: String
    /// What is put back.
    let reset: [String: SQLValue]

    /// The intents of refunds, each of which begins at its own time; those that were made at the provider are adopted again.
    package static let refunds = ReplayTable(
        name: "refunds", key: ["id"], condition: "reason <> 'made at the provider'",
        reset: ["state": "created", "counted": 0, "reference": nil])

    /// Everything that is not the consequence of a fact, in the order of the foreign keys.
    package static let all = [
        ReplayTable(name: "skus", key: ["id"], condition: "1 = 1", reset: [:]),
        ReplayTable(name: "apple_products", key: ["entry"], condition: "1 = 1", reset: [:]),
        ReplayTable(name: "users", key: ["id"], condition: "1 = 1", reset: [:]),
        ReplayTable(
            name: "user_states", key: ["user_id"], condition: "1 = 1", reset: ["version": 0, "next_change_at": nil]),
        ReplayTable(
            name: "orders", key: ["id"], condition: "origin = 'checkout'",
            reset: [
                "state": "open", "paid_by": nil, "paid_at": nil, "closed_at": nil, "charged": nil,
                "charged_currency": nil, "returned": 0, "returned_at": nil, "revoked_share": nil,
            ]),
        ReplayTable(
            name: "payments", key: ["id"], condition: "1 = 1",
            reset: ["state": "created", "captured": 0, "refunding": 0, "refunded": 0, "lost": 0, "disputed": 0]),
        ReplayTable(name: "receipts", key: ["digest"], condition: "1 = 1", reset: [:]),
        ReplayTable(
            name: "purchase_owners", key: ["environment", "original_transaction_id"], condition: "1 = 1", reset: [:]),
        // What stores signed about renewals.
        ReplayTable(name: "subscriptions", key: ["id"], condition: "1 = 1", reset: ["told": nil]),
        ReplayTable(
            name: "purchase_shares", key: ["environment", "original_transaction_id", "user_id"], condition: "1 = 1",
            reset: [:]),
        // What people gave by hand came from no provider.
        ReplayTable(name: "grants", key: ["id"], condition: "source_kind IN ('admin', 'partner')", reset: [:]),
        ReplayTable(
            name: "ledger", key: ["user_id", "unit", "environment", "source_kind", "source_id", "step"],
            condition: "source_kind NOT IN ('order', 'apple_transaction')", reset: [:]),
    ]
}

/// One thing that is done again.
package struct ReplayStep: Sendable {
    package enum Kind: String, Sendable {
        /// A list of provider facts as JSON text.
        case facts
        /// An order that was closed while nothing was paid.
        case close
        /// A free order.
        case free
        /// What an admin did with another amount; the subject is the order, the body its number and the act.
        case mismatch
        /// The intent of a refund; the subject is its id.
        case refund
        /// A store's purchase; the body is its key, the subject its environment.
        case purchase
    }

    package let kind: Kind
    package let at: Timestamp
    package let account: String
    package let subject: String
    package let body: String
    /// Where the next page begins.
    package let cursor: (at: Int64, tie: String)
}

extension Database {
    /// A page of a table's rows in the order of its key.
    package func replayPage(_ table: ReplayTable, after last: Row?, limit: Int64) throws(StoreError) -> [Row] {
        let key = table.key.joined(separator: ", ")
        var condition = table.condition
        var arguments: [any SQLBindable] = []
        if let last {
            condition += " AND (\(key)) > (\(table.key.map { _ in "?" }.joined(separator: ", ")))"
            arguments = table.key.map { last[$0] }
        }
        arguments.append(limit)
        return try rows("SELECT * FROM \(table.name) WHERE \(condition) ORDER BY \(key) LIMIT ?", arguments)
    }

    /// How steps of one second are ordered: an id's milliseconds, the rank of its kind, the rest of the id.
    private static func tie(_ rank: Int) -> String { "substr(id, 5, 10) || '\(rank)' || substr(id, 15)" }

    /// One row of a table.
    package func replayRow(_ table: ReplayTable, id: String) throws(StoreError) -> Row? {
        try row("SELECT * FROM \(table.name) WHERE id = ? AND \(table.condition)", id)
    }

    /// Everything that was stated or done, oldest first, of one second by the milliseconds that ids begin with, and of one
    /// millisecond the intents first; what closed an order comes before what else its second held.
    package func replaySteps(after last: ReplayStep?, limit: Int64) throws(StoreError) -> [ReplayStep] {
        try rows(
            """
            SELECT * FROM (
                SELECT 'facts' AS kind, COALESCE(processed_at, received_at) AS at, \(Self.tie(1)) AS tie, account,
                    '' AS subject, facts AS body
                FROM notifications WHERE status = 'processed'
                UNION ALL
                SELECT 'facts', at, \(Self.tie(1)), account, '', '[' || fact || ']' FROM learned_facts
                UNION ALL
                SELECT 'close', at, '/' || order_id, '', order_id, '' FROM order_timeline WHERE type = 'order.closed'
                UNION ALL
                SELECT 'free', created_at, '/' || id, '', id, '' FROM orders
                WHERE origin = 'checkout' AND amount = 0 AND state = 'paid'
                UNION ALL
                SELECT 'mismatch', settled_at, 'z' || order_id || '/' || n, '', order_id,
                    n || ' ' || CASE WHEN state = 'accepted' THEN 'accept' ELSE 'return' END
                FROM mismatches WHERE settled_at IS NOT NULL
                UNION ALL
                SELECT 'refund', created_at, \(Self.tie(0)), '', id, '' FROM refunds
                WHERE \(ReplayTable.refunds.condition)
                UNION ALL
                SELECT 'purchase', received_at, 'purchase/' || environment || '/' || key, account, environment, key
                FROM purchases WHERE user_id IS NOT NULL
            ) steps
            WHERE (at, tie) > (?, ?) ORDER BY at, tie LIMIT ?
            """, [last?.cursor.at ?? -1, last?.cursor.tie ?? "", limit]
        ).map { row throws(StoreError) in
            ReplayStep(
                kind: try row.choice("kind"), at: try row.time("at"), account: try row.text("account"),
                subject: try row.text("subject"), body: try row.text("body"),
                cursor: (try row.int("at"), try row.text("tie")))
        }
    }

    /// Orders that checkouts made, in the order of their ids.
    package func checkoutOrders(after last: String, limit: Int64) throws(StoreError) -> [ID<Order>] {
        try rows(
            """
            SELECT id FROM orders WHERE origin = 'checkout' AND id > ?
              AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.order_id = orders.id)
            ORDER BY id LIMIT ?
            """, [last, limit]
        ).map { row throws(StoreError) in try row.id("id") }
    }

    /// Purchases that have an order, in the order of their keys.
    package func attachedPurchases(
        after cursor: (Environment, String)?, limit: Int64
    ) throws(StoreError) -> [PurchaseRecord] {
        try rows(
            """
            SELECT \(Self.purchaseColumns) FROM purchases
            WHERE order_id IS NOT NULL AND (environment, key) > (?, ?)
            ORDER BY environment, key LIMIT ?
            """, [cursor?.0.rawValue ?? "", cursor?.1 ?? "", limit]
        ).map { row throws(StoreError) in try Self.purchase(row) }
    }

    /// Payments that have refunds, in the order of their ids.
    package func refundedPayments(after last: String, limit: Int64) throws(StoreError) -> [ID<Payment>] {
        try rows(
            "SELECT DISTINCT payment_id FROM refunds WHERE payment_id > ? ORDER BY payment_id LIMIT ?", [last, limit]
        ).map { row throws(StoreError) in try row.id("payment_id") }
    }

    /// Every user's balances, by user, environment and unit.
    package func allBalances() throws(StoreError) -> [String: Int64] {
        var balances: [String: Int64] = [:]
        for row in try rows("SELECT * FROM balances") {
            let place = [try row.text("user_id"), try row.text("environment"), try row.text("unit")]
            balances[place.joined(separator: " ")] = try row.int("amount")
        }
        return balances
    }

    /// When facts that were learned by asking began to be kept.
    package func learnedSince() throws(StoreError) -> Timestamp {
        try row("SELECT applied_at FROM schema_migrations WHERE name = 'learned facts'")?.time("applied_at")
            ?? Timestamp(0)
    }
}

extension Transaction {
    /// Writes rows of another database as this rebuild begins with them.
    package func insertReplayed(_ rows: [Row], into table: ReplayTable) throws(StoreError) {
        guard let columns = rows.first?.columns else { return }
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let sql = "INSERT INTO \(table.name) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
        for row in rows {
            try execute(sql, zip(columns, row.values).map { column, value in table.reset[column] ?? value })
        }
    }

    /// The balances that follow from what is in the ledger.
    package func rebuildBalances() throws(StoreError) {
        try run("DELETE FROM balances")
        try run(
            """
            INSERT INTO balances (user_id, unit, environment, amount)
            SELECT user_id, unit, environment, SUM(delta) FROM ledger GROUP BY user_id, unit, environment
            """)
    }
}
