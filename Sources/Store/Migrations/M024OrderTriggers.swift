extension Migrations {
    static let orderTriggers: [Dialect: [String]] = [
        .sqlite: OrderTriggers(dialect: .sqlite).statements, .postgres: OrderTriggers(dialect: .postgres).statements,
    ]
}

/// The triggers that maintain `order_places` and `order_sums` (``Migrations/orderLists``).
///
/// A later migration that recreates `orders`, `payments`, `refunds`, `disputes` or `purchases` must recreate these
/// triggers, too.
struct OrderTriggers {
    let dialect: Dialect
    /// True to leave trials and imported subscriptions out of the sums (``Migrations/salesOnly``).
    var countsSalesOnly = false

    var statements: [String] {
        placing + summing(orders: Self.summed) + summingOfMoneyBack
    }

    /// The columns of an order whose change can move it to another sum.
    private static let summed = ["paid_at", "paid_by", "charged", "charged_currency", "currency", "environment"]

    /// Replaces the triggers of orders that maintain the sums.
    var summingAgain: [String] {
        let statements = summing(orders: Self.summed)
        switch dialect {
        case .sqlite: return ["DROP TRIGGER orders_are_summed", "DROP TRIGGER orders_are_summed_anew"] + statements
        case .postgres:
            return statements.filter { $0.hasPrefix("CREATE FUNCTION") }
                .map { $0.replacing("CREATE FUNCTION", with: "CREATE OR REPLACE FUNCTION", maxReplacements: 1) }
        }
    }

    // MARK: Places

    private var placing: [String] {
        trigger("orders_are_placed", "INSERT", on: "orders", [insertion(of: "NEW.id", at: "''")])
            + trigger(
                "orders_move", "UPDATE",
                of: ["state", "paid_by", "charged", "returned", "returned_at", "revoked_share"], on: "orders",
                [move("NEW.id")])
            + trigger(
                "payments_are_placed", "INSERT", on: "payments", [insertion(of: "NEW.order_id", at: "NEW.account")])
            + trigger(
                "payments_move_orders", "UPDATE", of: ["captured", "refunded", "lost"], on: "payments",
                [move("(SELECT id FROM orders WHERE id = NEW.order_id AND paid_by = NEW.id)")])
            + trigger(
                "purchases_are_placed", "INSERT", on: "purchases", when: "NEW.order_id IS NOT NULL",
                [insertion(of: "NEW.order_id", at: "NEW.account")])
            + trigger(
                "purchases_are_placed_anew", "UPDATE", of: ["order_id"], on: "purchases",
                [
                    """
                    DELETE FROM order_places WHERE order_id = OLD.order_id AND account = OLD.account
                        AND status IN (\(Self.statuses)) AND audience IN (\(audiences(of: "OLD.order_id")))
                        AND NOT EXISTS (SELECT 1 FROM payments y
                            WHERE y.order_id = OLD.order_id AND y.account = OLD.account)
                    """,
                    insertion(of: "NEW.order_id", at: "NEW.account"),
                ])
    }

    private static let statuses = "'open', 'paid', 'partially_refunded', 'refunded', 'closed'"

    private func insertion(of order: String, at account: String) -> String {
        """
        INSERT INTO order_places (audience, account, status, order_id)
        SELECT CASE WHEN o.partner IS NULL THEN '' WHEN k.n = 0 THEN '*' ELSE 'p:' || o.partner END, \(account),
            \(Migrations.orderStatus), o.id
        FROM orders o LEFT JOIN payments p ON p.id = o.paid_by CROSS JOIN (SELECT 0 AS n UNION ALL SELECT 1) k
        WHERE o.id = \(order) AND (k.n = 0 OR o.partner IS NOT NULL)
        ON CONFLICT (audience, account, status, order_id) DO NOTHING
        """
    }

    private func audiences(of order: String) -> String {
        """
        SELECT CASE WHEN x.partner IS NULL THEN '' ELSE '*' END FROM orders x WHERE x.id = \(order)
        UNION ALL SELECT 'p:' || x.partner FROM orders x WHERE x.id = \(order) AND x.partner IS NOT NULL
        """
    }

    private func move(_ order: String) -> String {
        let status = """
            (SELECT \(Migrations.orderStatus) FROM orders o LEFT JOIN payments p ON p.id = o.paid_by
                WHERE o.id = \(order))
            """
        return """
            UPDATE order_places SET status = \(status)
            WHERE order_id = \(order) AND status IN (\(Self.statuses)) AND status <> \(status)
                AND audience IN (\(audiences(of: order)))
                AND account IN (SELECT '' UNION SELECT y.account FROM payments y WHERE y.order_id = \(order)
                    UNION SELECT y.account FROM purchases y WHERE y.order_id = \(order))
            """
    }

    // MARK: Sums

    private func summing(orders columns: [String]) -> [String] {
        trigger(
            "orders_are_summed", "INSERT", on: "orders", [add([opened("NEW", 1), paid("NEW", 1), returned("NEW", 1)])])
            + trigger(
                "orders_are_summed_anew", "UPDATE", of: columns + ["created_at", "returned", "returned_at"],
                on: "orders",
                [
                    add(
                        ["NEW", "OLD"].flatMap { row in
                            let sign = row == "NEW" ? 1 : -1
                            return [
                                opened(row, sign), paid(row, sign), returned(row, sign),
                                moneyBack("refunds", of: row, sign),
                                moneyBack("disputes", of: row, sign),
                            ]
                        })
                ])
    }

    private var summingOfMoneyBack: [String] {
        trigger(
            "payments_are_summed", "UPDATE", of: ["captured"], on: "payments",
            [
                add([
                    """
                    SELECT o.paid_at / 86400 AS day, COALESCE(o.charged_currency, NEW.currency) AS currency, 0 AS opened,
                        0 AS paid, NEW.captured - OLD.captured AS charged, 0 AS refunded
                    FROM orders o WHERE o.id = NEW.order_id AND o.paid_by = NEW.id AND o.charged IS NULL
                        AND o.environment = 'Production' AND o.paid_at IS NOT NULL
                    """
                ])
            ])
            + ["refunds", "disputes"].flatMap { table in
                let columns = table == "refunds" ? ["state", "counted", "amount"] : ["state", "amount"]
                return trigger("\(table)_are_summed", "INSERT", on: table, [add([own("NEW", of: table, 1)])])
                    + trigger(
                        "\(table)_are_summed_anew", "UPDATE", of: columns, on: table,
                        [add([own("NEW", of: table, 1), own("OLD", of: table, -1)])])
            }
    }

    private func opened(_ row: String, _ sign: Int) -> String {
        """
        SELECT \(row).created_at / 86400 AS day, COALESCE(\(row).currency, \(row).charged_currency, '') AS currency,
            \(sign) AS opened, 0 AS paid, 0 AS charged, 0 AS refunded
        WHERE \(row).environment = 'Production'\(countsSalesOnly ? " AND \(Migrations.isSale(row))" : "")
        """
    }

    private func paid(_ row: String, _ sign: Int) -> String {
        """
        SELECT \(row).paid_at / 86400, COALESCE(\(row).charged_currency, p.currency, \(row).currency, ''), 0, \(sign),
            \(sign) * COALESCE(\(row).charged, p.captured, 0), 0
        FROM (SELECT 1 AS one) AS o LEFT JOIN payments p ON p.id = \(row).paid_by
        WHERE \(row).environment = 'Production' AND \(row).paid_at IS NOT NULL\(countsSalesOnly
            ? " AND \(Migrations.isSale(row))" : "")
        """
    }

    private func returned(_ row: String, _ sign: Int) -> String {
        """
        SELECT \(row).returned_at / 86400, \(row).charged_currency, 0, 0, 0, \(sign) * \(row).returned
        WHERE \(row).environment = 'Production' AND \(row).returned_at IS NOT NULL
            AND \(row).charged_currency IS NOT NULL
        """
    }

    /// The refunds or disputes of the payment that paid the order of a row.
    private func moneyBack(_ table: String, of row: String, _ sign: Int) -> String {
        """
        SELECT b.created_at / 86400, b.currency, 0, 0, 0, \(sign) * b.amount FROM \(table) b
        WHERE b.payment_id = \(row).paid_by AND b.order_id = \(row).id AND \(Self.counts(table, "b"))
            AND \(row).environment = 'Production'
        """
    }

    /// The contribution of a refund or dispute row itself to the sums.
    private func own(_ row: String, of table: String, _ sign: Int) -> String {
        """
        SELECT \(row).created_at / 86400 AS day, \(row).currency AS currency, 0 AS opened, 0 AS paid, 0 AS charged,
            \(sign) * \(row).amount AS refunded
        FROM orders o WHERE o.id = \(row).order_id AND o.paid_by = \(row).payment_id
            AND o.environment = 'Production' AND \(Self.counts(table, row))
        """
    }

    private static func counts(_ table: String, _ row: String) -> String {
        table == "refunds" ? "\(row).state = 'succeeded' AND \(row).counted = 1" : "\(row).state = 'lost'"
    }

    private func add(_ parts: [String]) -> String {
        let slot = dialect == .sqlite ? "0" : "pg_backend_pid() % 16"
        let columns = ["opened", "paid", "charged", "refunded"]
        return """
            INSERT INTO order_sums (day, currency, slot, opened, paid, charged, refunded)
            SELECT day, currency, \(slot), \(columns.map { "SUM(\($0))" }.joined(separator: ", "))
            FROM (\(parts.joined(separator: "\nUNION ALL\n"))) AS parts
            GROUP BY day, currency HAVING \(columns.map { "SUM(\($0)) <> 0" }.joined(separator: " OR "))
            ON CONFLICT (day, currency, slot) DO UPDATE
            SET \(columns.map { "\($0) = order_sums.\($0) + excluded.\($0)" }.joined(separator: ", "))
            """
    }

    // MARK: Triggers

    /// - Parameter columns: the trigger fires only when one of these has changed.
    private func trigger(
        _ name: String, _ event: String, of columns: [String] = [], on table: String, when condition: String? = nil,
        _ statements: [String]
    ) -> [String] {
        let body = statements.map { $0 + ";" }.joined(separator: "\n")
        let differ = dialect == .sqlite ? "IS NOT" : "IS DISTINCT FROM"
        let changed = columns.map { "NEW.\($0) \(differ) OLD.\($0)" }.joined(separator: " OR ")
        let when = condition ?? (columns.isEmpty ? nil : changed)
        let head = """
            CREATE TRIGGER \(name) AFTER \(event)\(columns.isEmpty ? "" : " OF " + columns.joined(separator: ", "))
            ON \(table) FOR EACH ROW\(when.map { "\nWHEN (\($0))" } ?? "")
            """
        switch dialect {
        case .sqlite: return ["\(head)\nBEGIN\n\(body)\nEND"]
        case .postgres:
            return [
                "CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN\n\(body)\nRETURN NULL; END$$",
                "\(head)\nEXECUTE FUNCTION \(name)()",
            ]
        }
    }
}
