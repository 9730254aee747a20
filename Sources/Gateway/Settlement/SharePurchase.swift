import Domain
import ProviderKit
import Store

extension Settlement {
    /// Gives a new sharer what every transaction of the original has given its owner, units excepted.
    func giveShare(of purchase: StorePurchase, to user: ID<User>, rules: TestPurchaseRules) throws {
        let kept = try tx.purchases.list(purchase.environment, original: purchase.originalTransactionID)
            .transactionsByPurchase.joined()
        var isGiven = false
        for record in kept {
            guard let id = record.order, let order = try tx.orders.find(id) else { continue }
            if try insertShared(record.purchase, order, to: user, rules: rules).value() { isGiven = true }
        }
        // Touches the sharer itself where the subscription's grant is new.
        if let periods = kept.first(where: { $0.purchase.isSubscription && $0.sku != nil }),
            let owner = periods.user
        {
            let entitled = try rules.entitles(tx.users.findExternalID(owner) ?? "")
            if try regradeSubscription(periods.purchase, owner: owner, entitled: entitled, rules: rules) {
                try touch(owner)
            }
        }
        if isGiven { try touch(user) }
        if let claimed = try tx.purchases.find(purchase.environment, purchase.key(claimant: user)).value(),
            let record = try tx.purchases.listTransactions(of: claimed).first, record.order != nil
        {
            try tell(.purchaseAttached, record.purchase, owner: user, sku: record.sku, order: record.order)
        }
    }

    /// Gives those who share an original transaction what its owner was just given.
    func giveSharers(
        _ sharers: [ID<User>], _ purchase: StorePurchase, _ order: Order, rules: TestPurchaseRules
    ) throws {
        for user in sharers where try insertShared(purchase, order, to: user, rules: rules).value() {
            try touch(user)
        }
    }

    /// Those who share a purchase's original transaction; in Xcode nobody does.
    func askSharers(of purchase: StorePurchase) throws -> DeferredResult<[ID<User>]> {
        purchase.environment == .xcode
            ? DeferredResult([]) : try tx.purchaseOwners.listSharers(of: StoreSubject(purchase))
    }

    /// - Returns: false where it gives no grant, or gave it before.
    private func insertShared(
        _ purchase: StorePurchase, _ order: Order, to user: ID<User>, rules: TestPurchaseRules
    ) throws -> DeferredResult<Bool> {
        let entitled = try rules.entitles(tx.users.findExternalID(user) ?? "")
        guard !purchase.isSubscription,
            var grant = purchase.grant(
                ids.make(), to: user, key: purchase.key(claimant: user), order: order, entitled: entitled, rules: rules)
        else { return DeferredResult(false) }
        if order.terms.remainder(of: order.quantity, after: purchase.revokedShare).items == 0 {
            grant.revocation = purchase.revokedAt.map { Grant.Revocation(at: $0, reason: .refund) }
        }
        return try tx.grants.insert(grant)
    }

    /// How a claim's purchase looks to who shares it.
    func shown(_ outcome: ClaimOutcome, of claim: PurchaseClaim, to user: ID<User>, isNew: Bool) throws -> ClaimOutcome
    {
        guard case .attached(_, let isFresh) = outcome else { return outcome }
        guard let kept = try tx.purchases.find(claim.purchase.environment, claim.purchase.key(claimant: user)).value(),
            let record = try tx.purchases.listTransactions(of: kept).first, let order = record.order,
            let sku = try record.sku.flatMap({ try tx.skus.find($0) })
        else { throw StoreError.corrupt("a shared purchase was not kept") }
        let attached = try describe(kept, key: record.key, sku: sku, owner: user, order: order)
        return .attached(try attached.value(), isNew: isNew || isFresh)
    }
}

extension StorePurchase {
    /// What this purchase grants by its order's terms, as long as its store signed, and less what was taken back of several;
    /// nil where nothing lasts.
    func grant(
        _ id: ID<Grant>, to user: ID<User>, key: String, order: Order, entitled: Bool, rules: TestPurchaseRules
    ) -> Grant? {
        var terms = order.terms
        let left = terms.remainder(of: order.quantity, after: revokedShare)
        // What is taken back as a whole keeps its place in time.
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
}
