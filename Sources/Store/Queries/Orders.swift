package import Domain

// Orders with what is derived from their payments: `charged`, `refunding`, `refunded` and `lost` are those of the payment
// that paid the order.
extension Database {
    static var orderColumns: String {
        """
        SELECT o.*, p.captured AS paid_value, p.currency AS paid_currency, p.offers, p.refunding, p.refunded, p.lost,
            COALESCE((SELECT 1 FROM order_anomalies a WHERE a.order_id = o.id LIMIT 1), 0) AS anomalous
        FROM orders o LEFT JOIN payments p ON p.id = o.paid_by
        """
    }

    package func order(_ id: ID<Order>) throws(StoreError) -> Order? {
        guard let row = try rows(Self.orderColumns + " WHERE o.id = ?", [id]).first else { return nil }
        return try order(row)
    }

    /// Its anomalies are those at the moment when the order is waited for.
    package func askOrder(of payment: ID<Payment>) throws(StoreError) -> Pending<Order?> {
        try ask(Self.orderColumns + " WHERE o.id = (SELECT order_id FROM payments WHERE id = ?)", payment).first(order)
    }

    /// All orders in the order of their ids.
    func orders(after last: String, limit: Int64) throws(StoreError) -> [Order] {
        try orders(of: try rows(Self.orderColumns + " WHERE o.id > ? ORDER BY o.id LIMIT ?", [last, limit]))
    }

    /// Whether an order's time is over, by the clock that leases count by.
    package func hasExpired(_ order: ID<Order>, at now: Timestamp) throws(StoreError) -> Bool {
        try !rows("SELECT id FROM orders WHERE id = ? AND expires_at <= \(dialect.clock)", [order, now]).isEmpty
    }

    /// How many orders of a user wait for their payment, counted up to a limit.
    package func openOrders(of user: ID<User>, at now: Timestamp, upTo limit: Int64) throws(StoreError) -> Int64 {
        try askOpenOrders(of: user, at: now, upTo: limit).value()
    }

    /// ``openOrders(of:at:upTo:)`` together with what is asked for next.
    package func askOpenOrders(
        of user: ID<User>, at now: Timestamp, upTo limit: Int64
    ) throws(StoreError) -> Pending<Int64> {
        try ask(
            """
            SELECT COUNT(*) AS n FROM (
                SELECT id FROM orders WHERE user_id = ? AND state = 'open' AND expires_at > ? LIMIT ?) o
            """, user, now, limit
        ).map { rows throws(StoreError) in try rows.first?.int("n") ?? 0 }
    }

    /// Whether a user has had a SKU for nothing.
    package func hasFreeOrder(of user: ID<User>, sku: SKUCode) throws(StoreError) -> Bool {
        try row(
            "SELECT id FROM orders WHERE user_id = ? AND sku = ? AND amount = 0 AND state = 'paid' LIMIT 1", user, sku)
            != nil
    }

    package func timeline(_ order: ID<Order>) throws(StoreError) -> [TimelineEntry] { try askTimeline(order).value() }

    package func askTimeline(_ order: ID<Order>) throws(StoreError) -> Pending<[TimelineEntry]> {
        try ask("SELECT at, type, detail FROM order_timeline WHERE order_id = ? ORDER BY position", order).each(
            Self.timelineEntry)
    }

    static func timelineEntry(_ row: Row) throws(StoreError) -> TimelineEntry {
        TimelineEntry(at: try row.time("at"), type: try row.text("type"), detail: try row.text("detail"))
    }

    private func order(_ row: Row) throws(StoreError) -> Order {
        guard try row.bool("anomalous") else { return try Self.order(row, []) }
        let id: ID<Order> = try row.id("id")
        let anomalies = try rows("SELECT anomaly FROM order_anomalies WHERE order_id = ? ORDER BY at, anomaly", [id])
            .map { row throws(StoreError) in try row.choice("anomaly", Anomaly.self) }
        return try Self.order(row, anomalies)
    }

    /// Many orders, their anomalies read together.
    func orders(of rows: [Row]) throws(StoreError) -> [Order] {
        let anomalous = try rows.filter { $0["anomalous"] == .integer(1) }
            .map { row throws(StoreError) in try row.id("id", Order.self) }
        let anomalies = try rowsByKey(anomalous, "order_id") {
            "SELECT order_id, anomaly FROM order_anomalies WHERE order_id IN (\($0)) ORDER BY order_id, at, anomaly"
        }
        return try rows.map { row throws(StoreError) in
            let names = try (anomalies[try row.text("id")] ?? []).map { row throws(StoreError) in
                try row.choice("anomaly", Anomaly.self)
            }
            return try Self.order(row, names)
        }
    }

    static func order(_ row: Row, _ anomalies: [Anomaly]) throws(StoreError) -> Order {
        let state: Order.State = try row.choice("state")
        let amount = try row.optionalMoney("amount", "currency")
        let free = state == .paid && amount?.isZero == true ? amount : nil
        let origin: Order.Origin = try row.choice("origin")
        // What a store charged and gave back stands on the order itself.
        let isStores = row["offers"] != .null || origin == .purchase || origin == .renewal
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
        order.refundedShare = try row.optionalInt("returned_at").flatMap { _ in order.revokedShare }
        return order
    }
}

extension Transaction {
    package func insertOrder(_ order: Order) throws(StoreError) {
        try send(
            """
            INSERT INTO orders (id, user_id, origin, sku, quantity, terms, days, amount, currency, state, charged,
                charged_currency, platform, environment, partner, return_url, metadata, created_at, expires_at, paid_at,
                closed_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            order.id, order.user, order.origin.rawValue, order.sku, order.quantity,
            try encodedTerms.text(of: order.terms),
            order.days,
            order.amount?.value, order.amount?.currency.code, order.state.rawValue, order.charged?.value,
            order.charged?.currency.code, order.platform.rawValue,
            order.environment.rawValue, order.partner, order.returnURL, try order.metadata.storedJSON(),
            order.createdAt,
            order.expiresAt, order.paidAt, order.closedAt)
    }

    /// Locks an order until the commit: after its user, before its payments.
    package func lockOrder(_ id: ID<Order>) throws(StoreError) -> Order? {
        try sendLock(of: id)
        return try order(id)
    }

    /// Locks an order with the next statement.
    func sendLock(of order: ID<Order>) throws(StoreError) {
        guard dialect.locksRows else { return }
        try send("SELECT id FROM orders WHERE id = ?" + dialect.forUpdate, order)
    }

    /// Moves an order that stands where it was read; the caller holds its lock.
    package func moveOrder(
        _ id: ID<Order>, from old: Order.State, to new: Order.State, paidBy payment: ID<Payment>?, at now: Timestamp
    ) throws(StoreError) {
        let touched = try run(
            """
            UPDATE orders SET state = ?, paid_by = ?, paid_at = ?, closed_at = ? WHERE id = ? AND state = ?
            """,
            new.rawValue, payment, new == .paid ? now : nil, new == .closed ? now : nil, id, old.rawValue)
        guard touched == 1 else { throw .corrupt("an order moved under its lock") }
        // Nothing more is opened for it, and what hangs about it is looked at once more.
        if old == .open {
            try send(
                """
                UPDATE payments SET payer_address = NULL, look_at = created_at + ?
                WHERE order_id = ? AND state IN ('created', 'pending', 'unknown')
                """, DueWork.settlingSeconds, id)
        }
    }

    /// Puts an order into the environment of the account that it is to be paid through, or was; the caller holds its lock.
    package func setEnvironment(_ environment: Environment, of order: ID<Order>) throws(StoreError) {
        try send("UPDATE orders SET environment = ? WHERE id = ?", environment.rawValue, order)
    }

    /// - Returns: false when the order has this anomaly already.
    package func insertAnomaly(
        _ anomaly: Anomaly, _ order: ID<Order>, detail: String, at now: Timestamp
    ) throws(StoreError) -> Bool {
        try run(
            """
            INSERT INTO order_anomalies (order_id, anomaly, detail, at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, order, anomaly.rawValue, detail, now) == 1
    }

    /// Appends to the order's history, unless it has `limit` entries; the caller holds the order's lock.
    package func appendTimeline(
        _ order: ID<Order>, _ entry: TimelineEntry, limit: Int64
    ) throws(StoreError) {
        try send(
            """
            INSERT INTO order_timeline (order_id, position, at, type, detail)
            SELECT ?, n + 1, ?, ?, ? FROM (SELECT COUNT(*) AS n FROM order_timeline WHERE order_id = ?) AS kept
            WHERE n < ?
            """, order, entry.at, entry.type, entry.detail, order, limit)
    }

    /// Takes the right to ask the provider about an order now.
    ///
    /// - Returns: false within `interval` seconds of the last time.
    package func claimRefresh(_ order: ID<Order>, at now: Timestamp, interval: Int64) throws(StoreError) -> Bool {
        try run(
            """
            UPDATE orders SET refreshed_at = \(dialect.clock)
            WHERE id = ? AND (refreshed_at IS NULL OR refreshed_at <= \(dialect.clock) - ?)
            """, now, order, now, interval) == 1
    }
}

private let decodedTerms = Remembered<String, OrderTerms>()
let encodedTerms = Remembered<OrderTerms, String>()

/// One line of an order's history.
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
