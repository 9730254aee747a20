package import Domain

/// The filter of a list of orders; nil means all.
package struct OrderFilter: Sendable {
    package var user: ID<User>?
    /// A partner, who sees users' orders and its own, but no other partner's.
    package var visibleTo: String?
    /// Counts only together with a user.
    package var sku: SKUCode?
    package var status: Order.Status?
    package var provider: String?
    /// The provider's own id of a payment; for a store purchase, the id of its transaction or original transaction.
    package var reference: String?
    package var from: Timestamp?
    package var to: Timestamp?

    package init(
        user: ID<User>? = nil, visibleTo: String? = nil, sku: SKUCode? = nil, status: Order.Status? = nil,
        provider: String? = nil, reference: String? = nil, from: Timestamp? = nil, to: Timestamp? = nil
    ) {
        self.user = user
        self.visibleTo = visibleTo
        self.sku = sku
        self.status = status
        self.provider = provider
        self.reference = reference
        self.from = from
        self.to = to
    }
}

extension OrderQueries {
    /// Lists orders, newest first.
    package func list(_ filter: OrderFilter, before cursor: String?, limit: Int64) throws(StoreError) -> [Order] {
        let found =
            filter.user == nil && filter.reference == nil
            ? try indexedOrders(filter, before: cursor, limit: limit)
            : try examinedOrders(filter, before: cursor, limit: limit)
        return try withAnomalies(try db.rows(found.sql, found.arguments))
    }

    /// A query with its arguments.
    private typealias Query = (sql: String, arguments: [any SQLBindable])

    /// The query for orders of one user or one id at a provider: they are few, so each is examined.
    private func examinedOrders(
        _ filter: OrderFilter, before cursor: String?, limit: Int64
    ) throws(StoreError) -> Query {
        // With a reference, an expression that no index serves, so that the orders of the reference are found first.
        let id = filter.reference == nil ? "o.id" : "o.id || ''"
        var (conditions, arguments) = try range(filter, id, "o.created_at", before: cursor)
        func restrict<Argument: SQLBindable>(_ condition: String, _ argument: Argument?) {
            guard let argument else { return }
            conditions.append(condition)
            arguments.append(argument)
        }
        restrict("o.user_id = ?", filter.user)
        if let reference = filter.reference {
            let stores = [Environment.production, .sandbox].flatMap {
                [$0.rawValue, reference, $0.rawValue, reference] as [any SQLBindable]
            }
            conditions.append("o.id IN (\(Self.ordersByReference))")
            arguments += [reference] + stores + [Environment.xcode.rawValue, reference, reference] as [any SQLBindable]
        }
        restrict("(o.partner IS NULL OR o.partner = ?)", filter.visibleTo)
        restrict("o.sku = ?", filter.sku)
        restrict("\(Migrations.orderStatus) = ?", filter.status?.rawValue)
        if let provider = filter.provider {
            // An order that a store purchase made has no payment.
            conditions.append(
                """
                (EXISTS (SELECT 1 FROM payments x WHERE x.order_id = o.id AND x.account = ?)
                    OR EXISTS (SELECT 1 FROM purchases x WHERE x.order_id = o.id AND x.account = ?))
                """)
            arguments += [provider, provider] as [any SQLBindable]
        }
        let restriction = conditions.joined(separator: " AND ")
        return (Self.orderColumns + " WHERE \(restriction) ORDER BY o.id DESC LIMIT ?", arguments + [limit])
    }

    /// The orders that have a provider's own id; of a store purchase, the id of its transaction or original
    /// transaction.
    private static var ordersByReference: String {
        let ofStore = """
            SELECT order_id FROM purchases WHERE environment = ? AND key = ?
            UNION SELECT order_id FROM purchases WHERE environment = ? AND original_transaction_id = ?
            """
        return """
            SELECT order_id FROM payments WHERE reference = ?
            UNION \(ofStore) UNION \(ofStore)
            UNION SELECT order_id FROM purchases WHERE environment = ? AND original_transaction_id = ?
            UNION SELECT order_id FROM purchases WHERE environment = 'Xcode' AND transaction_id = ?
            """
    }

    /// The query for orders by account, status and audience: takes the newest of each matching part of `order_places`,
    /// and of these the newest.
    private func indexedOrders(
        _ filter: OrderFilter, before cursor: String?, limit: Int64
    ) throws(StoreError) -> Query {
        let audiences = ["", filter.visibleTo.map { "p:" + $0 } ?? "*"]
        let statuses = filter.status.map { [$0] } ?? Order.Status.allCases
        let (conditions, bounds) = try range(filter, "x.order_id", "o.created_at", before: cursor)
        // Orders are joined only where the filter has a time.
        let times = filter.from == nil && filter.to == nil ? "" : " JOIN orders o ON o.id = x.order_id"
        let part = """
            SELECT order_id FROM (
                SELECT x.order_id FROM order_places x\(times)
                WHERE x.audience = ? AND x.account = ? AND x.status = ? AND \(conditions.joined(separator: " AND "))
                ORDER BY x.order_id DESC LIMIT ?) AS part
            """
        var parts: [String] = []
        var arguments: [any SQLBindable] = []
        for audience in audiences {
            for status in statuses {
                parts.append(part)
                arguments += [audience, filter.provider ?? "", status.rawValue] as [any SQLBindable] + bounds + [limit]
            }
        }
        return (
            Self.orderColumns + """
                 WHERE o.id IN (SELECT order_id FROM (\(parts.joined(separator: " UNION ALL "))) AS parts
                    ORDER BY order_id DESC LIMIT ?)
                ORDER BY o.id DESC
                """, arguments + [limit]
        )
    }

    /// The conditions of a filter's period: on the time, and as bounds of the index on ids, which sort by the real time of
    /// their making.
    ///
    /// An id is made during the request that sets the row's time, so an hour on either side is enough; business time was
    /// never further ahead of it than it is now.
    private func range(
        _ filter: OrderFilter, _ id: String, _ time: String, before cursor: String?
    ) throws(StoreError) -> (conditions: [String], arguments: [any SQLBindable]) {
        var conditions = ["\(id) < ?"]
        let end = filter.to.map { ID<Order>.least(at: $0.adding(seconds: 3_600)).rawValue }
        var arguments: [any SQLBindable] = [[cursor, end].compactMap { $0 }.min() ?? "~"]
        if let from = filter.from {
            let ahead = try db.clock.find().offsetSeconds
            conditions += ["\(id) >= ?", "\(time) >= ?"]
            arguments += [ID<Order>.least(at: from.adding(seconds: -3_600 - ahead)), from] as [any SQLBindable]
        }
        if let to = filter.to {
            conditions.append("\(time) < ?")
            arguments.append(to)
        }
        return (conditions, arguments)
    }
}
