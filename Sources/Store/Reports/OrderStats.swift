package import Domain

/// The sums of orders that have one key in common, in one currency.
package struct OrderStats: Sendable, Equatable {
    /// The contract type of a payment, as far as it is stored, beside the account of the key; nil for other keys.
    package let contract: String?
    package let key: String
    /// nil for orders of a store that signed no price.
    package let currency: Currency?
    package var opened: Int64 = 0
    package var paid: Int64 = 0
    package var charged: Int64 = 0
    package var refunded: Int64 = 0
    /// Minor units lost in disputes, which `refunded` contains.
    package var lost: Int64 = 0

    package init(
        contract: String?, key: String, currency: Currency?, opened: Int64 = 0, paid: Int64 = 0, charged: Int64 = 0,
        refunded: Int64 = 0, lost: Int64 = 0
    ) {
        self.contract = contract
        self.key = key
        self.currency = currency
        self.opened = opened
        self.paid = paid
        self.charged = charged
        self.refunded = refunded
        self.lost = lost
    }
}

extension ReportQueries {
    /// Sums the orders that were made, paid, refunded or lost in a period, from the orders themselves.
    ///
    /// - Parameter step: `method` gives the account as the key, beside the stored contract type.
    package func sumOrders(
        by step: StatsStep, from: Timestamp, to: Timestamp, environment: Environment
    ) throws(StoreError) -> [OrderStats] {
        let ahead = try db.clock.find().offsetSeconds
        // Ids sort by the real time of their making, an hour on either side of the row's; they have the index.
        func made(_ prefix: (Timestamp) -> String) -> [any SQLBindable] {
            [prefix(from.adding(seconds: -3_600 - ahead)), prefix(to.adding(seconds: 3_600)), from, to]
        }
        let parts: [(sql: String, arguments: [any SQLBindable])] = [
            (
                Self.part(
                    step, "o.created_at", "COALESCE(o.currency, o.charged_currency, '')", ["1", "0", "0", "0", "0"],
                    "orders o",
                    "o.id >= ? AND o.id < ? AND o.created_at >= ? AND o.created_at < ? AND \(Migrations.isSale("o"))"),
                made { ID<Order>.least(at: $0).rawValue }
            ),
            (
                Self.part(
                    step, "o.paid_at", "COALESCE(o.charged_currency, p.currency, o.currency, '')",
                    ["0", "1", "COALESCE(o.charged, p.captured, 0)", "0", "0"],
                    "orders o\(db.dialect.indexed(by: "orders_by_payday")) LEFT JOIN payments p ON p.id = o.paid_by",
                    "o.paid_at >= ? AND o.paid_at < ? AND \(Migrations.isSale("o"))"), [from, to]
            ),
            (
                Self.part(
                    step, "o.returned_at", "o.charged_currency", ["0", "0", "0", "o.returned", "0"],
                    "orders o\(db.dialect.indexed(by: "orders_by_return"))",
                    "o.returned_at >= ? AND o.returned_at < ? AND o.charged_currency IS NOT NULL"), [from, to]
            ),
            (
                Self.part(
                    step, "r.created_at", "r.currency", ["0", "0", "0", "r.amount", "0"],
                    "refunds r CROSS JOIN orders o",
                    """
                    o.id = r.order_id AND o.paid_by = r.payment_id AND r.id >= ? AND r.id < ? AND r.created_at >= ? AND r.created_at < ?
                        AND r.state = 'succeeded' AND r.counted = 1
                    """), made { ID<Refund>.least(at: $0).rawValue }
            ),
            (
                Self.part(
                    step, "d.created_at", "d.currency", ["0", "0", "0", "d.amount", "d.amount"],
                    "disputes d CROSS JOIN orders o",
                    """
                    o.id = d.order_id AND o.paid_by = d.payment_id AND d.state = 'lost' AND d.id >= ? AND d.id < ?
                        AND d.created_at >= ? AND d.created_at < ?
                    """), made { ID<Dispute>.least(at: $0).rawValue }
            ),
        ]
        let sums = ["opened", "paid", "charged", "refunded", "lost"]
        return try db.rows(
            """
            SELECT key, contract, currency,
                \(sums.map { "CAST(SUM(\($0)) AS BIGINT) AS \($0)" }.joined(separator: ", "))
            FROM (\(parts.map(\.sql).joined(separator: " UNION ALL "))) AS parts GROUP BY key, contract, currency
            """, parts.flatMap { [environment.rawValue] + $0.arguments }
        ).map(OrderStats.init(row:))
    }

    /// The rows of one part of the sums.
    ///
    /// The method of an order is the payment that paid it, else its last attempt, else its purchase from a store.
    private static func part(
        _ step: StatsStep, _ time: String, _ currency: String, _ values: [String], _ tables: String,
        _ condition: String
    ) -> String {
        let key =
            switch step {
            case .day: "CAST(\(time) / 86400 AS TEXT)"
            case .sku: "o.sku"
            case .platform: "o.platform"
            case .account, .method: "COALESCE(x.account, y.account, '')"
            }
        let contract =
            step == .method
            ? "COALESCE(x.contract, CASE WHEN y.order_id IS NOT NULL THEN 'apple_iap' ELSE '' END)" : "''"
        // Joined, because subqueries for each column searched payments and purchases up to six times for an order.
        let payment =
            step == .account || step == .method
            ? """
             LEFT JOIN payments x ON x.id = COALESCE(o.paid_by, (
                    SELECT z.id FROM payments z WHERE z.order_id = o.id ORDER BY z.attempt DESC LIMIT 1))
                LEFT JOIN purchases y ON y.order_id = o.id
            """ : ""
        return """
            SELECT \(key) AS key, \(contract) AS contract, \(currency) AS currency, \(values[0]) AS opened,
                \(values[1]) AS paid, \(values[2]) AS charged, \(values[3]) AS refunded, \(values[4]) AS lost
            FROM \(tables)\(payment) WHERE o.environment || '' = ? AND \(condition)
            """
    }

    /// Sums what was lost in disputes by day and currency, in an environment.
    package func listLost(
        from: Timestamp, to: Timestamp, environment: Environment
    ) throws(StoreError) -> [OrderStats] {
        try db.rows(
            """
            SELECT CAST(d.created_at / 86400 AS TEXT) AS key, '' AS contract, d.currency, CAST(0 AS BIGINT) AS opened,
                CAST(0 AS BIGINT) AS paid, CAST(0 AS BIGINT) AS charged, CAST(0 AS BIGINT) AS refunded,
                CAST(SUM(d.amount) AS BIGINT) AS lost
            FROM disputes d CROSS JOIN orders o
            WHERE o.id = d.order_id AND o.environment = ? AND o.paid_by = d.payment_id AND d.state = 'lost' AND d.created_at >= ?
                AND d.created_at < ?
            GROUP BY 1, d.currency
            """, [environment.rawValue, from, to]
        ).map(OrderStats.init(row:))
    }
}

extension OrderStats {
    fileprivate init(row: Row) throws(StoreError) {
        let contract = try row.text("contract")
        self.init(
            contract: contract.isEmpty ? nil : contract, key: try row.text("key"),
            currency: Currency(try row.text("currency")), opened: try row.int("opened"), paid: try row.int("paid"),
            charged: try row.int("charged"), refunded: try row.int("refunded"), lost: try row.int("lost"))
    }
}
