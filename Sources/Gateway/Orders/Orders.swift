package import Domain
import Store

/// The filters of a list of orders; nil filters nothing.
package struct OrderQuery: Sendable {
    package var user: ExternalUserID?
    package var status: Order.Status?
    package var provider: String?
    package var reference: String?
    package var from: Timestamp?
    package var to: Timestamp?
    /// A SKU's id; one that no SKU has restricts to nothing.
    package var sku: String?
    package var anomaly: Anomaly?
    package var dispute: Dispute.State?
    package var environment: Environment?
    package var platform: Platform?

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

extension OrderQuery {
    /// Makes the store's filter; nil where no order can meet it, since its user or SKU does not exist.
    func filter(in db: any Database, visibleTo partner: String? = nil) throws(StoreError) -> OrderFilter? {
        var filter = OrderFilter(
            visibleTo: partner, status: status, provider: provider, reference: reference, from: from, to: to)
        if let user {
            guard let id = try db.users.findID(user) else { return nil }
            filter.user = id
        }
        if let sku {
            guard let code = SKUCode(sku) else { return nil }
            filter.sku = code
        }
        (filter.anomaly, filter.dispute) = (anomaly, dispute)
        (filter.environment, filter.platform) = (environment, platform)
        return filter
    }
}

/// Reads orders for users, partners and admins.
package struct Orders: Sendable {
    let store: StoreAccess
    let time: BusinessTime

    /// A user's own orders, newest first.
    package func list(
        user: ExternalUserID, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<OrderSnapshot> {
        let cursor = try Cursor(cursor, of: Order.self)
        let snapshots = try await store.report { db -> [OrderSnapshot] in
            guard let id = try db.users.findID(user) else { return [] }
            let orders = try db.orders.list(OrderFilter(user: id), before: cursor.position, limit: limit + 1)
            return try OrderSnapshot.load(orders, from: db, audience: .user)
        }
        return Page(snapshots, limit: limit) { $0.order.id.rawValue }
    }

    /// A user's own order.
    ///
    /// - Throws: `orderNotFound`, also for another user's order.
    package func find(_ order: String, user: ExternalUserID) async throws(GatewayError) -> OrderSnapshot {
        let id = try await own(order, user: user).id
        return try await snapshot(id, audience: .user)
    }

    /// Lists orders for an admin, or those that a partner may see, newest first.
    package func list(
        _ query: OrderQuery, visibleTo partner: String? = nil, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<OrderSnapshot> {
        let cursor = try Cursor(cursor, of: Order.self)
        let snapshots = try await store.report { db -> [OrderSnapshot] in
            guard let filter = try query.filter(in: db, visibleTo: partner) else { return [] }
            let orders = try db.orders.list(filter, before: cursor.position, limit: limit + 1)
            return try OrderSnapshot.load(orders, from: db, audience: partner == nil ? .admin : .partner)
        }
        return Page(snapshots, limit: limit) { $0.order.id.rawValue }
    }

    /// Finds any order with the entitlements that it gave, for an admin.
    package func find(_ order: String) async throws(GatewayError) -> OrderSnapshot {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        let now = time.now
        let found = try await store.read { db -> OrderSnapshot? in
            guard var snapshot = try OrderSnapshot.load(id, from: db, audience: .admin) else { return nil }
            snapshot.grants = try Self.grants(of: id, from: db, at: now)
            return snapshot
        }
        guard let found else { throw .orderNotFound(order) }
        return found
    }

    /// The entitlements that an order gave, as they stand now among all of their users.
    private static func grants(
        of order: ID<Order>, from db: any Database, at now: Timestamp
    ) throws -> [EntitlementSnapshot.Item] {
        let given = try db.grants.list(of: order).value()
        return try Set(given.map(\.user)).sorted().flatMap { user in
            EntitlementRules.fold(try db.grants.list(of: user).value(), now: now).entitlements
                .filter { $0.grant.order == order }.map(EntitlementSnapshot.Item.init)
        }
    }

    /// Finds an order that a partner may see: one of its own, or one that no partner made.
    ///
    /// - Throws: `orderNotFound`, also for another partner's.
    package func find(_ order: String, visibleTo partner: String) async throws(GatewayError) -> OrderSnapshot {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        let found = try await snapshot(id, audience: .partner)
        guard found.partner == nil || found.partner == partner else { throw .orderNotFound(order) }
        return found
    }

    /// - Throws: `orderNotFound`.
    func snapshot(_ id: ID<Order>, audience: OrderSnapshot.Audience) async throws(GatewayError) -> OrderSnapshot {
        guard let snapshot = try await store.read({ db in try OrderSnapshot.load(id, from: db, audience: audience) })
        else {
            throw .orderNotFound(id.rawValue)
        }
        return snapshot
    }

    /// A user's own order.
    ///
    /// - Throws: `orderNotFound`, also for another user's order.
    func own(_ order: String, user: ExternalUserID) async throws(GatewayError) -> Order {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        let found = try await store.read { db -> Order? in
            guard let owner = try db.users.findID(user), let found = try db.orders.find(id), found.user == owner else {
                return nil
            }
            return found
        }
        guard let found else { throw .orderNotFound(order) }
        return found
    }
}
