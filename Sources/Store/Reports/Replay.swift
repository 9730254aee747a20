package import Domain

/// A table whose rows a rebuild starts with, reset to their first values.
package struct ReplayTable: Sendable {
    package let name: String
    /// The columns by which its pages are ordered: a unique key.
    let key: [String]
    /// The condition in SQL that selects the rows.
    let condition: String
    /// The columns that are reset, with their first values.
    let reset: [String: SQLValue]

    /// The intents of refunds, each applied at its own time; refunds that were made at the provider are adopted again
    /// from facts.
    package static let refunds = ReplayTable(
        name: "refunds", key: ["id"], condition: "reason <> 'made at the provider' AND NOT \(paysPeriod("order_id"))",
        reset: ["state": "created", "counted": 0, "reference": nil])

    /// The condition that an order pays a period of a managed subscription.
    ///
    /// The money of such orders is taken over as it is; the subscriptions and their grants are made from their histories.
    private static func paysPeriod(_ order: String) -> String {
        "\(order) IN (SELECT id FROM orders WHERE subscription_id IS NOT NULL)"
    }

    /// The tables whose rows do not follow from facts, in the order of the foreign keys.
    package static let all = [
        ReplayTable(name: "skus", key: ["id"], condition: "1 = 1", reset: [:]),
        ReplayTable(name: "apple_products", key: ["entry"], condition: "1 = 1", reset: [:]),
        ReplayTable(name: "users", key: ["id"], condition: "1 = 1", reset: [:]),
        ReplayTable(
            name: "user_states", key: ["user_id"], condition: "1 = 1", reset: ["version": 0, "next_change_at": nil]),
        // Tokens of external purchases; their reports follow from what is rebuilt.
        ReplayTable(name: "external_tokens", key: ["id"], condition: "1 = 1", reset: ["look_at": nil]),
        ReplayTable(
            name: "orders", key: ["id"], condition: "origin = 'checkout' AND subscription_id IS NULL",
            reset: [
                "state": "open", "paid_by": nil, "paid_at": nil, "closed_at": nil, "charged": nil,
                "charged_currency": nil, "returned": 0, "returned_at": nil, "revoked_share": nil,
            ]),
        ReplayTable(name: "managed_subscriptions", key: ["id"], condition: "1 = 1", reset: [:]),
        ReplayTable(name: "orders", key: ["id"], condition: "subscription_id IS NOT NULL", reset: [:]),
        ReplayTable(name: "mandates", key: ["id"], condition: "1 = 1", reset: [:]),
        ReplayTable(name: "payments", key: ["id"], condition: paysPeriod("order_id"), reset: [:]),
        ReplayTable(name: "refunds", key: ["id"], condition: paysPeriod("order_id"), reset: [:]),
        ReplayTable(name: "disputes", key: ["id"], condition: paysPeriod("order_id"), reset: [:]),
        ReplayTable(
            name: "payments", key: ["id"], condition: "NOT \(paysPeriod("order_id"))",
            reset: ["state": "created", "captured": 0, "refunding": 0, "refunded": 0, "lost": 0, "disputed": 0]),
        ReplayTable(name: "receipts", key: ["digest"], condition: "1 = 1", reset: [:]),
        ReplayTable(
            name: "purchase_owners", key: ["environment", "original_transaction_id"], condition: "1 = 1", reset: [:]),
        // The signed statements of stores about renewals.
        ReplayTable(name: "subscriptions", key: ["id"], condition: "1 = 1", reset: ["told": nil]),
        ReplayTable(
            name: "purchase_shares", key: ["environment", "original_transaction_id", "user_id"], condition: "1 = 1",
            reset: [:]),
        // Grants by admins and partners came from no provider.
        ReplayTable(
            name: "grants", key: ["id"], condition: "source_kind IN ('admin', 'partner', 'managed_subscription')",
            reset: [:]),
        ReplayTable(
            name: "ledger", key: ["user_id", "unit", "environment", "source_kind", "source_id", "step"],
            condition: "source_kind NOT IN ('order', 'apple_transaction') OR \(paysPeriod("source_id"))", reset: [:]),
    ]
}

/// A step of a rebuild: a fact or an act that is applied again.
package struct ReplayStep: Sendable {
    package enum Kind: String, Sendable {
        /// A list of provider facts as JSON text.
        case facts
        /// The closing of an order that was not paid.
        case close
        /// A free order.
        case free
        /// An admin's act on a mismatch; the subject is the order, the body its number and the act.
        case mismatch
        /// The intent of a refund; the subject is its id.
        case refund
        /// A store purchase; the body is its key, the subject its environment.
        case purchase
    }

    package let kind: Kind
    package let at: Timestamp
    package let account: String
    package let subject: String
    package let body: String
    /// The position of this step; the next page begins after it.
    package let cursor: (at: Int64, tie: String)
}

/// Queries of `paydesk replay`.
///
/// `db.replay` reads; `tx.replay` also writes.
package struct ReplayQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var replay: ReplayQueries<any Database> { ReplayQueries(db: self, tx: self) }
}

extension Transaction {
    package var replay: ReplayQueries<any Transaction> { ReplayQueries(db: self, tx: self) }
}

extension ReplayQueries {
    /// Lists a page of a table's rows in the order of its key.
    package func listRows(of table: ReplayTable, after last: Row?, limit: Int64) throws(StoreError) -> [Row] {
        let key = table.key.joined(separator: ", ")
        var condition = table.condition
        var arguments: [any SQLBindable] = []
        if let last {
            condition += " AND (\(key)) > (\(table.key.map { _ in "?" }.joined(separator: ", ")))"
            arguments = table.key.map { last[$0] }
        }
        arguments.append(limit)
        return try db.rows("SELECT * FROM \(table.name) WHERE \(condition) ORDER BY \(key) LIMIT ?", arguments)
    }

    /// The order of steps within one second: an id's milliseconds, the rank of its kind, the rest of the id.
    private static func tie(_ rank: Int) -> String { "substr(id, 5, 10) || '\(rank)' || substr(id, 15)" }

    /// Finds the row of a table with this id.
    package func findRow(of table: ReplayTable, id: String) throws(StoreError) -> Row? {
        try db.row("SELECT * FROM \(table.name) WHERE id = ? AND \(table.condition)", id)
    }

    /// Lists all facts and acts, oldest first.
    ///
    /// Within one second they are ordered by the milliseconds at the beginning of their ids, and within one millisecond
    /// intents come first. The closing of an order comes before everything else of its second.
    package func listSteps(after last: ReplayStep?, limit: Int64) throws(StoreError) -> [ReplayStep] {
        try db.rows(
            """
            SELECT * FROM (
                SELECT 'facts' AS kind, COALESCE(processed_at, received_at) AS at, \(Self.tie(1)) AS tie, account,
                    '' AS subject, facts AS body
                FROM notifications WHERE status = 'processed'
                UNION ALL
                SELECT 'facts', at, \(Self.tie(1)), account, '', '[' || fact || ']' FROM learned_facts
                UNION ALL
                SELECT 'close', at, '/' || order_id, '', order_id, '' FROM order_timeline
                WHERE type = 'order.closed' AND order_id NOT IN (SELECT id FROM orders WHERE subscription_id IS NOT NULL)
                UNION ALL
                SELECT 'free', created_at, '/' || id, '', id, '' FROM orders
                WHERE origin = 'checkout' AND amount = 0 AND state = 'paid' AND subscription_id IS NULL
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

    /// Lists orders that checkouts made and no store purchase paid, in the order of their ids.
    package func listCheckoutOrders(after last: String, limit: Int64) throws(StoreError) -> [ID<Order>] {
        try db.rows(
            """
            SELECT id FROM orders WHERE origin = 'checkout' AND subscription_id IS NULL AND id > ?
              AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.order_id = orders.id)
            ORDER BY id LIMIT ?
            """, [last, limit]
        ).map { row throws(StoreError) in try row.id("id") }
    }

    /// Lists purchases that have an order, in the order of their keys.
    package func listAttachedPurchases(
        after cursor: (Environment, String)?, limit: Int64
    ) throws(StoreError) -> [PurchaseRecord] {
        try db.rows(
            """
            SELECT \(PurchaseRecord.columns) FROM purchases
            WHERE order_id IS NOT NULL AND (environment, key) > (?, ?)
            ORDER BY environment, key LIMIT ?
            """, [cursor?.0.rawValue ?? "", cursor?.1 ?? "", limit]
        ).map(PurchaseRecord.init(row:))
    }

    /// Lists payments that have refunds, in the order of their ids.
    package func listRefundedPayments(after last: String, limit: Int64) throws(StoreError) -> [ID<Payment>] {
        try db.rows(
            "SELECT DISTINCT payment_id FROM refunds WHERE payment_id > ? ORDER BY payment_id LIMIT ?", [last, limit]
        ).map { row throws(StoreError) in try row.id("payment_id") }
    }

    /// Reads all users' balances; the keys are `<user> <environment> <unit>`.
    package func listBalances() throws(StoreError) -> [String: Int64] {
        var balances: [String: Int64] = [:]
        for row in try db.rows("SELECT * FROM balances") {
            let key = [try row.text("user_id"), try row.text("environment"), try row.text("unit")]
            balances[key.joined(separator: " ")] = try row.int("amount")
        }
        return balances
    }

    /// Returns the time since which facts from answers to queries are stored; 0 in a database that has always stored
    /// them.
    package func factsSince() throws(StoreError) -> Timestamp {
        try db.row("SELECT applied_at FROM schema_migrations WHERE name = 'learned facts'")?.time("applied_at")
            ?? Timestamp(0)
    }
}

extension ReplayQueries where Connection == any Transaction {
    /// Inserts rows of another database, reset to their first values.
    package func insert(_ rows: [Row], into table: ReplayTable) throws(StoreError) {
        guard let columns = rows.first?.columns else { return }
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let sql = "INSERT INTO \(table.name) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
        for row in rows {
            try tx.execute(sql, zip(columns, row.values).map { column, value in table.reset[column] ?? value })
        }
    }

    /// Writes a managed subscription and its grant as its history makes them.
    package func restore(_ record: ManagedSubscriptionRecord, _ grant: Grant?) throws(StoreError) {
        try tx.managedSubscriptions.restore(record)
        try tx.execute(
            "DELETE FROM grants WHERE source_kind = 'managed_subscription' AND source_id = ?", record.subscription.id)
        guard let grant else { return }
        // An order that is lost is a difference of its own.
        let order = try grant.order.flatMap { id throws(StoreError) in try tx.orders.find(id)?.id }
        try tx.grants.insert(grant.of(order))
    }

    /// Computes all balances from the ledger.
    package func rebuildBalances() throws(StoreError) {
        try tx.execute("DELETE FROM balances")
        try tx.execute(
            """
            INSERT INTO balances (user_id, unit, environment, amount)
            SELECT user_id, unit, environment, SUM(delta) FROM ledger GROUP BY user_id, unit, environment
            """)
    }
}

extension Grant {
    /// Returns this grant with another order.
    fileprivate func of(_ order: ID<Order>?) -> Grant {
        var copy = Grant(
            id: id, user: user, sku: sku, kind: kind, tier: tier, rank: rank, source: source, order: order,
            environment: environment, purchasedAt: purchasedAt, term: term, stackGroup: stackGroup,
            attributes: attributes, revocation: revocation, suspended: suspended)
        (copy.renewal, copy.ahead) = (renewal, ahead)
        return copy
    }
}
