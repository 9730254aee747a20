extension Migrations {
    /// The condition that an order is a sale: neither a trial nor a subscription that was imported.
    ///
    /// - Parameter row: the alias of the order.
    static func isSale(_ row: String) -> String {
        """
        \(row).origin <> 'import'
            AND (\(row).period_index IS NULL OR \(row).period_index <> 0 OR \(row).amount <> 0)
        """
    }

    /// Leaves trials and imported subscriptions out of the sums of sales, and indexes undecided renewals.
    static let sales = """
        CREATE INDEX managed_subscriptions_undecided ON managed_subscriptions (period_end)
            WHERE state = 'running' AND due_at IS NULL;
        INSERT INTO order_sums (day, currency, slot, opened, paid, charged, refunded)
        SELECT day, currency, 0, -SUM(opened), -SUM(paid), 0, 0 FROM (
            SELECT o.created_at / 86400 AS day, COALESCE(o.currency, o.charged_currency, '') AS currency, 1 AS opened,
                0 AS paid
            FROM orders o WHERE o.environment = 'Production' AND NOT (\(isSale("o")))
            UNION ALL
            SELECT o.paid_at / 86400, COALESCE(o.charged_currency, o.currency, ''), 0, 1
            FROM orders o
            WHERE o.environment = 'Production' AND o.paid_at IS NOT NULL AND NOT (\(isSale("o")))
        ) AS parts GROUP BY day, currency HAVING SUM(opened) + SUM(paid) > 0
        ON CONFLICT (day, currency, slot) DO UPDATE
        SET opened = order_sums.opened + excluded.opened, paid = order_sums.paid + excluded.paid;
        """

    static let salesOnly: [Dialect: [String]] = [
        .sqlite: OrderTriggers(dialect: .sqlite, countsSalesOnly: true).summingAgain,
        .postgres: OrderTriggers(dialect: .postgres, countsSalesOnly: true).summingAgain,
    ]
}
