package import Domain

/// The rows of an order in other tables.
package struct OrderParts: Sendable {
    package var payments: [PaymentRecord] = []
    package var refunds: [Refund] = []
    package var disputes: [Dispute] = []
    package var timeline: [TimelineEntry] = []
    /// The account that verified the store purchase of the order.
    package var storeAccount: AccountID?
    /// The subscription whose period the order paid.
    package var subscription: ID<Subscription>?
    /// The newest set-up of a trial's order.
    package var setup: SetupRecord?

    /// Mismatches; empty unless they were requested.
    package var mismatches: [Mismatch] = []

    package init() {}
}

extension OrderQueries {
    /// Lists the parts of many orders, in the order of these; each kind of part takes one statement for all orders.
    package func listParts(of orders: [Order], withMismatches: Bool) throws(StoreError) -> [OrderParts] {
        let ids = orders.map(\.id)
        func rowsOf(_ table: String, _ order: String, _ ids: [ID<Order>]) throws(StoreError) -> [String: [Row]] {
            try db.rowsByKey(ids, "order_id") {
                "SELECT * FROM \(table) WHERE order_id IN (\($0)) ORDER BY order_id, \(order)"
            }
        }
        let payments = try rowsOf("payments", "attempt", ids)
        // An order without a payment has neither refunds nor disputes.
        let paid = ids.filter { payments[$0.rawValue] != nil }
        let refunds = try rowsOf("refunds", "created_at, id", paid)
        let disputes = try rowsOf("disputes", "created_at, id", paid)
        let timeline = try rowsOf("order_timeline", "position", ids)
        let accounts = try db.rowsByKey(orders.filter { $0.origin != .checkout }.map(\.id), "order_id") {
            "SELECT order_id, account FROM purchases WHERE order_id IN (\($0))"
        }
        let subscriptions = try db.rowsByKey(orders.filter { $0.terms.kind == .subscription }.map(\.id), "order_id") {
            """
            SELECT p.order_id, s.id FROM purchases p JOIN subscriptions s ON s.environment = p.environment
              AND s.original_transaction_id = p.original_transaction_id AND s.holder IN ('', p.user_id)
            WHERE p.order_id IN (\($0))
            """
        }
        let trials = try rowsOf("setups", "id", orders.filter(\.mayHaveSetup).map(\.id))
        let mismatches = withMismatches ? try rowsOf("mismatches", "n", paid) : [:]
        return try ids.map { id throws(StoreError) in
            let key = id.rawValue
            var parts = OrderParts()
            parts.payments = try (payments[key] ?? []).map(PaymentRecord.init(row:))
            parts.refunds = try (refunds[key] ?? []).map(Refund.init(row:))
            parts.disputes = try (disputes[key] ?? []).map(Dispute.init(row:))
            parts.timeline = try (timeline[key] ?? []).map(TimelineEntry.init(row:))
            parts.mismatches = try (mismatches[key] ?? []).map(Mismatch.init(row:))
            parts.storeAccount = try accounts[key]?.first?.account("account")
            parts.subscription = try subscriptions[key]?.first?.id("id")
            parts.setup = try trials[key]?.last.map(SetupRecord.init(row:))
            return parts
        }
    }
}

extension Order {
    /// True for an order that begins a trial: it costs nothing, and a set-up stands in the place of a payment.
    package var mayHaveSetup: Bool { period?.index == 0 && amount?.isZero == true }
}
