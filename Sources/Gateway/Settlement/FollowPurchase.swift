import Domain
import ProviderKit
import Store

// What becomes of a purchase that is attached when its store says something newer of it.
extension Settlement {
    /// Follows a newer signed version of any transaction of a purchase that has its order.
    func follow(_ record: PurchaseRecord, owner: ID<User>, _ claim: PurchaseClaim, entitled: Bool) throws {
        guard let order = record.order else { return }
        try fillPrice(record, order: order)
        var changed = try bringInLine(record, key: record.key, order: order, rules: claim.rules)
        if record.purchase.isSubscription,
            try regradeSubscription(record.purchase, owner: owner, entitled: entitled, rules: claim.rules)
        {
            changed.insert(owner)
        }
        for user in changed.sorted() { try touch(user) }
    }

    /// Whether an order is as its store left the purchase.
    func stands(_ record: PurchaseRecord) throws -> Bool {
        try record.order.flatMap { try tx.orders.find($0) }?.revokedShare == record.purchase.revokedShare
    }

    /// Brings the owner's entitlements in line with a purchase that has just been given.
    func regrade(
        _ record: PurchaseRecord, owner: ID<User>, _ claim: PurchaseClaim, entitled: Bool
    ) throws {
        if record.purchase.isSubscription {
            _ = try regradeSubscription(record.purchase, owner: owner, entitled: entitled, rules: claim.rules)
        }
        try touch(owner)
    }

    /// Gives an order the price that its receipt did not tell, once the store has signed it.
    private func fillPrice(_ record: PurchaseRecord, order id: ID<Order>) throws {
        guard let price = record.purchase.charge, let order = try tx.orders.lock(id), order.charged == nil,
            order.state == .paid
        else { return }
        try tx.orders.setSignedPrice(price, of: id)
        try audit(order, "order.priced", before: "", after: "\(record.purchase.transactionID) \(price)")
        if order.revokedShare != nil { try setReturned(record.purchase, of: order, charged: price) }
    }

    private func setReturned(_ purchase: StorePurchase, of order: Order, charged: Money?) throws {
        try tx.orders.setReturned(
            order.id, purchase.returned(of: charged), share: purchase.revokedShare,
            at: purchase.isRefunded ? purchase.revokedAt : nil)
    }

    /// Brings an order, and the grants and units of its purchase, in line with what the store signed last: it can take back
    /// the whole or a part, take back more or less of it later, and give all of it again.
    ///
    /// - Returns: who owns something else now; the caller touches them.
    func bringInLine(
        _ record: PurchaseRecord, key: String, order id: ID<Order>, rules: TestPurchaseRules
    ) throws -> Set<ID<User>> {
        guard let order = try tx.orders.lock(id) else { return [] }
        let purchase = record.purchase
        let isNews = order.revokedShare != purchase.revokedShare
        if isNews {
            try setReturned(purchase, of: order, charged: order.charged)
            try tellShare(purchase, of: order)
        }
        let left = order.terms.remainder(of: order.quantity, after: purchase.revokedShare)
        var changed = try bringUnitsInLine(purchase, key: key, order: order, left: left.units)
        for grant in try tx.grants.list(of: id).value() where grant.source.kind == .appleTransaction {
            let wanted = try wanted(grant, of: purchase, key: key, order: order, left: left, rules: rules)
            guard wanted != grant else { continue }
            if wanted.term != grant.term || wanted.stackGroup != grant.stackGroup { try tx.grants.updateTerm(wanted) }
            if wanted.revocation != grant.revocation {
                try tx.grants.update(grant.id, revocation: wanted.revocation, suspended: grant.suspended)
            }
            changed.insert(grant.user)
        }
        if isNews, left.items == 0, order.terms.kind == .nonConsumable {
            for user in changed.union([order.user]).sorted()
            where try giveHeld(order.sku, in: order.environment, to: user) { changed.insert(user) }
        }
        if isNews { try emitShare(purchase, of: order) }
        return changed
    }

    /// A grant as a purchase gives it now; what an admin took back stays so.
    private func wanted(
        _ grant: Grant, of purchase: StorePurchase, key: String, order: Order, left: OrderTerms.Remainder,
        rules: TestPurchaseRules
    ) throws -> Grant {
        let entitled = try rules.entitles(tx.users.findExternalID(grant.user) ?? "")
        let given = purchase.grant(grant.id, to: grant.user, key: key, order: order, entitled: entitled, rules: rules)
        var wanted = given.map(grant.lasting) ?? grant
        switch grant.revocation?.reason {
        case .admin, .dispute: break
        case .refund where left.items > 0: wanted.revocation = nil
        case nil where left.items == 0: wanted.revocation = Grant.Revocation(at: now, reason: .refund)
        case .refund, nil: break
        }
        return wanted
    }

    /// Books the difference between the units that are left and those that are booked; what was never credited stays so.
    ///
    /// Units stay with who first had them, also when the purchase has moved since.
    private func bringUnitsInLine(
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
                step: steps + 1, at: now)
            if balance < 0 && delta < 0 { try emitOverdrawn(unit, balance, order.user) }
            isChanged = true
        }
        return isChanged ? [order.user] : []
    }

    /// The history's line about what a store took back or gave again: its transaction, and of a part the share in thousandths
    /// of a percent.
    private func tellShare(_ purchase: StorePurchase, of order: Order) throws {
        let id = purchase.transactionID
        guard let share = purchase.revokedShare else {
            try note(order, "order.reinstated", id)
            return try audit(order, "order.reinstated", before: "revoked", after: id)
        }
        guard purchase.isRefunded else {
            try note(order, "order.sharing_ended", id)
            return try audit(order, "order.sharing_ended", before: "paid", after: id)
        }
        let part = share == Order.wholeShare ? "" : " \(share)"
        try note(order, "order.revoked", id + part)
        try audit(
            order, "order.revoked", before: order.revokedShare.map { "\($0)" } ?? "paid",
            after: "\(id) was revoked by Apple\(part)")
    }

    /// Tells the outbox of money that went back, or of which less went back than it had seemed.
    private func emitShare(_ purchase: StorePurchase, of order: Order) throws {
        let before = order.refundedShare ?? 0
        let after = purchase.isRefunded ? purchase.revokedShare ?? 0 : 0
        if after > before { try emit(.refundSucceeded, order.id) }
        if after < before { try emit(.refundFailed, order.id) }
    }

    /// Gives what a user bought again and was not given, because it was owned already, once nothing else gives it.
    ///
    /// What was held beside something that lasts for ever lasts as long. The caller holds the user's lock and touches
    /// the user.
    /// - Returns: whether there was anything to give.
    func giveHeld(_ sku: SKUCode, in environment: Environment, to user: ID<User>) throws -> Bool {
        guard try !owns(sku, user, in: environment, besides: nil) else { return false }
        // An admin who took a purchase back has decided about this user and all that the user had bought of this SKU.
        let decided = try tx.grants.list(of: user).value().filter {
            $0.sku == sku && $0.environment == environment && $0.term == .perpetual && $0.order != nil
                && $0.revocation?.reason == .admin
        }.compactMap(\.revocation?.at).max()
        for record in try tx.purchases.listDuplicates(of: user, sku, in: environment)
        where decided.map({ $0 < record.purchase.purchased }) ?? true {
            // What an earlier release took for another purchase goes with the one that it is of.
            guard try tx.purchases.listTransactions(of: record).first?.key == record.key else { continue }
            let rules = registry.word(of: record.account).rules
            let entitled = try rules.entitles(tx.users.findExternalID(user) ?? "")
            guard let order = try record.order.flatMap({ try tx.orders.lock($0) }),
                order.terms.remainder(of: order.quantity, after: order.revokedShare).items > 0,
                let grant = record.purchase.grant(
                    ids.make(), to: user, key: record.key, order: order, entitled: entitled, rules: rules)
            else { continue }
            try tx.grants.insert(grant)
            try note(order, "order.granted", record.purchase.transactionID)
            try audit(order, "order.granted", before: "held", after: record.purchase.transactionID)
            return true
        }
        return false
    }
}

extension Grant {
    /// This grant with another one's length.
    fileprivate func lasting(as other: Grant) -> Grant {
        var grant = Grant(
            id: id, user: user, sku: sku, kind: kind, tier: tier, rank: rank, source: source, order: order,
            environment: environment, purchasedAt: purchasedAt, term: other.term, stackGroup: other.stackGroup,
            attributes: attributes, revocation: revocation, suspended: suspended)
        (grant.renewal, grant.ahead) = (renewal, ahead)
        return grant
    }
}
