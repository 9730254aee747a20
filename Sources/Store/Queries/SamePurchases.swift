package import Domain

// What several transactions of one purchase come to: a restore, or a further device, gets an id of its own for it.
extension Database {
    /// The purchases that a kept transaction is of, each as all its transactions tell it, under the record that has its
    /// order.
    ///
    /// That is one purchase, the transaction's own where none of them has an order yet. An earlier release made an order
    /// of every id: there each of them stands, the transaction's own first.
    package func purchases(of kept: PurchaseRecord) throws(StoreError) -> [PurchaseRecord] {
        let others = try others(like: kept.purchase)
        guard !others.isEmpty else { return [kept] }
        let ordered = ([kept] + others.filter { $0.purchase.isSame(as: kept.purchase) }).filter { $0.order != nil }
        return (ordered.isEmpty ? [kept] : ordered).map { one in
            one.joined(with: ([kept] + others).filter { $0.isAnotherTransaction(of: one) })
        }
    }

    /// Whether any other transaction of the same purchase says that its store took it back.
    package func isTakenBackElsewhere(_ purchase: StorePurchase) throws(StoreError) -> Bool {
        try others(like: purchase).contains { $0.purchase.revocation != nil && $0.purchase.isSame(as: purchase) }
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

    /// The kept transactions with another id that may be of the same purchase, oldest first.
    private func others(like purchase: StorePurchase) throws(StoreError) -> [PurchaseRecord] {
        guard purchase.mayBeRestored else { return [] }
        var condition = "environment = ? AND original_transaction_id = ? AND product_id = ? AND transaction_id <> ?"
        var arguments: [any SQLBindable] = [
            purchase.environment.rawValue, purchase.originalTransactionID, purchase.productID, purchase.transactionID,
        ]
        if purchase.isPeriod {
            let second = purchase.purchased.rawValue * 1_000
            condition += " AND (purchased_at BETWEEN ? AND ? OR web_order_line_item_id = ?)"
            arguments += [second, second + 999, purchase.webOrderLineItemID]
        }
        return try storePurchases(where: condition, arguments)
    }

    /// What a user bought of a SKU and was not given, because it was owned already, oldest first.
    package func heldPurchases(
        of user: ID<User>, _ sku: SKUCode, in environment: Environment
    ) throws(StoreError) -> [PurchaseRecord] {
        try storePurchases(
            where: """
                user_id = ? AND environment = ? AND sku = ? AND revoked_at IS NULL
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

    fileprivate func isAnotherTransaction(of other: PurchaseRecord) -> Bool {
        purchase.transactionID != other.purchase.transactionID && purchase.isSame(as: other.purchase)
    }

    /// This record with its purchase as other transactions tell it, too.
    fileprivate func joined(with others: [PurchaseRecord]) -> PurchaseRecord {
        guard !others.isEmpty else { return self }
        return PurchaseRecord(
            purchase: purchase.joined(with: others.map(\.purchase)), account: account, user: user, sku: sku, days: days,
            order: order)
    }
}

extension [PurchaseRecord] {
    /// One record for each purchase, as all its transactions here tell it, in the order of the first of them.
    ///
    /// It is the one that has an order, where any has.
    package var folded: [PurchaseRecord] {
        var groups: [[PurchaseRecord]] = []
        var places: [String: [Int]] = [:]
        for record in self {
            let traits = record.purchase.traits
            let known = traits.lazy.flatMap { places[$0] ?? [] }
                .first { group in groups[group].contains { $0.isAnotherTransaction(of: record) } }
            if let known {
                let leads = record.order != nil && groups[known].allSatisfy { $0.order == nil }
                groups[known].insert(record, at: leads ? 0 : groups[known].count)
            } else {
                groups.append([record])
            }
            for trait in traits { places[trait, default: []].append(known ?? groups.count - 1) }
        }
        return groups.compactMap { group in group.first?.joined(with: Array(group.dropFirst())) }
    }
}
