package import Domain

/// An order as an export lists it.
package struct ExportedOrder: Sendable {
    /// The order without its anomalies.
    package let order: Order
    /// The app's own id of the user; nil after an erasure.
    package let userName: String?
    /// The account of the payment that paid it, else of the latest attempt, else of the store purchase.
    package let provider: String?
    /// The provider's own id of that payment; for a store purchase, the id of its transaction.
    package let paymentReference: String?
    /// The providers' own ids of its refunds, separated by spaces.
    package let refundReferences: String?
}

extension ReportQueries {
    /// Lists the orders of a filter in the order of their ids.
    package func listOrders(
        _ filter: OrderFilter, after cursor: ID<Order>?, limit: Int64
    ) throws(StoreError) -> [ExportedOrder] {
        let window = OrderWindow(.oldestFirst, after: cursor?.rawValue, limit: limit)
        let found = try db.orders.restriction(filter, window)
        return try db.rows(
            """
            SELECT o.*, p.captured AS paid_value, p.currency AS paid_currency, p.offers, p.refunding, p.refunded, p.lost,
                u.external_id AS user_name,
                COALESCE(p.account, (SELECT x.account FROM payments x WHERE x.order_id = o.id
                    ORDER BY x.attempt DESC LIMIT 1),
                    (SELECT x.account FROM purchases x WHERE x.order_id = o.id)) AS account,
                COALESCE(p.reference, (SELECT x.reference FROM payments x WHERE x.order_id = o.id
                    ORDER BY x.attempt DESC LIMIT 1),
                    (SELECT x.transaction_id FROM purchases x WHERE x.order_id = o.id)) AS payment_reference,
                (SELECT \(db.dialect.joined("x.reference")) FROM refunds x
                    WHERE x.order_id = o.id AND x.reference IS NOT NULL) AS refund_references
            FROM orders o LEFT JOIN payments p ON p.id = o.paid_by LEFT JOIN users u ON u.id = o.user_id
            """ + found.sql, found.arguments
        ).map { row throws(StoreError) in
            ExportedOrder(
                order: try Order(row: row, anomalies: []), userName: try row.optionalText("user_name"),
                provider: try row.optionalText("account"),
                paymentReference: try row.optionalText("payment_reference"),
                refundReferences: try row.optionalText("refund_references"))
        }
    }
}
