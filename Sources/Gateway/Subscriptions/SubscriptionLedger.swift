import Domain
import ProviderKit
import Store

/// The subscriptions of one transaction: their renewals, their one grant for each holder, and their events.
struct SubscriptionLedger {
    let log: ChangeLog
    let entitlements: EntitlementLedger

    private var tx: any Transaction { log.tx }

    /// Stores the renewal information and the status of a subscription that a store stated.
    ///
    /// - Returns: true where either is newer than the stored one.
    func upsert(_ statement: StoreStatement, from source: StatementSource, owner: ID<User>?) throws -> Bool {
        let status = statement.purchase?.isSubscription == false ? nil : statement.standing
        guard statement.renewal != nil || status != nil, let subject = StoreSubject(statement) else { return false }
        let subscription = try tx.subscriptions.ensure(
            log.ids.make(), subject, account: source.account, user: owner, nextCheckAt: log.now)
        let isStatusNew = try status.map { try tx.subscriptions.setStatus($0, of: subscription) } ?? false
        let isRenewalNew =
            try statement.renewal.map { try tx.subscriptions.setRenewal($0, of: subscription.id) } ?? false
        return isStatusNew || isRenewalNew
    }

    /// Recomputes a subscription's grants, one for each holder, from all signed facts about it, and writes its event
    /// where its state changed.
    ///
    /// The entitlements of users who share it are published here; those of the owner by the caller.
    /// - Parameter purchase: any of its transactions.
    /// - Returns: true where the owner's grant changed.
    func recompute(
        _ purchase: StorePurchase, owner: ID<User>, entitled: Bool, rules: TestPurchaseRules
    ) throws -> Bool {
        // In Xcode several users can have original transactions with the same id.
        let known = try tx.purchases.list(purchase.environment, original: purchase.originalTransactionID)
            .filter { ($0.user == owner || purchase.environment != .xcode) && $0.sku != nil }
        let records = known.mergedByPurchase
        guard let account = known.first?.account else { return false }
        let subscription = try tx.subscriptions.ensure(
            log.ids.make(), StoreSubject(purchase), account: account, user: owner, nextCheckAt: log.now)
        guard
            let state = SubscriptionState(
                records.map(\.purchase), renewal: subscription.renewal, isRevoked: subscription.isRevoked)
        else { return false }
        var periods: [GrantedPeriod] = []
        for period in state.periods {
            guard let record = records.first(where: { $0.purchase == period.purchase }), let code = record.sku,
                let sku = try tx.skus.find(code)
            else { continue }
            periods.append(GrantedPeriod(period: period, sku: sku, code: code, order: record.order))
        }
        guard let first = periods.first, first.period == state.periods[0] else { return false }
        func upsertGrant(_ user: ID<User>, entitled: Bool) throws -> Bool {
            let end = { (period: SubscriptionState.Period) in state.end(of: period, entitled: entitled, rules: rules) }
            return try tx.grants.upsert(
                Self.grant(log.ids.make(), to: user, of: purchase, state, first, periods.dropFirst(), end))
        }
        let isChanged = try upsertGrant(owner, entitled: entitled)
        if isChanged {
            try entitlements.managed.followStore(of: owner, purchase.environment, group: first.sku.stackGroup)
        }
        for user in try tx.purchaseOwners.listSharers(of: StoreSubject(purchase)).value()
        where try upsertGrant(user, entitled: rules.entitles(tx.users.findExternalID(user) ?? "")) {
            try entitlements.publish(user)
        }
        try SubscriptionEvents(log: log).publish(
            subscription, owner: owner, SubscriptionSnapshot(subscription, state, known, at: log.now))
        return isChanged
    }

    /// A period, the SKU that it grants, and its order.
    private struct GrantedPeriod {
        let period: SubscriptionState.Period
        let sku: SKU
        let code: SKUCode
        let order: ID<Order>?
    }

    /// Builds the grant of a subscription: its running period, and ahead of it each change of product and each gap.
    ///
    /// - Parameters:
    ///   - later: the periods after the first, in order.
    ///   - end: returns the end of a period as far as its purchase entitles the user.
    private static func grant(
        _ id: ID<Grant>, to user: ID<User>, of purchase: StorePurchase, _ state: SubscriptionState,
        _ first: GrantedPeriod, _ later: ArraySlice<GrantedPeriod>, _ end: (SubscriptionState.Period) -> Timestamp
    ) -> Grant {
        var (covered, code) = (end(first.period), first.code)
        var ahead: [Grant.Ahead] = []
        for next in later {
            let (start, until) = (next.period.startsAt, end(next.period))
            guard until > start else { continue }
            if next.code != code || start > covered {
                ahead.append(
                    Grant.Ahead(
                        startsAt: start, gapFrom: start > covered ? covered : nil, sku: next.code, tier: next.sku.tier,
                        rank: next.sku.rank, order: next.order, attributes: next.sku.attributes))
            }
            (covered, code) = (until, next.code)
        }
        var grant = Grant(
            id: id, user: user, sku: first.code, kind: .subscription, tier: first.sku.tier, rank: first.sku.rank,
            source: Grant.Source(kind: .appleSubscription, id: purchase.originalTransactionID), order: first.order,
            environment: purchase.environment, purchasedAt: state.startedAt, term: .until(covered), stackGroup: nil,
            attributes: first.sku.attributes,
            revocation: state.revokedAt.map { Grant.Revocation(at: $0, reason: .refund) })
        grant.ahead = ahead
        grant.renewal = Grant.Renewal(
            paidUntil: min(state.paidUntil, covered), isInBillingRetry: state.isInBillingRetry,
            willRenew: state.willRenew, isUpgraded: state.last.purchase.isUpgraded)
        return grant
    }
}

/// The events that report a subscription's whole state to partners.
struct SubscriptionEvents {
    let log: ChangeLog

    /// Writes the event of a subscription's state, unless the last event had the same state.
    func publish(_ subscription: SubscriptionRecord, owner: ID<User>, _ snapshot: SubscriptionSnapshot) throws {
        var published = snapshot
        published.userID = owner
        let json = try published.storedJSON()
        guard json != subscription.announcedState else { return }
        try log.tx.subscriptions.setAnnouncedState(json, of: subscription.id)
        try log.emit(.subscriptionChanged, subject: subscription.id.rawValue, user: owner, data: json)
    }

    /// Writes the events of a user's own subscriptions whose state changed by time alone at a boundary.
    func publishAll(of user: ID<User>, asOf boundary: Timestamp) throws {
        for subscription in try log.tx.subscriptions.list(of: user, before: nil, limit: 100)
        where subscription.user == user {
            guard let snapshot = try SubscriptionSnapshot.load(subscription, from: log.tx, at: boundary) else {
                continue
            }
            try publish(subscription, owner: user, snapshot)
        }
    }
}

extension SubscriptionState {
    /// Returns the end of a period's entitlement: for the last period the end of its grace period, for a test purchase
    /// at most the end that the rules allow.
    fileprivate func end(of period: Period, entitled: Bool, rules: TestPurchaseRules) -> Timestamp {
        let paid = period == last ? endsAt : period.paidUntil
        guard case .until(let end) = period.purchase.bounded(.until(paid), entitled: entitled, rules: rules) else {
            return paid
        }
        return end
    }
}
