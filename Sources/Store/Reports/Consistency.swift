package import Domain

/// An `entitlements.changed` event of a user.
package struct EntitlementAnnouncement: Sendable {
    package let at: Timestamp
    /// The event's snapshot as JSON text.
    package let data: String
}

/// An order with all its stored parts.
package struct CheckedOrder: Sendable {
    package let order: Order
    package let payments: [PaymentRecord]
    package let refunds: [Refund]
    package let disputes: [Dispute]
    package let timeline: [TimelineEntry]
    /// The grants of the order, by a store purchase as well.
    package let grants: [Grant]
    /// The units that the order itself booked.
    package let booked: [String: Int64]
    /// The units that a store purchase of the order booked.
    package let bookedByPurchase: [String: Int64]
    /// True when a store purchase is recorded for the order.
    package let isPurchase: Bool
}

/// A user who is not erased, with grants, balances and the last events about them.
package struct CheckedUser: Sendable {
    package let id: ID<User>
    package let version: Int64
    /// The next time at which an entitlement begins or ends without a further event.
    package let nextChangeAt: Timestamp?
    package let grants: [Grant]
    package let balances: [Environment: [String: Int64]]
    /// The last two announcements, newest first.
    package let announcements: [EntitlementAnnouncement]
}

/// Queries of `paydesk check`.
///
/// `db.consistency` reads; `tx.consistency` also writes.
package struct ConsistencyQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var consistency: ConsistencyQueries<any Database> { ConsistencyQueries(db: self, tx: self) }
}

extension Transaction {
    package var consistency: ConsistencyQueries<any Transaction> { ConsistencyQueries(db: self, tx: self) }
}

// Reads pages of consecutive ids with a few statements each: a statement for each order would take minutes on a
// database server.
extension ConsistencyQueries {
    /// Lists orders with all their stored parts, in the order of their ids.
    package func listOrders(after last: String, limit: Int64) throws(StoreError) -> [CheckedOrder] {
        let orders = try db.orders.list(after: last, limit: limit)
        guard let end = orders.last else { return [] }
        let page = [last, end.id.rawValue]
        func rowsByOrder(_ table: String, _ order: String) throws(StoreError) -> [String: [Row]] {
            try rowsOfPage(
                "SELECT * FROM \(table) WHERE order_id > ? AND order_id <= ? ORDER BY order_id, \(order)",
                "order_id", page)
        }
        let payments = try rowsByOrder("payments", "attempt")
        let refunds = try rowsByOrder("refunds", "created_at, id")
        let disputes = try rowsByOrder("disputes", "created_at, id")
        let timeline = try rowsByOrder("order_timeline", "position")
        let grants = try rowsByOrder("grants", "id")
        let purchases = try rowsOfPage(
            "SELECT order_id FROM purchases WHERE order_id > ? AND order_id <= ?", "order_id", page)
        let booked = try rowsOfPage(
            """
            SELECT o.id, l.unit, SUM(l.delta) AS sum FROM orders o JOIN ledger l ON l.user_id = o.user_id
              AND l.environment = o.environment AND l.source_kind = 'order' AND l.source_id = o.id
            WHERE o.id > ? AND o.id <= ? GROUP BY o.id, l.unit
            """, "id", page)
        let bookedByPurchase = try rowsOfPage(
            """
            SELECT o.id, l.unit, SUM(l.delta) AS sum FROM orders o JOIN purchases p ON p.order_id = o.id
            JOIN ledger l ON l.user_id = o.user_id AND l.environment = o.environment
              AND l.source_kind = 'apple_transaction' AND l.source_id = p.key
            WHERE o.id > ? AND o.id <= ? GROUP BY o.id, l.unit
            -- Production has taken back all that a box's purchase had credited.
            HAVING MAX(p.box) = 0 OR SUM(l.delta) <> 0
            """, "id", page)
        return try orders.map { order throws(StoreError) in
            let id = order.id.rawValue
            return CheckedOrder(
                order: order, payments: try Self.all(payments[id], PaymentRecord.init(row:)),
                refunds: try Self.all(refunds[id], Refund.init(row:)),
                disputes: try Self.all(disputes[id], Dispute.init(row:)),
                timeline: try Self.all(timeline[id], TimelineEntry.init(row:)),
                grants: try Self.all(grants[id], Grant.init(row:)),
                booked: try Self.sums(booked[id]), bookedByPurchase: try Self.sums(bookedByPurchase[id]),
                isPurchase: purchases[id] != nil)
        }
    }

    /// Lists users who are not erased, in the order of their ids.
    package func listUsers(after last: String, limit: Int64) throws(StoreError) -> [CheckedUser] {
        let users = try db.rows(
            """
            SELECT s.user_id, s.version, s.next_change_at FROM user_states s JOIN users u ON u.id = s.user_id
            WHERE s.user_id > ? ORDER BY s.user_id LIMIT ?
            """, [last, limit])
        guard let end = try users.last?.text("user_id") else { return [] }
        let page = [last, end]
        let grants = try rowsOfPage(
            "SELECT * FROM grants WHERE user_id > ? AND user_id <= ? ORDER BY user_id, id", "user_id", page)
        let balances = try rowsOfPage(
            "SELECT user_id, unit, environment, amount FROM balances WHERE user_id > ? AND user_id <= ?",
            "user_id", page)
        let announcements = try rowsOfPage(
            """
            SELECT subject, at, data FROM (
                SELECT subject, at, data, ROW_NUMBER() OVER (PARTITION BY subject ORDER BY sequence DESC) AS age
                FROM events WHERE subject > ? AND subject <= ? AND type = 'entitlements.changed') told
            WHERE age <= 2 ORDER BY subject, age
            """, "subject", page)
        return try users.map { row throws(StoreError) in
            let id = try row.text("user_id")
            return CheckedUser(
                id: try row.id("user_id"), version: try row.int("version"),
                nextChangeAt: try row.optionalTime("next_change_at"),
                grants: try Self.all(grants[id], Grant.init(row:)),
                balances: try WalletQueries<any Database>.balancesOfRows(balances[id] ?? []),
                announcements: try Self.all(announcements[id]) { row throws(StoreError) in
                    EntitlementAnnouncement(at: try row.time("at"), data: try row.text("data"))
                })
        }
    }

    private static func sums(_ rows: [Row]?) throws(StoreError) -> [String: Int64] {
        var sums: [String: Int64] = [:]
        for row in rows ?? [] { sums[try row.text("unit")] = try row.int("sum") }
        return sums
    }

    private func rowsOfPage(
        _ sql: String, _ key: String, _ page: [String]
    ) throws(StoreError) -> [String: [Row]] {
        var found: [String: [Row]] = [:]
        for row in try db.rows(sql, page) { found[try row.text(key), default: []].append(row) }
        return found
    }

    private static func all<Value>(
        _ rows: [Row]?, _ value: (Row) throws(StoreError) -> Value
    ) throws(StoreError) -> [Value] {
        try (rows ?? []).map { row throws(StoreError) in try value(row) }
    }
}
