package import Domain

// What several transactions of one purchase come to: a restore, or a further device, gets an id of its own for it.
extension Database {
    /// The purchases that a kept transaction is of, each as all its transactions tell it, under the record that has its
    /// order.
    ///
    /// That is one purchase, the transaction's own where none of them has an order yet. An earlier release made an order
    /// of every id: there each of them stands, the transaction's own first.
    package func purchases(of kept: PurchaseRecord) throws(StoreError) -> [PurchaseRecord] {
        let known = try transactions(like: kept.purchase)
        guard known.count > 1, let group = known.byPurchase.first(where: { $0.contains { $0.key == kept.key } }) else {
            return [kept]
        }
        let ordered = group.filter { $0.order != nil }
        guard !ordered.isEmpty else { return [kept.joined(with: group)] }
        return (ordered.filter { $0.key == kept.key } + ordered.filter { $0.key != kept.key }).map {
            $0.joined(with: group)
        }
    }

    /// Whether a store took a purchase back, as a claim of it and all that is kept of it say.
    package func isTakenBack(_ claimed: StorePurchase) throws(StoreError) -> Bool {
        let kept =
            claimed.mayBeRestored
            ? try transactions(like: claimed)
            : [try storePurchase(claimed.environment, claimed.key(claimant: nil))].compactMap(\.self)
        var known = kept.map { (purchase: $0.purchase, hasOrder: $0.order != nil) }
        var own = (purchase: claimed, hasOrder: false)
        if let place = known.firstIndex(where: { $0.purchase.transactionID == claimed.transactionID }) {
            let before = known.remove(at: place)
            own = (before.purchase.signedAt >= claimed.signedAt ? before.purchase : claimed, before.hasOrder)
        }
        let group = (known + [own]).groupedByPurchase({ $0.purchase }, hasOrder: { $0.hasOrder })
            .first { $0.contains { $0.purchase.transactionID == claimed.transactionID } }
        let others = (group ?? []).map(\.purchase).filter { $0.transactionID != claimed.transactionID }
        return own.purchase.joined(with: others).revocation != nil
    }

    /// Who has orders of the same product and original transaction.
    ///
    /// Whichever id a purchase comes under, its buyer is among them. Ids in Xcode name nothing by themselves.
    package func buyers(of purchase: StorePurchase) throws(StoreError) -> [ID<User>] {
        guard purchase.environment != .xcode else { return [] }
        return try rows(
            """
            SELECT DISTINCT o.user_id FROM purchases p JOIN orders o ON o.id = p.order_id
            WHERE p.environment = ? AND p.original_transaction_id = ? AND p.product_id = ?
            """, [purchase.environment.rawValue, purchase.originalTransactionID, purchase.productID]
        ).map { row throws(StoreError) in try row.id("user_id") }
    }

    /// The kept transactions that may be of the same purchase, oldest first.
    private func transactions(like purchase: StorePurchase) throws(StoreError) -> [PurchaseRecord] {
        guard purchase.mayBeRestored else { return [] }
        return try storePurchases(
            where: "environment = ? AND original_transaction_id = ? AND product_id = ?",
            [purchase.environment.rawValue, purchase.originalTransactionID, purchase.productID])
    }

    /// What a user bought of a SKU and was not given, because it was owned already, oldest first.
    package func heldPurchases(
        of user: ID<User>, _ sku: SKUCode, in environment: Environment
    ) throws(StoreError) -> [PurchaseRecord] {
        try storePurchases(
            where: """
                user_id = ? AND environment = ? AND sku = ?
                  AND EXISTS (SELECT 1 FROM order_anomalies a
                      WHERE a.order_id = purchases.order_id AND a.anomaly = 'duplicate_ownership')
                  AND NOT EXISTS (SELECT 1 FROM grants g
                      WHERE g.source_kind = 'apple_transaction' AND g.environment = purchases.environment
                        AND g.source_id = purchases.key AND g.user_id = purchases.user_id)
                """, [user, environment.rawValue, sku])
    }
}

extension PurchaseRecord {
    /// What names it among the kept purchases, and as the source of what it gave.
    package var key: String { purchase.key(claimant: user) }

    /// This record with its purchase as the other transactions of the same one tell it, too.
    ///
    /// What has an order of its own has a price of its own.
    fileprivate func joined(with group: [PurchaseRecord]) -> PurchaseRecord {
        let others = group.filter { $0.key != key }
        guard !others.isEmpty else { return self }
        let priced = others.first { $0.order == nil && $0.purchase.priceMilliunits != nil }
        let told = priced.map { purchase.priced(like: $0.purchase) } ?? purchase
        return PurchaseRecord(
            purchase: told.joined(with: others.map(\.purchase)), account: account, user: user, sku: sku, days: days,
            order: order)
    }
}

extension [PurchaseRecord] {
    /// All transactions of one purchase each, oldest first.
    package var byPurchase: [[PurchaseRecord]] { groupedByPurchase({ $0.purchase }, hasOrder: { $0.order != nil }) }

    /// One record for each purchase, as all its transactions here tell it, oldest first.
    ///
    /// It is the one that has an order, where any has.
    package var folded: [PurchaseRecord] {
        byPurchase.compactMap { group in (group.first { $0.order != nil } ?? group.first)?.joined(with: group) }
    }
}
