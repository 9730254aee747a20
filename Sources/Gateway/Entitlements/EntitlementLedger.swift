import Domain
import ProviderKit
import Store

/// The grants and units of one transaction, and the events that announce the entitlements after it.
struct EntitlementLedger {
    /// The most boundaries of a user that one transaction announces.
    private static let announcements = 100

    let log: ChangeLog
    let registry: ProviderRegistry
    let billing: Billing
    let followUps: FollowUps

    /// The managed subscriptions, whose periods orders pay.
    var managed: ManagedSubscriptionLedger {
        ManagedSubscriptionLedger(log: log, billing: billing, entitlements: self, followUps: followUps)
    }

    private var tx: any Transaction { log.tx }

    /// Grants what a paid order sells, once for each order; its units are booked by ``recompute(_:)``.
    func grant(_ order: Order) throws {
        guard let term = order.terms.term else { return }
        try tx.grants.insert(
            Grant(
                id: log.ids.make(), user: order.user, sku: order.sku, kind: order.terms.kind, tier: order.terms.tier,
                rank: order.terms.rank, source: Grant.Source(kind: .order, id: order.id.rawValue), order: order.id,
                environment: order.environment, purchasedAt: log.now, term: term, stackGroup: order.terms.stackGroup,
                attributes: order.terms.attributes))
        try publish(order.user)
    }

    /// Revokes, suspends or reinstates an order's grant and units by its refunds and disputes.
    ///
    /// An order of a store purchase is left as it is: the purchase alone determines its grants, also where a provider
    /// was paid for the order as well.
    func recompute(_ id: ID<Order>) throws {
        let (isStores, disputes, grants) = (
            try tx.purchases.exists(for: id), try tx.disputes.list(of: id), try tx.grants.list(of: id)
        )
        guard let order = try tx.orders.find(id), try !isStores.value() else { return }
        let standing = order.standing(try disputes.value())
        var changed = false
        for grant in try grants.value() where grant.source.kind == .order && grant.revocation?.reason != .admin {
            let revocation = standing.revocation.map { grant.revocation ?? Grant.Revocation(at: log.now, reason: $0) }
            guard revocation != grant.revocation || standing.isSuspended != grant.suspended else { continue }
            try tx.grants.update(grant.id, revocation: revocation, suspended: standing.isSuspended)
            changed = true
        }
        if changed && order.terms.kind == .nonConsumable {
            _ = try grantDuplicate(of: order.sku, in: order.environment, to: order.user)
        }
        if let period = order.period { try managed.follow(order, period, standing) }
        let credited = try credit(order.gives(standing) ? order.terms.units : [:], order)
        if changed || credited { try publish(order.user) }
    }

    /// Books the difference between the units that an order gives now and those that are booked for it.
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
                at: log.now)
            if balance < 0 && delta < 0 { try emitOverdrawn(unit, balance, order.user) }
            changed = true
        }
        return changed
    }

    /// Increments the version of the user's entitlements and writes the event with all of them.
    ///
    /// - Parameter boundary: the time at which time alone changed the answer; nil for a change of facts.
    /// - Returns: the entitlements that the event tells.
    @discardableResult
    func publish(_ user: ID<User>, asOf boundary: Timestamp? = nil) throws -> EntitlementFold {
        // The announcement of a boundary changes neither of them.
        let (grants, balances) = (try tx.grants.list(of: user), try tx.wallets.balances(of: user))
        let known = try boundary == nil ? publishDueChanges(of: user) : tx.users.version(of: user).version
        let fold = EntitlementRules.fold(try grants.value(), now: boundary ?? log.now)
        let version = try tx.users.incrementVersion(of: user, from: known, nextChangeAt: fold.nextAnnouncementAt)
        let snapshot = EntitlementSnapshot(
            name: user.rawValue, version: version, fold: fold, balances: try balances.value())
        if let boundary, fold.entitlements.contains(where: { $0.grant.source.kind == .appleSubscription }) {
            try SubscriptionEvents(log: log).publishAll(of: user, asOf: boundary)
        }
        try log.emit(.entitlementsChanged, subject: user.rawValue, user: user, data: try snapshot.storedJSON())
        return fold
    }

    /// Announces the boundaries that have passed since the last announcement, one by one; the caller has locked the
    /// user.
    ///
    /// - Returns: the version of the user's entitlements after them.
    @discardableResult
    func publishDueChanges(of user: ID<User>) throws -> Int64 {
        for _ in 0..<Self.announcements {
            let standing = try tx.users.version(of: user)
            guard let next = standing.nextChangeAt, next <= log.now else { return standing.version }
            try publish(user, asOf: next)
        }
        return try tx.users.version(of: user).version
    }

    /// Takes back the units that a grant without an order has credited, once, below zero too.
    func takeBackUnits(of grant: Grant) throws {
        let source = LedgerSource(kind: grant.source.kind.rawValue, id: grant.source.id)
        guard grant.kind == .consumable, grant.order == nil else { return }
        let booked = try tx.wallets.booked(source, user: grant.user, environment: grant.environment)
        for (unit, book) in booked.sorted(by: { $0.key < $1.key }) where book.sum > 0 {
            let balance = try tx.wallets.book(
                -book.sum, unit: unit, user: grant.user, environment: grant.environment, source: source,
                step: book.steps + 1, at: log.now)
            if balance < 0 { try emitOverdrawn(unit, balance, grant.user) }
        }
    }

    func emitOverdrawn(_ unit: String, _ balance: Int64, _ user: ID<User>) throws {
        struct Overdrawn: Encodable {
            let user_id: String
            let unit: String
            let balance: Int64
        }
        let overdrawn = Overdrawn(user_id: user.rawValue, unit: unit, balance: balance)
        try log.emit(.balanceOverdrawn, subject: user.rawValue, user: user, data: try overdrawn.storedJSON())
    }
}

// Non-consumables that are bought while the user owns them: their orders grant nothing while another grant lasts.
extension EntitlementLedger {
    /// Returns true where the user has a perpetual grant of this SKU in the environment, other than of the order.
    func owns(
        _ sku: SKUCode, _ user: ID<User>, in environment: Environment, besides order: ID<Order>?
    ) throws -> Bool {
        let perpetual = try tx.grants.list(of: user).value().filter {
            $0.sku == sku && $0.environment == environment && $0.term == .perpetual && $0.revocation == nil
                && ($0.order == nil || $0.order != order)
        }
        // An order of another user counts where its purchase has moved to this user, but not where it is shared: a
        // share can end.
        return try perpetual.contains { grant in
            guard let order = try grant.order.flatMap({ try tx.orders.find($0) }) else { return true }
            return try order.user == user || tx.purchases.findUser(of: order.id) == user
        }
    }

    /// Grants a duplicate purchase of a SKU once no other grant gives it; a test purchase lasts as long as its own
    /// rules allow.
    ///
    /// The caller has locked the user and publishes the user's entitlements.
    /// - Returns: true where a grant was made.
    func grantDuplicate(of sku: SKUCode, in environment: Environment, to user: ID<User>) throws -> Bool {
        guard try !owns(sku, user, in: environment, besides: nil) else { return false }
        // An admin's revocation covers all purchases of this SKU that the user had made until then.
        let decided = try tx.grants.list(of: user).value().filter {
            $0.sku == sku && $0.environment == environment && $0.term == .perpetual && $0.order != nil
                && $0.revocation?.reason == .admin
        }.compactMap(\.revocation?.at).max()
        for record in try tx.purchases.listDuplicates(of: user, sku, in: environment)
        where decided.map({ $0 < record.purchase.purchased }) ?? true {
            // An earlier release stored some transactions as purchases of their own; they are granted with the purchase
            // that they belong to.
            guard try tx.purchases.listTransactions(of: record).first?.key == record.key else { continue }
            let rules = registry.source(of: record.account).rules
            let entitled = try rules.entitles(tx.users.findExternalID(user) ?? "")
            guard let order = try record.order.flatMap({ try tx.orders.lock($0) }),
                order.terms.remainder(of: order.quantity, after: order.revokedShare).items > 0,
                let grant = record.purchase.grant(
                    log.ids.make(), to: user, key: record.key, order: order, entitled: entitled, rules: rules)
            else { continue }
            try tx.grants.insert(grant)
            try log.appendTimeline(order, "order.granted", record.purchase.transactionID)
            try log.audit(order, "order.granted", before: "held", after: record.purchase.transactionID)
            return true
        }
        return false
    }
}
