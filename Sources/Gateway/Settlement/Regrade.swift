import Domain
import Store

extension Settlement {
    /// Boundaries that passed while nobody looked are announced one by one, so many in one transaction.
    private static let announcements = 100

    /// Gives what a paid order sells: a grant, units, or both.
    ///
    /// One order grants once.
    func grant(_ order: Order) throws {
        guard let term = order.terms.term else { return }
        try tx.grants.insert(
            Grant(
                id: ids.make(), user: order.user, sku: order.sku, kind: order.terms.kind, tier: order.terms.tier,
                rank: order.terms.rank, source: Grant.Source(kind: .order, id: order.id.rawValue), order: order.id,
                environment: order.environment, purchasedAt: now, term: term, stackGroup: order.terms.stackGroup,
                attributes: order.terms.attributes))
        try touch(order.user)
    }

    /// Brings an order's grant and units in line with its refunds and disputes, in either direction.
    ///
    /// What a store's purchase gives stands beside the purchase; money that was paid for its order as well gives nothing.
    func regrade(_ id: ID<Order>) throws {
        let (isStores, disputes, grants) = (
            try tx.purchases.exists(for: id), try tx.disputes.list(of: id), try tx.grants.list(of: id)
        )
        guard let order = try tx.orders.find(id), try !isStores.value() else { return }
        let standing = order.standing(try disputes.value())
        var changed = false
        for grant in try grants.value() where grant.source.kind == .order && grant.revocation?.reason != .admin {
            let revocation = standing.revocation.map { grant.revocation ?? Grant.Revocation(at: now, reason: $0) }
            guard revocation != grant.revocation || standing.isSuspended != grant.suspended else { continue }
            try tx.grants.update(grant.id, revocation: revocation, suspended: standing.isSuspended)
            changed = true
        }
        if changed && order.terms.kind == .nonConsumable {
            _ = try giveHeld(order.sku, in: order.environment, to: order.user)
        }
        let credited = try credit(order.gives(standing) ? order.terms.units : [:], order)
        if changed || credited { try touch(order.user) }
    }

    /// Books the difference between what an order should have credited and what it has.
    private func credit(_ units: [String: Int64], _ order: Order) throws -> Bool {
        let source = LedgerSource(kind: "order", id: order.id.rawValue)
        let booked = try tx.wallets.booked(source, user: order.user, environment: order.environment)
        var changed = false
        for unit in Set(units.keys).union(booked.keys).sorted() {
            let (sum, steps) = booked[unit] ?? (0, 0)
            let delta = (units[unit] ?? 0) - sum
            guard delta != 0 else { continue }
            let balance = try tx.wallets.book(
                delta, unit: unit, user: order.user, environment: order.environment, source: source, step: steps + 1,
                at: now)
            if balance < 0 && delta < 0 { try emitOverdrawn(unit, balance, order.user) }
            changed = true
        }
        return changed
    }

    /// Counts a change of what a user owns and tells the outbox the whole snapshot.
    ///
    /// - Parameter boundary: the moment at which time alone changed it; nil for a change of facts.
    func touch(_ user: ID<User>, asOf boundary: Timestamp? = nil) throws {
        // Announcing what time has changed changes none of these.
        let (grants, balances) = (try tx.grants.list(of: user), try tx.wallets.balances(of: user))
        let known = try boundary == nil ? announcePassed(user) : tx.users.version(of: user).version
        let fold = EntitlementRules.fold(try grants.value(), now: boundary ?? now)
        let version = try tx.users.incrementVersion(of: user, from: known, nextChangeAt: fold.nextChangeAt)
        let snapshot = EntitlementSnapshot(
            name: user.rawValue, version: version, fold: fold, balances: try balances.value())
        if let boundary, fold.entitlements.contains(where: { $0.grant.source.kind == .appleSubscription }) {
            try tellSubscriptions(of: user, asOf: boundary)
        }
        try tx.events.insert(
            EventRecord(
                id: ids.make(), subject: user.rawValue, type: .entitlementsChanged, user: user, partner: nil, at: now,
                data: try snapshot.storedJSON()))
    }

    /// Announces the boundaries that have passed and that nobody announced yet, one by one; the caller holds the user's lock.
    ///
    /// - Returns: the user's version after them.
    @discardableResult
    func announcePassed(_ user: ID<User>) throws -> Int64 {
        for _ in 0..<Self.announcements {
            let standing = try tx.users.version(of: user)
            guard let next = standing.nextChangeAt, next <= now else { return standing.version }
            try touch(user, asOf: next)
        }
        return try tx.users.version(of: user).version
    }

    func emitOverdrawn(_ unit: String, _ balance: Int64, _ user: ID<User>) throws {
        struct Overdrawn: Encodable {
            let user_id: String
            let unit: String
            let balance: Int64
        }
        try tx.events.insert(
            EventRecord(
                id: ids.make(), subject: user.rawValue, type: .balanceOverdrawn, user: user, partner: nil, at: now,
                data: try Overdrawn(user_id: user.rawValue, unit: unit, balance: balance).storedJSON()))
    }
}
