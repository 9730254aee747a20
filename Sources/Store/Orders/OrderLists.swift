package import Domain

/// The filter of a list of orders; nil means all.
package struct OrderFilter: Sendable {
    package var user: ID<User>?
    /// A partner, who sees users' orders and its own, but no other partner's.
    package var visibleTo: String?
    package var sku: SKUCode?
    package var status: Order.Status?
    package var provider: String?
    /// The provider's own id of a payment; for a store purchase, the id of its transaction or original transaction.
    package var reference: String?
    package var from: Timestamp?
    package var to: Timestamp?
    package var anomaly: Anomaly?
    /// The state of one of its disputes.
    package var dispute: Dispute.State?
    package var environment: Environment?
    package var platform: Platform?

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

extension OrderFilter {
    /// The way in which the orders of a filter are found.
    fileprivate enum Search {
        /// By an id, an anomaly or a dispute, which few orders have.
        case few
        /// By an index on columns of the order.
        case column
        /// By `order_places`.
        case place
    }

    fileprivate var search: Search {
        if user != nil || reference != nil || anomaly != nil || dispute != nil { return .few }
        return sku != nil || environment != nil || platform != nil ? .column : .place
    }
}

extension OrderQueries {
    /// Lists orders, newest first.
    package func list(_ filter: OrderFilter, before cursor: String?, limit: Int64) throws(StoreError) -> [Order] {
        let found: Query =
            switch filter.search {
            case .few: try examinedOrders(filter, before: cursor, limit: limit)
            case .column: try orders(byColumnsOf: filter, before: cursor, limit: limit)
            case .place: try indexedOrders(filter, before: cursor, limit: limit)
            }
        return try withAnomalies(try db.rows(found.sql, found.arguments))
    }

    /// A query with its arguments.
    private typealias Query = (sql: String, arguments: [any SQLBindable])

    /// The query for orders of one user, one id at a provider, one anomaly or one dispute's state: they are few, so each
    /// is examined.
    private func examinedOrders(
        _ filter: OrderFilter, before cursor: String?, limit: Int64
    ) throws(StoreError) -> Query {
        // Without a user, an expression that no index serves, so that the few orders are found first.
        let id = filter.reference == nil && filter.user != nil ? "o.id" : "o.id || ''"
        var (conditions, arguments) = try range(filter, id, "o.created_at", before: cursor)
        func restrict<Argument: SQLBindable>(_ condition: String, _ argument: Argument?) {
            guard let argument else { return }
            conditions.append(condition)
            arguments.append(argument)
        }
        restrict("o.user_id = ?", filter.user)
        restrict("o.id IN (SELECT order_id FROM order_anomalies WHERE anomaly = ?)", filter.anomaly?.rawValue)
        restrict("o.id IN (SELECT order_id FROM disputes WHERE state = ?)", filter.dispute?.rawValue)
        if let reference = filter.reference {
            let stores = [Environment.production, .sandbox].flatMap {
                [$0.rawValue, reference, $0.rawValue, reference] as [any SQLBindable]
            }
            conditions.append("o.id IN (\(Self.ordersByReference))")
            arguments += [reference] + stores + [Environment.xcode.rawValue, reference, reference] as [any SQLBindable]
        }
        restrict("o.sku || '' = ?", filter.sku)
        restrict("o.environment || '' = ?", filter.environment?.rawValue)
        restrict("o.platform || '' = ?", filter.platform?.rawValue)
        let (further, bounds) = Self.further(filter)
        let restriction = (conditions + further).joined(separator: " AND ")
        return (
            Self.orderColumns + " WHERE \(restriction) ORDER BY o.id DESC LIMIT ?", arguments + bounds + [limit]
        )
    }

    /// The conditions that every query examines row by row.
    private static func further(_ filter: OrderFilter) -> (conditions: [String], arguments: [any SQLBindable]) {
        var (conditions, arguments): ([String], [any SQLBindable]) = ([], [])
        if let partner = filter.visibleTo {
            conditions.append("(o.partner IS NULL OR o.partner = ?)")
            arguments.append(partner)
        }
        if let status = filter.status {
            conditions.append("\(Migrations.orderStatus) = ?")
            arguments.append(status.rawValue)
        }
        if let provider = filter.provider {
            // An order that a store purchase made has no payment.
            conditions.append(
                """
                (EXISTS (SELECT 1 FROM payments x WHERE x.order_id = o.id AND x.account = ?)
                    OR EXISTS (SELECT 1 FROM purchases x WHERE x.order_id = o.id AND x.account = ?))
                """)
            arguments += [provider, provider] as [any SQLBindable]
        }
        return (conditions, arguments)
    }

    /// The query for orders of one SKU, or of some environments and platforms, by an index that begins with these.
    ///
    /// Further conditions pass over the orders that do not meet them.
    private func orders(
        byColumnsOf filter: OrderFilter, before cursor: String?, limit: Int64
    ) throws(StoreError) -> Query {
        let (range, bounds) = try range(filter, "o.id", "o.created_at", before: cursor)
        let (further, more) = Self.further(filter)
        var heads: [(conditions: [String], arguments: [any SQLBindable])] = []
        if let sku = filter.sku {
            var (conditions, arguments): ([String], [any SQLBindable]) = (["o.sku = ?"], [sku])
            if let environment = filter.environment {
                conditions.append("o.environment || '' = ?")
                arguments.append(environment.rawValue)
            }
            if let platform = filter.platform {
                conditions.append("o.platform || '' = ?")
                arguments.append(platform.rawValue)
            }
            heads.append((conditions, arguments))
        } else {
            for environment in filter.environment.map({ [$0] }) ?? Environment.allCases {
                for platform in filter.platform.map({ [$0] }) ?? Platform.allCases {
                    heads.append(
                        (["o.environment = ?", "o.platform = ?"], [environment.rawValue, platform.rawValue]))
                }
            }
        }
        let index = db.dialect.indexed(by: filter.sku == nil ? "orders_by_place" : "orders_by_sku")
        let parts = heads.map { head in
            """
            SELECT id FROM (SELECT o.id FROM orders o\(index) LEFT JOIN payments p ON p.id = o.paid_by
                WHERE \((head.conditions + range + further).joined(separator: " AND ")) ORDER BY o.id DESC LIMIT ?) AS part
            """
        }
        let arguments = heads.flatMap { $0.arguments + bounds + more + [limit] }
        return (
            Self.orderColumns + """
                 WHERE o.id IN (SELECT id FROM (\(parts.joined(separator: " UNION ALL "))) AS parts
                    ORDER BY id DESC LIMIT ?)
                ORDER BY o.id DESC
                """, arguments + [limit]
        )
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
