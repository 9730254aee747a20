package import Domain

/// A paid period of a managed subscription.
package struct ExternalPeriod: Sendable, Equatable {
    package let order: ID<Order>
    package let sku: SKUCode
    package let payment: ID<Payment>?
    package let start: Timestamp
    package let end: Timestamp
    /// False for a trial.
    package let isPaid: Bool
}

extension ExternalPurchaseQueries {
    /// Lists the periods of a subscription that were paid, and its trial, in their order.
    package func periods(of subscription: ID<Subscription>) throws(StoreError) -> [ExternalPeriod] {
        try db.rows(
            """
            SELECT id, sku, paid_by, period_start, period_end, amount FROM orders
            WHERE subscription_id = ? AND state = 'paid' AND period_start IS NOT NULL ORDER BY period_index, id
            """, [subscription]
        ).map { row throws(StoreError) in
            ExternalPeriod(
                order: try row.id("id"), sku: try row.code("sku"), payment: try row.optionalID("paid_by"),
                start: try row.time("period_start"), end: try row.time("period_end"), isPaid: try row.int("amount") > 0)
        }
    }

    /// Lists the orders of each token, oldest first.
    package func orderIDs(
        of tokens: [ID<ExternalToken>]
    ) throws(StoreError) -> [ID<ExternalToken>: [ID<Order>]] {
        let found = try db.rowsByKey(tokens, "external_token_id") {
            "SELECT id, external_token_id FROM orders WHERE external_token_id IN (\($0)) ORDER BY external_token_id, id"
        }
        var orders: [ID<ExternalToken>: [ID<Order>]] = [:]
        for token in tokens {
            orders[token] = try (found[token.rawValue] ?? []).map { row throws(StoreError) in try row.id("id") }
        }
        return orders
    }

    /// Finds the sale of a subscription's first order outside of the App Store; nil where it has none.
    package func sale(of subscription: ID<Subscription>) throws(StoreError) -> ExternalSale? {
        guard
            let row = try db.row(
                """
                SELECT external_token_id, storefront, tax_rate FROM orders WHERE subscription_id = ? ORDER BY id LIMIT 1
                """, subscription), let token = try row.optionalID("external_token_id", ExternalToken.self)
        else { return nil }
        return ExternalSale(
            token: token, storefront: try row.text("storefront"), taxRate: try row.int("tax_rate"))
    }
}
