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
    /// Lists orders that were made at `from` or later and before `to`, in the order of their ids.
    package func listOrders(
        after cursor: ID<Order>?, from: Timestamp, to: Timestamp, limit: Int64
    ) throws(StoreError) -> [ExportedOrder] {
        let range = try made(Order.self, from, to)
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
            WHERE o.id > ? AND o.id >= ? AND o.id < ? AND o.created_at >= ? AND o.created_at < ? ORDER BY o.id LIMIT ?
            """, [cursor?.rawValue ?? ""] + range + [from, to, limit]
        ).map { row throws(StoreError) in
            ExportedOrder(
                order: try Order(row: row, anomalies: []), userName: try row.optionalText("user_name"),
                provider: try row.optionalText("account"),
                paymentReference: try row.optionalText("payment_reference"),
                refundReferences: try row.optionalText("refund_references"))
        }
    }

    /// The bounds, in the index, of the ids whose rows were made in a period: ids sort by the real time of their making,
    /// of which business time was never further ahead than it is now, and a day on either side allows for clocks that
    /// were set.
    private func made<Subject: Identified>(
        _: Subject.Type, _ from: Timestamp, _ to: Timestamp
    ) throws(StoreError) -> [any SQLBindable] {
        let first = from.adding(seconds: -(try db.clock.find().offsetSeconds)).adding(days: -1)
        return [ID<Subject>.least(at: first), ID<Subject>.least(at: to.adding(days: 1))]
    }
}
