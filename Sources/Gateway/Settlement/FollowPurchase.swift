import Domain
import ProviderKit
import Store

// What becomes of a purchase that is attached when its store says something newer of it.
extension Settlement {
    /// Follows a newer signed version of any transaction of a purchase that has its order.
    func follow(_ record: PurchaseRecord, owner: ID<User>, _ claim: PurchaseClaim, entitled: Bool) throws {
        guard let order = record.order else { return }
        try fillPrice(record, order: order)
        if record.purchase.revocation == nil {
            try followGiven(record, owner: owner, order: order, claim, entitled: entitled)
        } else {
            try followRevoked(record, owner: owner, order: order, claim, entitled: entitled)
        }
    }

    /// Whether an order is as its store left the purchase.
    func stands(_ record: PurchaseRecord) throws -> Bool {
        try record.order.flatMap { try tx.order($0) }?.revokedShare == record.purchase.revokedShare
    }

    /// Brings the owner's entitlements in line with a purchase that has just been given or taken back.
    func regrade(
        _ record: PurchaseRecord, owner: ID<User>, _ claim: PurchaseClaim, entitled: Bool
    ) throws {
        if record.purchase.kind == .autoRenewable {
            _ = try regradeSubscription(record.purchase, owner: owner, entitled: entitled, rules: claim.rules)
        }
        try touch(owner)
    }

    /// A newer signed version of a purchase that is attached: a subscription's end can have moved, and what Apple had
    /// taken back it can have given again.
    private func followGiven(
        _ record: PurchaseRecord, owner: ID<User>, order id: ID<Order>, _ claim: PurchaseClaim, entitled: Bool
    ) throws {
        guard let order = try tx.lockOrder(id) else { return }
        let returned = try giveBack(record.purchase, key: record.key, order: order)
        let isReturned = !returned.isEmpty
        if isReturned || order.revokedShare != nil {
            try tx.setReturned(id, 0, share: nil, at: nil)
            try note(order, "order.reinstated", record.purchase.transactionID)
            try audit(order, "order.reinstated", before: "revoked", after: record.purchase.transactionID)
            try emit(.refundFailed, id)
        }
        if record.purchase.kind == .autoRenewable {
            guard
                try regradeSubscription(record.purchase, owner: owner, entitled: entitled, rules: claim.rules)
                    || isReturned
            else { return }
        } else if !isReturned {
            return
        }
        for user in returned.subtracting([owner]).sorted() { try touch(user) }
        try touch(owner)
    }

    /// Gives an order the price that its receipt did not tell, once the store has signed it.
    private func fillPrice(_ record: PurchaseRecord, order id: ID<Order>) throws {
        guard let price = record.purchase.price, let order = try tx.lockOrder(id), order.charged == nil,
            order.state == .paid
        else { return }
        try tx.setSignedPrice(price, of: id)
        try audit(order, "order.priced", before: "", after: "\(record.purchase.transactionID) \(price)")
        if let share = order.revokedShare {
            try tx.setReturned(
                id, record.purchase.returned(of: price), share: share, at: record.purchase.revokedAt)
        }
    }

    /// Gives again what a revocation took: the grants, and the units that were booked.
    ///
    /// - Returns: to whom.
    private func giveBack(_ purchase: StorePurchase, key: String, order: Order) throws -> Set<ID<User>> {
        var changed: Set<ID<User>> = []
        for grant in try tx.grants(of: order.id)
        where grant.source.kind == .appleTransaction && grant.revocation?.reason == .refund {
            try tx.setGrant(grant.id, revocation: nil, suspended: grant.suspended)
            changed.insert(grant.user)
        }
        let source = LedgerSource(kind: Grant.SourceKind.appleTransaction.rawValue, id: key)
        let booked = try tx.booked(source, user: order.user, environment: purchase.environment)
        for (unit, amount) in order.terms.units.sorted(by: { $0.key < $1.key }) {
            guard let (sum, steps) = booked[unit], sum == 0 else { continue }
            _ = try tx.book(
                amount, unit: unit, user: order.user, environment: purchase.environment, source: source,
                step: steps + 1, at: now)
            changed.insert(order.user)
        }
        return changed
    }

    /// A newer signed version of a revoked purchase: Apple signs it anew at every question, and takes it back once.
    private func followRevoked(
        _ record: PurchaseRecord, owner: ID<User>, order id: ID<Order>, _ claim: PurchaseClaim, entitled: Bool
    ) throws {
        guard try tx.lockOrder(id)?.revokedShare == record.purchase.revokedShare else {
            try takeBack(record, key: record.key, order: id)
            return try regrade(record, owner: owner, claim, entitled: entitled)
        }
        guard record.purchase.kind == .autoRenewable,
            try regradeSubscription(record.purchase, owner: owner, entitled: entitled, rules: claim.rules)
        else { return }
        try touch(owner)
    }

    /// Takes back exactly what a transaction gave.
    func takeBack(_ record: PurchaseRecord, key: String, order id: ID<Order>) throws {
        guard let order = try tx.lockOrder(id) else { return }
        let returned = record.purchase.returned(of: order.charged)
        try tx.setReturned(id, returned, share: record.purchase.revokedShare, at: record.purchase.revokedAt)
        try note(order, "order.revoked", record.purchase.transactionID)
        try audit(
            order, "order.revoked", before: "paid", after: "\(record.purchase.transactionID) was revoked by Apple")
        let source = LedgerSource(kind: Grant.SourceKind.appleTransaction.rawValue, id: key)
        // Units stay with who first had them, also when the purchase has moved since.
        try takeBackUnits(source, owner: order.user, environment: record.purchase.environment)
        var others: Set<ID<User>> = [order.user]
        for grant in try tx.grants(of: id) where grant.source.kind == .appleTransaction && grant.revocation == nil {
            try tx.setGrant(
                grant.id, revocation: Grant.Revocation(at: now, reason: .refund), suspended: grant.suspended)
            others.insert(grant.user)
        }
        for user in others.sorted() where order.terms.kind == .nonConsumable {
            _ = try giveHeld(order.sku, in: order.environment, to: user)
        }
        // The owner's turn comes when everything is regraded.
        for user in others.subtracting([record.user ?? order.user]).sorted() { try touch(user) }
        try emit(.refundSucceeded, id)
    }

    private func takeBackUnits(_ source: LedgerSource, owner: ID<User>, environment: Environment) throws {
        for (unit, booked) in try tx.booked(source, user: owner, environment: environment) where booked.sum > 0 {
            let balance = try tx.book(
                -booked.sum, unit: unit, user: owner, environment: environment, source: source, step: booked.steps + 1,
                at: now)
            if balance < 0 { try emitOverdrawn(unit, balance, owner) }
        }
    }

    /// Gives what a user bought again and was not given, because it was owned already, once nothing else gives it.
    ///
    /// What was held beside something that lasts for ever lasts as long. The caller holds the user's lock and touches
    /// the user.
    /// - Returns: whether there was anything to give.
    func giveHeld(_ sku: SKUCode, in environment: Environment, to user: ID<User>) throws -> Bool {
        guard try !owns(sku, user, in: environment, besides: nil) else { return false }
        // An admin who took a purchase back has decided about this user and all that the user had bought of this SKU.
        let decided = try tx.grants(of: user).filter {
            $0.sku == sku && $0.environment == environment && $0.term == .perpetual && $0.order != nil
                && $0.revocation?.reason == .admin
        }.compactMap(\.revocation?.at).max()
        for record in try tx.heldPurchases(of: user, sku, in: environment)
        where decided.map({ $0 < record.purchase.purchased }) ?? true {
            // What an earlier release took for another purchase goes with the one that it is of.
            guard try tx.purchases(of: record).first?.key == record.key else { continue }
            let rules = registry.word(of: record.account).rules
            let entitled = try rules.entitles(tx.externalUserID(user) ?? "")
            guard let order = try record.order.flatMap({ try tx.lockOrder($0) }), order.revokedShare == nil,
                let grant = record.purchase.grant(
                    ids.make(), to: user, key: record.key, order: order, entitled: entitled, rules: rules)
            else { continue }
            try tx.insertGrant(grant)
            try note(order, "order.granted", record.purchase.transactionID)
            try audit(order, "order.granted", before: "held", after: record.purchase.transactionID)
            return true
        }
        return false
    }
}
