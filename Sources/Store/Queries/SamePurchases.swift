package import Domain

// What several transactions of one purchase come to: a restore, or a further device, gets an id of its own for it.
extension Database {
    /// The purchase that a kept transaction is of, as all its transactions tell it, under the record that has its order.
    ///
    /// Where none of them has one yet, it is the transaction's own. An earlier release made an order of every id: those
    /// follow after the first, for what takes back one of them takes back all.
    package func purchases(of kept: PurchaseRecord) throws(StoreError) -> [PurchaseRecord] {
        try purchases(of: kept, among: try askPurchases(like: kept.purchase))
    }

    /// - Parameter like: what ``askPurchases(like:)`` finds for the purchase, or for one that it may turn out not to be.
    package func purchases(
        of kept: PurchaseRecord, among like: PurchasesAlike
    ) throws(StoreError) -> [PurchaseRecord] {
        let alike = like.likeness == Likeness(kept.purchase) ? like : try askPurchases(like: kept.purchase)
        let known = try alike.records.value().filter { $0.key != kept.key }
        guard !known.isEmpty, let group = (known + [kept]).told.first(where: { $0.contains { $0.key == kept.key } })
        else { return [kept] }
        let ordered = group.filter { $0.order != nil }
        guard !ordered.isEmpty else { return group.filter { $0.key == kept.key } }
        let (given, held) = (ordered.filter { !$0.isHeld }, ordered.filter(\.isHeld))
        return (given + held).filter { $0.key == kept.key && !$0.isHeld }
            + (given + held).filter { $0.key != kept.key || $0.isHeld }
    }

    /// Whether a store took a purchase back, as a claim of it and all that is kept of it say.
    package func isTakenBack(_ claimed: StorePurchase, at account: AccountID) throws(StoreError) -> Bool {
        let kept = try storePurchase(claimed.environment, claimed.key(claimant: nil))
        var newest =
            kept ?? PurchaseRecord(purchase: claimed, account: account, user: nil, sku: nil, days: nil, order: nil)
        if newest.purchase.signedAt < claimed.signedAt { newest.purchase = claimed }
        return try purchases(of: newest).first?.purchase.isTakenBack == true
    }

    /// Who has orders of the same product and original transaction.
    ///
    /// Whichever id a purchase comes under, its buyer is among them. Ids in Xcode name nothing by themselves.
    package func buyers(of purchase: StorePurchase) throws(StoreError) -> Pending<[ID<User>]> {
        guard purchase.environment != .xcode else { return Pending([]) }
        return try ask(
            """
            SELECT o.user_id FROM purchases p JOIN orders o ON o.id = p.order_id
            WHERE p.environment = ? AND p.original_transaction_id = ? AND p.product_id = ?
            """, purchase.environment.rawValue, purchase.originalTransactionID, purchase.productID
        ).each { row throws(StoreError) in try row.id("user_id") }
    }

    /// The kept transactions that may be of the same purchase, oldest first.
    package func askPurchases(like purchase: StorePurchase) throws(StoreError) -> PurchasesAlike {
        guard let likeness = Likeness(purchase) else { return PurchasesAlike(likeness: nil, records: Pending([])) }
        let place = "environment = ? AND original_transaction_id = ? AND product_id = ?"
        let named: [any SQLBindable] = [
            likeness.identity.environment.rawValue, likeness.identity.original, likeness.identity.product,
        ]
        guard let period = likeness.period else {
            return PurchasesAlike(likeness: likeness, records: try askStorePurchases(where: place, named))
        }
        // Of the hundreds that a subscription can have, those that begin with it or have a line item in common.
        let milliseconds: [any SQLBindable] = [period.second * 1_000, period.second * 1_000 + 999]
        let together = "purchased_at BETWEEN ? AND ?"
        let records = try askStorePurchases(
            where: """
                \(place) AND (\(together) OR web_order_line_item_id = ? OR web_order_line_item_id IN (
                    SELECT s.web_order_line_item_id FROM purchases s WHERE \(place) AND \(together)))
                """, named + milliseconds + [period.lineItem] + named + milliseconds)
        return PurchasesAlike(likeness: likeness, records: records)
    }

    /// What a user bought of a SKU and was not given, because it was owned already, oldest first.
    package func heldPurchases(
        of user: ID<User>, _ sku: SKUCode, in environment: Environment
    ) throws(StoreError) -> [PurchaseRecord] {
        try askStorePurchases(
            where: """
                user_id = ? AND environment = ? AND sku = ? AND \(Self.isHeld)
                """, [user, environment.rawValue, sku]
        ).value()
    }
}

/// Kept transactions that may be of the same purchase, oldest first.
package struct PurchasesAlike {
    fileprivate let likeness: Likeness?
    fileprivate let records: Pending<[PurchaseRecord]>
}

/// What kept transactions of the same purchase are looked up by; nil for what cannot be restored.
private struct Likeness: Equatable {
    struct Period: Equatable {
        let second: Int64
        let lineItem: String?
    }

    let identity: PurchaseIdentity
    let period: Period?

    init?(_ purchase: StorePurchase) {
        guard let identity = PurchaseIdentity(purchase) else { return nil }
        self.identity = identity
        period =
            identity.isPeriod
            ? Period(second: purchase.purchased.rawValue, lineItem: purchase.webOrderLineItemID) : nil
    }
}

extension PurchaseRecord {
    /// What names it among the kept purchases, and as the source of what it gave.
    package var key: String { purchase.key(claimant: user) }

    fileprivate func with(_ purchase: StorePurchase) -> PurchaseRecord {
        var copy = self
        copy.purchase = purchase
        return copy
    }
}

extension [PurchaseRecord] {
    /// All transactions of one purchase each, oldest first, and each as all of them tell the purchase.
    package var told: [[PurchaseRecord]] {
        groupedByPurchase({ $0.purchase }, hasOrder: { $0.order != nil && !$0.isHeld }).map { group in
            group.map { (record, purchase) in
                let others = group.filter { $0.element.key != record.key }
                // What has an order of its own has a price of its own.
                let priced = others.first { $0.element.order == nil && $0.purchase.priceMilliunits != nil }
                let own = priced.map { purchase.priced(like: $0.purchase) } ?? purchase
                return record.with(own.joined(with: others.map(\.purchase)))
            }
        }
    }

    /// One record for each purchase, as all its transactions here tell it, oldest first.
    ///
    /// It is the one that has an order, where any has.
    package var folded: [PurchaseRecord] {
        told.compactMap { group in
            group.first { $0.order != nil && !$0.isHeld } ?? group.first { $0.order != nil } ?? group.first
        }
    }
}
