import Domain
import ProviderKit
import Store

extension Settlement {
    /// Recomputes a subscription's one grant per holder from all that was signed about it, and tells what changed.
    ///
    /// Whose share of it changed is touched here; the owner is the caller's to touch.
    /// - Returns: false where the owner's grant stays as it was.
    func regradeSubscription(
        _ purchase: StorePurchase, owner: ID<User>, entitled: Bool, rules: TestPurchaseRules
    ) throws -> Bool {
        // In Xcode original transactions of several users have the same id.
        let known = try tx.purchases.list(purchase.environment, original: purchase.originalTransactionID)
            .filter { ($0.user == owner || purchase.environment != .xcode) && $0.sku != nil }
        let periods = known.mergedByPurchase
        guard let account = known.first?.account else { return false }
        let subscription = try tx.subscriptions.ensure(
            ids.make(), StoreSubject(purchase), account: account, user: owner, nextCheckAt: now)
        guard
            let state = SubscriptionState(
                periods.map(\.purchase), renewal: subscription.renewal, isRevoked: subscription.isRevoked)
        else {
            return false
        }
        var parts: [(period: SubscriptionState.Period, sku: SKU, code: SKUCode, order: ID<Order>?)] = []
        for period in state.periods {
            guard let record = periods.first(where: { $0.purchase == period.purchase }), let code = record.sku,
                let sku = try tx.skus.find(code)
            else { continue }
            parts.append((period, sku, code, record.order))
        }
        guard let first = parts.first, first.period == state.periods[0] else { return false }
        func put(_ user: ID<User>, entitled: Bool) throws -> Bool {
            var (end, code) = (state.end(of: first.period, entitled: entitled, rules: rules), first.code)
            var ahead: [Grant.Ahead] = []
            for part in parts.dropFirst() {
                let (start, until) = (
                    part.period.startsAt, state.end(of: part.period, entitled: entitled, rules: rules)
                )
                guard until > start else { continue }
                if part.code != code || start > end {
                    ahead.append(
                        Grant.Ahead(
                            startsAt: start, gapFrom: start > end ? end : nil, sku: part.code, tier: part.sku.tier,
                            rank: part.sku.rank, order: part.order, attributes: part.sku.attributes))
                }
                (end, code) = (until, part.code)
            }
            var grant = Grant(
                id: ids.make(), user: user, sku: first.code, kind: .subscription, tier: first.sku.tier,
                rank: first.sku.rank,
                source: Grant.Source(kind: .appleSubscription, id: purchase.originalTransactionID),
                order: first.order, environment: purchase.environment, purchasedAt: state.startedAt,
                term: .until(end), stackGroup: nil, attributes: first.sku.attributes,
                revocation: state.revokedAt.map { Grant.Revocation(at: $0, reason: .refund) })
            grant.ahead = ahead
            grant.renewal = Grant.Renewal(
                paidUntil: min(state.paidUntil, end), isInBillingRetry: state.isInBillingRetry,
                willRenew: state.willRenew, isUpgraded: state.last.purchase.isUpgraded)
            return try tx.grants.upsert(grant)
        }
        let isChanged = try put(owner, entitled: entitled)
        for user in try tx.purchaseOwners.listSharers(of: StoreSubject(purchase)).value()
        where try put(user, entitled: rules.entitles(tx.users.findExternalID(user) ?? "")) {
            try touch(user)
        }
        try tell(subscription, owner: owner, SubscriptionSnapshot(subscription, state, known, at: now))
        return isChanged
    }

    /// Tells the outbox a subscription's whole state, where it is another than what was told last.
    func tell(_ subscription: SubscriptionRecord, owner: ID<User>, _ snapshot: SubscriptionSnapshot) throws {
        var told = snapshot
        told.userID = owner
        let json = try told.storedJSON()
        guard json != subscription.announcedState else { return }
        try tx.subscriptions.setAnnouncedState(json, of: subscription.id)
        try tx.events.insert(
            EventRecord(
                id: ids.make(), subject: subscription.id.rawValue, type: .subscriptionChanged, user: owner,
                partner: nil,
                at: now, data: json))
    }

    /// Tells what time alone has changed of a user's subscriptions.
    func tellSubscriptions(of user: ID<User>, asOf boundary: Timestamp) throws {
        for subscription in try tx.subscriptions.list(of: user, before: nil, limit: 100) where subscription.user == user
        {
            guard let snapshot = try SubscriptionSnapshot.load(subscription, from: tx, at: boundary) else { continue }
            try tell(subscription, owner: user, snapshot)
        }
    }
}

extension TestPurchaseRules {
    /// Where the account that verified a purchase is configured no longer, only real purchases count.
    static let worthless = TestPurchaseRules(entitled: .none, maxHours: 0)
}

extension StorePurchase {
    var isReal: Bool { environment == .production }

    /// A term as far as a purchase outside production is worth it: nothing for who is not entitled, and at most so long.
    func bounded(_ term: Grant.Term, entitled: Bool, rules: TestPurchaseRules) -> Grant.Term {
        guard !isReal else { return term }
        guard entitled else { return .until(purchased) }
        guard rules.maxHours > 0 else { return term }
        let limit = purchased.adding(seconds: rules.maxHours * 3_600)
        switch term {
        case .perpetual: return .until(limit)
        case .days(let days): return purchased.adding(days: days) <= limit ? term : .until(limit)
        case .until(let end): return .until(min(end, limit))
        }
    }
}

extension SubscriptionState {
    /// Until when a period entitles: the last one until its grace is over, each as far as its purchase is worth it.
    fileprivate func end(of period: Period, entitled: Bool, rules: TestPurchaseRules) -> Timestamp {
        let paid = period == last ? endsAt : period.paidUntil
        guard case .until(let end) = period.purchase.bounded(.until(paid), entitled: entitled, rules: rules) else {
            return paid
        }
        return end
    }
}

extension SKU {
    /// What a purchase of this SKU grants: Apple's type decides how it is treated.
    ///
    /// StoreKit sells several of a consumable or of a pass at once (`Product.PurchaseOption.quantity(_:)`): so many times
    /// its units or its days.
    func terms(for purchase: StorePurchase, days: Int64?) -> OrderTerms {
        let quantity = min(max(purchase.quantity, 1), Self.quantityRange.upperBound)
        let kind = kind(of: purchase)
        var terms = terms(
            days: kind == .nonRenewing ? days.map { $0.multipliedReportingOverflow(by: quantity).partialValue } : days,
            quantity: quantity)
        terms.kind = kind
        if terms.kind != .nonRenewing { terms.stackGroup = nil }
        if terms.kind == .nonRenewing && stacking == .extend { terms.stackGroup = stackGroup }
        return terms
    }
}
