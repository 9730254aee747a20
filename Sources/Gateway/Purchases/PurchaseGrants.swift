import Domain
import ProviderKit
import Store

/// The grants and units that purchases give their owners and sharers, and their changes by revocations.
struct PurchaseGrants {
    let log: ChangeLog
    let orders: PurchaseOrders
    let entitlements: EntitlementLedger
    let subscriptions: SubscriptionLedger

    private var tx: any Transaction { log.tx }

    /// Grants the purchase of a new order: a grant that begins at the store's time of purchase, units, or both.
    ///
    /// The grant of a subscription is left to ``SubscriptionLedger``.
    func grant(
        _ purchase: StorePurchase, key: String, terms: OrderTerms, order: Order, sharers: DeferredResult<[ID<User>]>,
        entitled: Bool, rules: TestPurchaseRules
    ) throws {
        let source = LedgerSource(kind: Grant.SourceKind.appleTransaction.rawValue, id: key)
        for (unit, amount) in terms.units.sorted(by: { $0.key < $1.key })
        where (entitled || purchase.isReal) && rules.takes(purchase) {
            _ = try tx.wallets.book(
                amount, unit: unit, user: order.user, environment: purchase.environment, source: source, step: 1,
                at: log.now)
        }
        let grant = purchase.grant(
            log.ids.make(), to: order.user, key: key, order: order, entitled: entitled, rules: rules)
        guard !purchase.isSubscription, let grant else { return }
        if terms.kind == .nonConsumable, !purchase.isTakenBack,
            try entitlements.owns(order.sku, order.user, in: purchase.environment, besides: order.id)
        {
            try log.record(.duplicateOwnership, order, "\(purchase.transactionID) is of something owned already")
        } else {
            try tx.grants.insert(grant)
        }
        for user in try sharers.value() where try share(purchase, order, with: user, rules: rules).value() {
            try entitlements.publish(user)
        }
    }

    /// Grants a new sharer the same as every transaction of the original has granted its owner, without units.
    func shareAll(of purchase: StorePurchase, with user: ID<User>, rules: TestPurchaseRules) throws {
        let records = try tx.purchases.list(purchase.environment, original: purchase.originalTransactionID)
            .transactionsByPurchase
            .joined()
        var isGranted = false
        for record in records {
            guard let id = record.order, let order = try tx.orders.find(id) else { continue }
            if try share(record.purchase, order, with: user, rules: rules).value() { isGranted = true }
        }
        // This also publishes the sharer's entitlements where the subscription's grant is new.
        if let period = records.first(where: { $0.purchase.isSubscription && $0.sku != nil }), let owner = period.user {
            let entitled = try rules.entitles(tx.users.findExternalID(owner) ?? "")
            if try subscriptions.recompute(period.purchase, owner: owner, entitled: entitled, rules: rules) {
                try entitlements.publish(owner)
            }
        }
        if isGranted { try entitlements.publish(user) }
    }

    /// - Returns: false where the purchase gives no grant, or the user has it already.
    private func share(
        _ purchase: StorePurchase, _ order: Order, with user: ID<User>, rules: TestPurchaseRules
    ) throws -> DeferredResult<Bool> {
        let entitled = try rules.entitles(tx.users.findExternalID(user) ?? "")
        guard !purchase.isSubscription,
            var grant = purchase.grant(
                log.ids.make(), to: user, key: purchase.key(claimant: user), order: order, entitled: entitled,
                rules: rules)
        else { return DeferredResult(false) }
        if order.terms.remainder(of: order.quantity, after: purchase.revokedShare).items == 0 {
            grant.revocation = purchase.revokedAt.map { Grant.Revocation(at: $0, reason: .refund) }
        }
        return try tx.grants.insert(grant)
    }

    /// Updates an order, and the grants and units of its purchase, to the newest signed version.
    ///
    /// A store can revoke all or a part of a purchase, revoke more or less of it later, and reinstate all of it.
    /// - Returns: the users whose entitlements changed; the caller publishes them.
    func align(
        _ record: PurchaseRecord, key: String, order id: ID<Order>, rules: TestPurchaseRules
    ) throws -> Set<ID<User>> {
        guard let order = try tx.orders.lock(id) else { return [] }
        let purchase = record.purchase
        let isNews = order.revokedShare != purchase.revokedShare
        if isNews { try orders.setRevocation(purchase, of: order) }
        let left = order.terms.remainder(of: order.quantity, after: purchase.revokedShare)
        var changed = try alignUnits(
            purchase, key: key, order: order, left: rules.takes(purchase) ? left.units : [:])
        for grant in try tx.grants.list(of: id).value() where grant.source.kind == .appleTransaction {
            let aligned = try aligned(grant, with: purchase, key: key, order: order, left: left, rules: rules)
            guard aligned != grant else { continue }
            if aligned.term != grant.term || aligned.stackGroup != grant.stackGroup {
                try tx.grants.updateTerm(aligned)
            }
            if aligned.revocation != grant.revocation {
                try tx.grants.update(grant.id, revocation: aligned.revocation, suspended: grant.suspended)
            }
            changed.insert(grant.user)
        }
        if isNews, left.items == 0, order.terms.kind == .nonConsumable {
            for user in changed.union([order.user]).sorted()
            where try entitlements.grantDuplicate(of: order.sku, in: order.environment, to: user) {
                changed.insert(user)
            }
        }
        if isNews { try orders.emitRevocation(purchase, of: order) }
        return changed
    }

    /// Returns a grant as its purchase now determines it; a grant that an admin revoked stays revoked.
    private func aligned(
        _ grant: Grant, with purchase: StorePurchase, key: String, order: Order, left: OrderTerms.Remainder,
        rules: TestPurchaseRules
    ) throws -> Grant {
        let entitled = try rules.entitles(tx.users.findExternalID(grant.user) ?? "")
        let current = purchase.grant(grant.id, to: grant.user, key: key, order: order, entitled: entitled, rules: rules)
        var aligned = current.map { grant.withTerm(of: $0) } ?? grant
        switch grant.revocation?.reason {
        case .admin, .dispute: break
        case .refund where left.items > 0: aligned.revocation = nil
        case nil where left.items == 0: aligned.revocation = Grant.Revocation(at: log.now, reason: .refund)
        case .refund, nil: break
        }
        return aligned
    }

    /// Books the difference between the remaining units of a purchase and the booked ones; a unit that was never
    /// credited is not taken back.
    ///
    /// Units stay with their first owner, also after the purchase has moved.
    private func alignUnits(
        _ purchase: StorePurchase, key: String, order: Order, left: [String: Int64]
    ) throws -> Set<ID<User>> {
        let source = LedgerSource(kind: Grant.SourceKind.appleTransaction.rawValue, id: key)
        var isChanged = false
        let booked = try tx.wallets.booked(source, user: order.user, environment: purchase.environment)
        for (unit, (sum, steps)) in booked.sorted(by: { $0.key < $1.key }) {
            let delta = (left[unit] ?? 0) - sum
            guard delta != 0 else { continue }
            let balance = try tx.wallets.book(
                delta, unit: unit, user: order.user, environment: purchase.environment, source: source,
                step: steps + 1, at: log.now)
            if balance < 0 && delta < 0 { try entitlements.emitOverdrawn(unit, balance, order.user) }
            isChanged = true
        }
        return isChanged ? [order.user] : []
    }
}

extension Grant {
    /// This grant with the term and the stack group of another.
    fileprivate func withTerm(of other: Grant) -> Grant {
        var grant = Grant(
            id: id, user: user, sku: sku, kind: kind, tier: tier, rank: rank, source: source, order: order,
            environment: environment, purchasedAt: purchasedAt, term: other.term, stackGroup: other.stackGroup,
            attributes: attributes, revocation: revocation, suspended: suspended)
        (grant.renewal, grant.ahead) = (renewal, ahead)
        return grant
    }
}

extension StorePurchase {
    var isReal: Bool { environment == .production }

    /// Builds the grant of this purchase by its order's terms: it has the signed end, and lacks the items that were
    /// revoked of several.
    ///
    /// - Returns: nil where the purchase gives no entitlement, such as a consumable.
    func grant(
        _ id: ID<Grant>, to user: ID<User>, key: String, order: Order, entitled: Bool, rules: TestPurchaseRules
    ) -> Grant? {
        var terms = order.terms
        let left = terms.remainder(of: order.quantity, after: revokedShare)
        // A grant that is revoked as a whole keeps its term, so that it keeps its place among other passes.
        if left.items > 0 { terms.days = left.days }
        let signed = terms.kind == .consumable ? nil : ends.map(Grant.Term.until)
        guard let term = signed ?? terms.term else { return nil }
        let bounded = bounded(term, entitled: entitled, rules: rules)
        return Grant(
            id: id, user: user, sku: order.sku, kind: terms.kind, tier: terms.tier, rank: terms.rank,
            source: Grant.Source(kind: .appleTransaction, id: key), order: order.id, environment: environment,
            purchasedAt: purchased, term: bounded, stackGroup: bounded == term ? terms.stackGroup : nil,
            attributes: terms.attributes)
    }

    /// Cuts the term of a test purchase: to no time for a user who is not entitled or an untaken App Store in a box, else to the hours of the rules.
    func bounded(_ term: Grant.Term, entitled: Bool, rules: TestPurchaseRules) -> Grant.Term {
        guard !isReal else { return term }
        guard entitled, rules.takes(self) else { return .until(purchased) }
        guard rules.maxHours > 0 else { return term }
        let limit = purchased.adding(seconds: rules.maxHours * 3_600)
        switch term {
        case .perpetual: return .until(limit)
        case .days(let days): return purchased.adding(days: days) <= limit ? term : .until(limit)
        case .until(let end): return .until(min(end, limit))
        }
    }
}
