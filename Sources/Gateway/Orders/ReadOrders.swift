package import Domain
import Store

/// A page of a list, newest first.
package struct Page<Item: Sendable>: Sendable {
    package let items: [Item]
    /// Where the next page begins; nil at the end.
    package let nextCursor: String?
    /// Of each item, where a page begins that follows it.
    package let cursors: [String]

    /// Cuts one item more than the page holds into the page and its cursor.
    init(_ items: [Item], limit: Int64, cursor: (Item) -> String) {
        let shown = items.prefix(Int(limit))
        let cursors = shown.map(cursor)
        self.init(
            items: Array(shown), cursors: cursors, nextCursor: items.count > Int(limit) ? cursors.last : nil)
    }

    /// - Parameter cursors: one for each item.
    init(items: [Item], cursors: [String], nextCursor: String?) {
        self.items = items
        self.cursors = cursors
        self.nextCursor = nextCursor
    }
}

/// How many bytes of items a page has at most, whatever was asked for: its answer stays within 1 MiB.
package enum PageSize {
    package static let bytes = (1 << 20) - (8 << 10)
}

/// What a list of orders asks for.
package struct OrderQuery: Sendable {
    package var user: ExternalUserID?
    package var status: Order.Status?
    package var provider: String?
    package var reference: String?
    package var from: Timestamp?
    package var to: Timestamp?

    package init(
        user: ExternalUserID? = nil, status: Order.Status? = nil, provider: String? = nil, reference: String? = nil,
        from: Timestamp? = nil, to: Timestamp? = nil
    ) {
        self.user = user
        self.status = status
        self.provider = provider
        self.reference = reference
        self.from = from
        self.to = to
    }
}

extension Gateway {
    /// A user's own orders.
    package func listOrders(
        user: ExternalUserID, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<OrderSnapshot> {
        let cursor = try Cursor(cursor, of: Order.self)
        let snapshots = try await report { db -> [OrderSnapshot] in
            guard let id = try db.users.findID(user) else { return [] }
            let orders = try db.orders.list(OrderFilter(user: id), before: cursor.position, limit: limit + 1)
            return try OrderSnapshot.load(orders, from: db, audience: .user)
        }
        return Page(snapshots, limit: limit) { $0.order.id.rawValue }
    }

    /// A user's own order.
    ///
    /// - Throws: `orderNotFound`, also for somebody else's.
    package func readOrder(_ order: String, user: ExternalUserID) async throws(GatewayError) -> OrderSnapshot {
        let id = try await ownOrder(order, user: user).id
        return try await snapshot(id, audience: .user)
    }

    /// Orders for an admin, or those that a partner may see.
    package func listOrders(
        _ query: OrderQuery, visibleTo partner: String? = nil, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<OrderSnapshot> {
        let cursor = try Cursor(cursor, of: Order.self)
        let snapshots = try await report { db -> [OrderSnapshot] in
            var filter = OrderFilter(
                visibleTo: partner, status: query.status, provider: query.provider, reference: query.reference,
                from: query.from, to: query.to)
            if let user = query.user {
                guard let id = try db.users.findID(user) else { return [] }
                filter.user = id
            }
            let orders = try db.orders.list(filter, before: cursor.position, limit: limit + 1)
            return try OrderSnapshot.load(orders, from: db, audience: partner == nil ? .admin : .partner)
        }
        return Page(snapshots, limit: limit) { $0.order.id.rawValue }
    }

    /// Any order, for an admin.
    package func readOrder(_ order: String) async throws(GatewayError) -> OrderSnapshot {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        return try await snapshot(id, audience: .admin)
    }

    /// A user's order or the partner's own.
    ///
    /// - Throws: `orderNotFound`, also for another partner's.
    package func readOrder(_ order: String, visibleTo partner: String) async throws(GatewayError) -> OrderSnapshot {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        let found = try await snapshot(id, audience: .partner)
        guard found.partner == nil || found.partner == partner else { throw .orderNotFound(order) }
        return found
    }

    func snapshot(_ id: ID<Order>, audience: OrderSnapshot.Audience) async throws(GatewayError) -> OrderSnapshot {
        guard let snapshot = try await read({ db in try OrderSnapshot.load(id, from: db, audience: audience) }) else {
            throw .orderNotFound(id.rawValue)
        }
        return snapshot
    }

    /// The order of that id, if it is this user's.
    func ownOrder(_ order: String, user: ExternalUserID) async throws(GatewayError) -> Order {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        let found = try await read { db -> Order? in
            guard let owner = try db.users.findID(user), let found = try db.orders.find(id), found.user == owner else {
                return nil
            }
            return found
        }
        guard let found else { throw .orderNotFound(order) }
        return found
    }
}
