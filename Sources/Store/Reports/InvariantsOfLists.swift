// Invariant 13 of `domain.md` section 10 for the tables of lists and statistics, which follow from the facts.
extension InvariantRule {
    private static let listings = """
        SELECT CASE WHEN o.partner IS NULL THEN '' WHEN k.n = 0 THEN '*' ELSE 'p:' || o.partner END AS audience,
            a.account, \(Migrations.orderStatus) AS status, o.id AS order_id
        FROM (
            SELECT id AS order_id, '' AS account FROM orders
            UNION SELECT order_id, account FROM payments
            UNION SELECT order_id, account FROM purchases WHERE order_id IS NOT NULL) a
        JOIN orders o ON o.id = a.order_id LEFT JOIN payments p ON p.id = o.paid_by
        CROSS JOIN (SELECT 0 AS n UNION ALL SELECT 1) k
        WHERE k.n = 0 OR o.partner IS NOT NULL
        """

    /// The sums of each day: of stores from columns of the order, of providers from payments, refunds and disputes.
    ///
    /// Test purchases are left out, and so is money that came in addition to the payment that paid the order, with its
    /// refunds.
    private static let sums = """
        SELECT o.created_at / 86400 AS day, COALESCE(o.currency, o.charged_currency, '') AS currency, 1 AS opened,
            0 AS paid, 0 AS charged, 0 AS refunded
        FROM orders o WHERE o.environment = 'Production' AND \(Migrations.isSale("o"))
        UNION ALL
        SELECT o.paid_at / 86400, COALESCE(o.charged_currency, p.currency, o.currency, ''), 0, 1,
            COALESCE(o.charged, p.captured, 0), 0
        FROM orders o LEFT JOIN payments p ON p.id = o.paid_by
        WHERE o.environment = 'Production' AND o.paid_at IS NOT NULL AND \(Migrations.isSale("o"))
        UNION ALL
        SELECT o.returned_at / 86400, o.charged_currency, 0, 0, 0, o.returned FROM orders o
        WHERE o.environment = 'Production' AND o.returned_at IS NOT NULL AND o.charged_currency IS NOT NULL
        UNION ALL
        SELECT r.created_at / 86400, r.currency, 0, 0, 0, r.amount
        FROM refunds r JOIN orders o ON o.id = r.order_id AND o.paid_by = r.payment_id
        WHERE o.environment = 'Production' AND r.state = 'succeeded' AND r.counted = 1
        UNION ALL
        SELECT d.created_at / 86400, d.currency, 0, 0, 0, d.amount
        FROM disputes d JOIN orders o ON o.id = d.order_id AND o.paid_by = d.payment_id
        WHERE o.environment = 'Production' AND d.state = 'lost'
        """

    static let ofLists = [
        InvariantRule(
            invariant: 13, detail: "lists find the order where it is not, or not where it is",
            sql: """
                SELECT subject FROM (
                    SELECT order_id AS subject FROM (
                        \(listings) EXCEPT SELECT audience, account, status, order_id FROM order_places) missing
                    UNION SELECT order_id FROM (
                        SELECT audience, account, status, order_id FROM order_places EXCEPT \(listings)) beside) wrong
                """),
        InvariantRule(
            invariant: 13, detail: "the sums of a day and currency are not those of its orders",
            sql: """
                SELECT CAST(day AS TEXT) || ' ' || currency AS subject FROM (
                    \(sums) UNION ALL SELECT day, currency, -opened, -paid, -charged, -refunded FROM order_sums) parts
                GROUP BY day, currency
                HAVING SUM(opened) <> 0 OR SUM(paid) <> 0 OR SUM(charged) <> 0 OR SUM(refunded) <> 0
                """),
    ]
}
