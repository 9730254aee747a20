package import Domain

/// An entry of an order's timeline.
package struct TimelineEntry: Sendable, Equatable {
    package let at: Timestamp
    package let type: String
    package let detail: String

    package init(at: Timestamp, type: String, detail: String) {
        self.at = at
        self.type = type
        self.detail = detail
    }
}

/// Orders with their timeline and anomalies.
///
/// `db.orders` reads; `tx.orders` also writes.
package struct OrderQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var orders: OrderQueries<any Database> { OrderQueries(db: self, tx: self) }
}

extension Transaction {
    package var orders: OrderQueries<any Transaction> { OrderQueries(db: self, tx: self) }
}

// Orders with what is derived from their payments: `charged`, `refunding`, `refunded` and `lost` are those of the payment
// that paid the order.
extension OrderQueries {
    static var orderColumns: String {
        """
        SELECT o.*, p.captured AS paid_value, p.currency AS paid_currency, p.offers, p.refunding, p.refunded, p.lost,
            COALESCE((SELECT 1 FROM order_anomalies a WHERE a.order_id = o.id LIMIT 1), 0) AS anomalous
        FROM orders o LEFT JOIN payments p ON p.id = o.paid_by
        """
    }

    package func find(_ id: ID<Order>) throws(StoreError) -> Order? {
        guard let row = try db.rows(Self.orderColumns + " WHERE o.id = ?", [id]).first else { return nil }
        return try withAnomalies(row)
    }

    /// Finds the order of a payment; its anomalies are read when the result is waited for.
    package func find(of payment: ID<Payment>) throws(StoreError) -> DeferredResult<Order?> {
        try db.deferredRows(Self.orderColumns + " WHERE o.id = (SELECT order_id FROM payments WHERE id = ?)", payment)
            .first(withAnomalies)
    }

    /// Lists all orders in the order of their ids.
    func list(after last: String, limit: Int64) throws(StoreError) -> [Order] {
        try withAnomalies(try db.rows(Self.orderColumns + " WHERE o.id > ? ORDER BY o.id LIMIT ?", [last, limit]))
    }

    /// Lists the orders of a token of an external purchase, oldest first.
    func list(withToken token: ID<ExternalToken>) throws(StoreError) -> [Order] {
        try withAnomalies(try db.rows(Self.orderColumns + " WHERE o.external_token_id = ? ORDER BY o.id", [token]))
    }

    /// Returns whether an order has expired, by business time.
    ///
    /// A renewal's order never does: only its subscription closes it.
    package func hasExpired(_ order: ID<Order>, at now: Timestamp) throws(StoreError) -> Bool {
        try db.row(
            """
            SELECT id FROM orders
            WHERE id = ? AND origin <> 'renewal' AND expires_at <= \(db.dialect.businessClock)
            """, order, now) != nil
    }

    /// Counts a user's open orders up to a limit; orders of renewals, which a user does not make, are left out.
    package func countOpen(
        of user: ID<User>, at now: Timestamp, upTo limit: Int64
    ) throws(StoreError) -> DeferredResult<Int64> {
        try db.deferredRows(
            """
            SELECT COUNT(*) AS n FROM (
                SELECT id FROM orders
                WHERE user_id = ? AND state = 'open' AND expires_at > ? AND origin <> 'renewal' LIMIT ?) o
            """, user, now, limit
        ).map { rows throws(StoreError) in try rows.first?.int("n") ?? 0 }
    }

    /// Returns whether a user has had a free order of a SKU.
    package func hasFree(of user: ID<User>, sku: SKUCode) throws(StoreError) -> Bool {
        try db.row(
            "SELECT id FROM orders WHERE user_id = ? AND sku = ? AND amount = 0 AND state = 'paid' LIMIT 1", user, sku)
            != nil
    }

    package func timeline(of order: ID<Order>) throws(StoreError) -> DeferredResult<[TimelineEntry]> {
        try db.deferredRows("SELECT at, type, detail FROM order_timeline WHERE order_id = ? ORDER BY position", order)
            .each(
                TimelineEntry.init(row:))
    }

    private func withAnomalies(_ row: Row) throws(StoreError) -> Order {
        guard try row.bool("anomalous") else { return try Order(row: row, anomalies: []) }
        let id: ID<Order> = try row.id("id")
        let anomalies = try db.rows("SELECT anomaly FROM order_anomalies WHERE order_id = ? ORDER BY at, anomaly", [id])
            .map { row throws(StoreError) in try row.choice("anomaly", Anomaly.self) }
        return try Order(row: row, anomalies: anomalies)
    }

    /// Decodes many orders and reads their anomalies together.
    func withAnomalies(_ rows: [Row]) throws(StoreError) -> [Order] {
        let anomalous = try rows.filter { $0["anomalous"] == .integer(1) }
            .map { row throws(StoreError) in try row.id("id", Order.self) }
        let anomalies = try db.rowsByKey(anomalous, "order_id") {
            "SELECT order_id, anomaly FROM order_anomalies WHERE order_id IN (\($0)) ORDER BY order_id, at, anomaly"
        }
        return try rows.map { row throws(StoreError) in
            let names = try (anomalies[try row.text("id")] ?? []).map { row throws(StoreError) in
                try row.choice("anomaly", Anomaly.self)
            }
            return try Order(row: row, anomalies: names)
        }
    }
}

extension OrderQueries where Connection == any Transaction {
    package func insert(_ order: Order) throws(StoreError) {
        try tx.enqueue(
            """
            INSERT INTO orders (id, user_id, origin, sku, quantity, terms, days, amount, currency, state, charged,
                charged_currency, platform, environment, partner, return_url, metadata, created_at, expires_at, paid_at,
                closed_at, subscription_id, period_index, external_token_id, storefront, tax_rate)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            order.id, order.user, order.origin.rawValue, order.sku, order.quantity,
            try encodedTerms.text(of: order.terms),
            order.days,
            order.amount?.value, order.amount?.currency.code, order.state.rawValue, order.charged?.value,
            order.charged?.currency.code, order.platform.rawValue,
            order.environment.rawValue, order.partner, order.returnURL, try order.metadata.storedJSON(),
            order.createdAt,
            order.expiresAt, order.paidAt, order.closedAt, order.period?.subscription, order.period?.index,
            order.external?.token, order.external?.storefront, order.external?.taxRate)
    }

    /// Locks an order until the commit; the user is locked before it, its payments after it.
    package func lock(_ id: ID<Order>) throws(StoreError) -> Order? {
        try enqueueLock(of: id)
        return try find(id)
    }

    /// Queues the lock of an order, to be sent with the next statement.
    func enqueueLock(of order: ID<Order>) throws(StoreError) {
        guard tx.dialect.locksRows else { return }
        try tx.enqueue("SELECT id FROM orders WHERE id = ?" + tx.dialect.forUpdate, order)
    }

    /// Moves an order from the state that was read; the caller holds its lock.
    package func move(
        _ id: ID<Order>, from old: Order.State, to new: Order.State, paidBy payment: ID<Payment>?, at now: Timestamp
    ) throws(StoreError) {
        let touched = try tx.execute(
            """
            UPDATE orders SET state = ?, paid_by = ?, paid_at = ?, closed_at = ? WHERE id = ? AND state = ?
            """,
            new.rawValue, payment, new == .paid ? now : nil, new == .closed ? now : nil, id, old.rawValue)
        guard touched == 1 else { throw .corrupt("an order moved under its lock") }
        // No further payment is opened, and payments in flight are checked once more.
        if old == .open {
            try tx.enqueue(
                """
                UPDATE payments SET payer_address = NULL, wechat_openid = NULL, look_at = created_at + ?
                WHERE order_id = ? AND \(InFlight.isTrue(of: "state"))
                """, DueWork.settlingSeconds, id)
        }
    }

    /// Sets the time that a paid order of a subscription gives; the caller holds its lock.
    package func setPeriod(from start: Timestamp, to end: Timestamp, of order: ID<Order>) throws(StoreError) {
        try tx.enqueue("UPDATE orders SET period_start = ?, period_end = ? WHERE id = ?", start, end, order)
    }

    /// Sets the rate of tax of an external purchase; the caller holds the order's lock.
    package func setTaxRate(_ rate: Int64, of order: ID<Order>) throws(StoreError) {
        try tx.enqueue("UPDATE orders SET tax_rate = ? WHERE id = ?", rate, order)
    }

    /// Sets an order's environment to that of the account that it is to be paid through, or was; the caller holds its lock.
    package func setEnvironment(_ environment: Environment, of order: ID<Order>) throws(StoreError) {
        try tx.enqueue("UPDATE orders SET environment = ? WHERE id = ?", environment.rawValue, order)
    }

    /// - Returns: false when the order has this anomaly already.
    package func insertAnomaly(
        _ anomaly: Anomaly, _ order: ID<Order>, detail: String, at now: Timestamp
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            INSERT INTO order_anomalies (order_id, anomaly, detail, at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, order, anomaly.rawValue, detail, now) == 1
    }

    /// Appends to the order's timeline, unless it has `limit` entries; the caller holds the order's lock.
    package func insertTimeline(
        _ order: ID<Order>, _ entry: TimelineEntry, limit: Int64
    ) throws(StoreError) {
        try tx.enqueue(
            """
            INSERT INTO order_timeline (order_id, position, at, type, detail)
            SELECT ?, n + 1, ?, ?, ? FROM (SELECT COUNT(*) AS n FROM order_timeline WHERE order_id = ?) AS kept
            WHERE n < ?
            """, order, entry.at, entry.type, entry.detail, order, limit)
    }

    /// Claims the right to query the provider about an order now.
    ///
    /// - Parameter now: the real time, because this is a limit of a rate.
    /// - Returns: false within `interval` seconds of the last claim.
    package func claimRefresh(_ order: ID<Order>, at now: Timestamp, interval: Int64) throws(StoreError) -> Bool {
        try tx.execute(
            """
            UPDATE orders SET refreshed_at = \(tx.dialect.realClock)
            WHERE id = ? AND (refreshed_at IS NULL OR refreshed_at <= \(tx.dialect.realClock) - ?)
            """, now, order, now, interval) == 1
    }
}

extension TimelineEntry {
    init(row: Row) throws(StoreError) {
        self.init(at: try row.time("at"), type: try row.text("type"), detail: try row.text("detail"))
    }
}

extension Order {
    init(row: Row, anomalies: [Anomaly]) throws(StoreError) {
        let state: Order.State = try row.choice("state")
        let amount = try row.optionalMoney("amount", "currency")
        let free = state == .paid && amount?.isZero == true ? amount : nil
        let origin: Order.Origin = try row.choice("origin")
        // Amounts that a store charged and returned are columns of the order itself.
        let isStores =
            row["offers"] != .null || origin == .purchase || (origin == .renewal && row["subscription_id"] == .null)
        let charged =
            isStores
            ? try row.optionalMoney("charged", "charged_currency")
            : try row.optionalMoney("paid_value", "paid_currency") ?? free
        let refunded = isStores ? try row.int("returned") : try row.optionalInt("refunded") ?? 0
        var order = Order(
            id: try row.id("id"), user: try row.id("user_id"), origin: origin, sku: try row.code("sku"),
            quantity: try row.int("quantity"), terms: try decodedTerms.value("terms", of: row),
            days: try row.optionalInt("days"),
            amount: amount, state: state,
            paidBy: try row.optionalID("paid_by"), platform: try row.choice("platform"),
            environment: try row.choice("environment"),
            partner: try row.optionalText("partner"), returnURL: try row.optionalText("return_url"),
            metadata: try row.json("metadata"), charged: charged,
            refunding: try row.optionalInt("refunding") ?? 0, refunded: refunded,
            lost: try row.optionalInt("lost") ?? 0,
            revokedShare: try row.optionalInt("revoked_share"), anomalies: anomalies,
            createdAt: try row.time("created_at"),
            expiresAt: try row.time("expires_at"), paidAt: try row.optionalTime("paid_at"),
            closedAt: try row.optionalTime("closed_at"))
        if let subscription = try row.optionalID("subscription_id", Subscription.self) {
            order.period = Order.SubscriptionPeriod(
                subscription: subscription, index: try row.int("period_index"))
        }
        if let token = try row.optionalID("external_token_id", ExternalToken.self) {
            order.external = ExternalSale(
                token: token, storefront: try row.text("storefront"), taxRate: try row.int("tax_rate"))
        }
        order.refundedShare = try row.optionalInt("returned_at").flatMap { _ in order.revokedShare }
        self = order
    }
}

private let decodedTerms = DecodeCache<String, OrderTerms>()

let encodedTerms = DecodeCache<OrderTerms, String>()
