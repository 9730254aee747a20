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

/// The direction of a list of orders, by their ids.
enum OrderDirection {
    case newestFirst
    case oldestFirst
}

/// The part of a list of orders that a page shows.
struct OrderWindow {
    let direction: OrderDirection
    /// The id after which it begins, in its direction.
    let cursor: String?
    let limit: Int64

    init(_ direction: OrderDirection, after cursor: String?, limit: Int64) {
        self.direction = direction
        self.cursor = cursor
        self.limit = limit
    }

    fileprivate var order: String { direction == .newestFirst ? "DESC" : "ASC" }
}

extension OrderFilter {
    /// The way in which the orders of a filter are found.
    fileprivate enum Search {
        /// By their ids alone.
        case id
        /// By an id, an anomaly or a dispute, which few orders have.
        case few
        /// By an index on columns of the order.
        case column
        /// By `order_places`.
        case place
    }

    fileprivate var search: Search {
        if user != nil || reference != nil || anomaly != nil || dispute != nil { return .few }
        if sku != nil || environment != nil || platform != nil { return .column }
        return status == nil && provider == nil && visibleTo == nil ? .id : .place
    }

    /// The largest number of orders that a list examines, rather than pass over those of an index that do not match.
    fileprivate static let few: Int64 = 10_000
    /// The audiences of `order_places` whose orders the filter shows.
    fileprivate var audiences: [String] { ["", visibleTo.map { "p:" + $0 } ?? "*"] }
    fileprivate var statuses: [Order.Status] { status.map { [$0] } ?? Order.Status.allCases }
}

extension OrderQueries {
    /// Lists orders, newest first.
    package func list(_ filter: OrderFilter, before cursor: String?, limit: Int64) throws(StoreError) -> [Order] {
        let found = try restriction(filter, OrderWindow(.newestFirst, after: cursor, limit: limit))
        return try withAnomalies(try db.rows(Self.orderColumns + found.sql, found.arguments))
    }

    /// The end of a statement, with its arguments, that finds a page of the orders of a filter.
    ///
    /// The statement begins with a selection from `orders o LEFT JOIN payments p ON p.id = o.paid_by`.
    func restriction(
        _ filter: OrderFilter, _ window: OrderWindow
    ) throws(StoreError) -> (sql: String, arguments: [any SQLBindable]) {
        switch filter.search {
        case .id: try orders(byIDsOf: filter, window)
        case .few: try examinedOrders(filter, window)
        case .column:
            if try isInFewPlaces(filter) {
                try examinedOrders(filter, window, inPlaces: true)
            } else {
                try orders(byColumnsOf: filter, window)
            }
        case .place: try indexedOrders(filter, window)
        }
    }

    /// The end of a statement with its arguments.
    private typealias Query = (sql: String, arguments: [any SQLBindable])

    /// The query for all orders, or those of a period.
    private func orders(byIDsOf filter: OrderFilter, _ window: OrderWindow) throws(StoreError) -> Query {
        let (conditions, bounds) = try range(filter, "o.id", "o.created_at", window)
        return (
            " WHERE \(conditions.joined(separator: " AND ")) ORDER BY o.id \(window.order) LIMIT ?",
            bounds + [window.limit]
        )
    }

    /// Returns whether few orders have the filter's account and status, however many have its SKU and place.
    private func isInFewPlaces(_ filter: OrderFilter) throws(StoreError) -> Bool {
        guard let places = Self.places(filter) else { return false }
        let count = try db.rows(
            "SELECT count(*) AS count FROM (SELECT 1 FROM order_places x WHERE \(places.condition) LIMIT ?) AS first",
            places.arguments + [OrderFilter.few + 1]
        ).first?.int("count")
        return (count ?? 0) <= OrderFilter.few
    }

    /// The condition on `order_places x` that it shows a filter's account, status and audience; nil where the filter has
    /// neither account nor status.
    private static func places(_ filter: OrderFilter) -> (condition: String, arguments: [any SQLBindable])? {
        guard filter.status != nil || filter.provider != nil else { return nil }
        let statuses = filter.statuses
        let marks = Array(repeating: "?", count: statuses.count).joined(separator: ", ")
        return (
            "x.audience IN (?, ?) AND x.account = ? AND x.status IN (\(marks))",
            filter.audiences + [filter.provider ?? ""] + statuses.map(\.rawValue)
        )
    }

    /// The query for orders of one user, one id at a provider, one anomaly or one dispute's state: they are few, so each
    /// is examined.
    ///
    /// - Parameter inPlaces: true where few orders have the filter's account and status.
    private func examinedOrders(
        _ filter: OrderFilter, _ window: OrderWindow, inPlaces: Bool = false
    ) throws(StoreError) -> Query {
        // Without a user, an expression that no index serves, so that the few orders are found first.
        let id = filter.reference == nil && filter.user != nil ? "o.id" : "o.id || ''"
        var (conditions, arguments) = try range(filter, id, "o.created_at", window)
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
        let (further, bounds) = Self.further(filter, inPlaces: inPlaces)
        let restriction = (conditions + further).joined(separator: " AND ")
        // By an expression, because PostgreSQL would read the orders in the order of their index until enough match.
        let key = inPlaces ? "o.id || ''" : "o.id"
        return (
            " WHERE \(restriction) ORDER BY \(key) \(window.order) LIMIT ?", arguments + bounds + [window.limit]
        )
    }

    /// The conditions on the account, the status and the audience.
    ///
    /// Unless the orders are found by them, they are examined order by order: by a count in place of EXISTS, which
    /// PostgreSQL turns into a join of both tables, read whole.
    private static func further(
        _ filter: OrderFilter, inPlaces: Bool = false
    ) -> (conditions: [String], arguments: [any SQLBindable]) {
        guard let (condition, arguments) = places(filter) else {
            return filter.visibleTo.map { (["(o.partner IS NULL OR o.partner = ?)"], [$0]) } ?? ([], [])
        }
        let sql =
            inPlaces
            ? "o.id IN (SELECT x.order_id FROM order_places x WHERE \(condition))"
            : "(SELECT count(*) FROM order_places x WHERE \(condition) AND x.order_id = o.id) > 0"
        return ([sql], arguments)
    }

    /// The query for orders of one SKU, or of some environments and platforms, by an index that begins with these: the
    /// first of each environment and platform, and of these the first.
    ///
    /// A status or an account that many orders have passes over those that do not meet it.
    private func orders(byColumnsOf filter: OrderFilter, _ window: OrderWindow) throws(StoreError) -> Query {
        let (range, bounds) = try range(filter, "o.id", "o.created_at", window)
        let (further, more) = Self.further(filter)
        let sku: [any SQLBindable] = filter.sku.map { [$0] } ?? []
        var heads: [[any SQLBindable]] = []
        for environment in filter.environment.map({ [$0] }) ?? Environment.allCases {
            for platform in filter.platform.map({ [$0] }) ?? Platform.allCases {
                heads.append(sku + [environment.rawValue, platform.rawValue])
            }
        }
        let index = db.dialect.indexed(by: sku.isEmpty ? "orders_by_place" : "orders_by_sku")
        let columns = (sku.isEmpty ? [] : ["o.sku = ?"]) + ["o.environment = ?", "o.platform = ?"]
        let part = """
            SELECT id FROM (SELECT o.id FROM orders o\(index)
                WHERE \((columns + range + further).joined(separator: " AND "))
                ORDER BY o.id \(window.order) LIMIT ?) AS part
            """
        let parts = Array(repeating: part, count: heads.count)
        let arguments = heads.flatMap { $0 + bounds + more + [window.limit] }
        return (
            """
             WHERE o.id IN (SELECT id FROM (\(parts.joined(separator: " UNION ALL "))) AS parts
                ORDER BY id \(window.order) LIMIT ?)
            ORDER BY o.id \(window.order)
            """, arguments + [window.limit]
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

    /// The query for orders by account, status and audience: takes the first of each matching part of `order_places`,
    /// and of these the first.
    private func indexedOrders(_ filter: OrderFilter, _ window: OrderWindow) throws(StoreError) -> Query {
        let (conditions, bounds) = try range(filter, "x.order_id", "o.created_at", window)
        // Orders are joined only where the filter has a time.
        let times = filter.from == nil && filter.to == nil ? "" : " JOIN orders o ON o.id = x.order_id"
        let part = """
            SELECT order_id FROM (
                SELECT x.order_id FROM order_places x\(times)
                WHERE x.audience = ? AND x.account = ? AND x.status = ? AND \(conditions.joined(separator: " AND "))
                ORDER BY x.order_id \(window.order) LIMIT ?) AS part
            """
        var parts: [String] = []
        var arguments: [any SQLBindable] = []
        for audience in filter.audiences {
            for status in filter.statuses {
                parts.append(part)
                arguments += [audience, filter.provider ?? "", status.rawValue] as [any SQLBindable] + bounds
                arguments.append(window.limit)
            }
        }
        return (
            """
             WHERE o.id IN (SELECT order_id FROM (\(parts.joined(separator: " UNION ALL "))) AS parts
                ORDER BY order_id \(window.order) LIMIT ?)
            ORDER BY o.id \(window.order)
            """, arguments + [window.limit]
        )
    }

    /// The conditions of a filter's period: on the time, and as bounds of the index on ids, which sort by the real time of
    /// their making.
    ///
    /// An id is made during the request that sets the row's time, so an hour on either side is enough; business time was
    /// never further ahead of it than it is now.
    private func range(
        _ filter: OrderFilter, _ id: String, _ time: String, _ window: OrderWindow
    ) throws(StoreError) -> (conditions: [String], arguments: [any SQLBindable]) {
        let end = filter.to.map { ID<Order>.least(at: $0.adding(seconds: 3_600)).rawValue }
        let isDescending = window.direction == .newestFirst
        var conditions = ["\(id) < ?"]
        var arguments: [any SQLBindable] = [[isDescending ? window.cursor : nil, end].compactMap { $0 }.min() ?? "~"]
        var first: String?
        if let from = filter.from {
            let ahead = try db.clock.find().offsetSeconds
            first = ID<Order>.least(at: from.adding(seconds: -3_600 - ahead)).rawValue
            conditions.append("\(time) >= ?")
            arguments.append(from)
        }
        // Only the higher of the two lower bounds is given: an index search begins at one bound.
        if !isDescending, let cursor = window.cursor, cursor >= first ?? "" {
            conditions.append("\(id) > ?")
            arguments.append(cursor)
        } else if let first {
            conditions.append("\(id) >= ?")
            arguments.append(first)
        }
        if let to = filter.to {
            conditions.append("\(time) < ?")
            arguments.append(to)
        }
        return (conditions, arguments)
    }
}
