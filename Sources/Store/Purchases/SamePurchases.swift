package import Domain

/// Stored transactions that may belong to the same purchase, oldest first.
package struct PurchaseCandidates {
    fileprivate let searchKey: SearchKey?
    fileprivate let records: DeferredResult<[PurchaseRecord]>
}

// One purchase can have several transactions: each restore and each further device gets a transaction id of its own.
extension PurchaseQueries {
    /// Lists the stored transactions with an order that belong to the same purchase as this one, each merged with the
    /// others.
    ///
    /// The first has the order of the purchase; where none has an order yet, the result is the transaction itself. An
    /// earlier release made an order for every transaction id: those follow the first, because a revocation of one of
    /// them revokes all.
    package func listTransactions(of record: PurchaseRecord) throws(StoreError) -> [PurchaseRecord] {
        try listTransactions(of: record, among: try listCandidates(for: record.purchase))
    }

    /// - Parameter candidates: the result of ``listCandidates(for:)``; a result for another purchase is ignored.
    package func listTransactions(
        of record: PurchaseRecord, among candidates: PurchaseCandidates
    ) throws(StoreError) -> [PurchaseRecord] {
        let candidates =
            candidates.searchKey == SearchKey(record.purchase) ? candidates : try listCandidates(for: record.purchase)
        let known = try candidates.records.value().filter { $0.key != record.key }
        guard !known.isEmpty,
            let group = (known + [record]).transactionsByPurchase.first(where: { $0.contains { $0.key == record.key } })
        else { return [record] }
        let ordered = group.filter { $0.order != nil }
        guard !ordered.isEmpty else { return group.filter { $0.key == record.key } }
        let (granted, duplicates) = (ordered.filter { !$0.isDuplicate }, ordered.filter(\.isDuplicate))
        return (granted + duplicates).filter { $0.key == record.key && !$0.isDuplicate }
            + (granted + duplicates).filter { $0.key != record.key || $0.isDuplicate }
    }

    /// Returns whether the store revoked a purchase, judged by a client's transaction and all stored transactions of
    /// the purchase.
    package func isRevoked(_ claimed: StorePurchase, at account: AccountID) throws(StoreError) -> Bool {
        let stored = try find(claimed.environment, claimed.key(claimant: nil)).value()
        var newest =
            stored ?? PurchaseRecord(purchase: claimed, account: account, user: nil, sku: nil, days: nil, order: nil)
        if newest.purchase.signedAt < claimed.signedAt { newest.purchase = claimed }
        return try listTransactions(of: newest).first?.purchase.isTakenBack == true
    }

    /// Lists the users who have orders of the same product and original transaction.
    ///
    /// The buyer is among them, whatever transaction id the purchase has. Empty in Xcode, whose ids are not unique.
    package func listBuyers(of purchase: StorePurchase) throws(StoreError) -> DeferredResult<[ID<User>]> {
        guard purchase.environment != .xcode else { return DeferredResult([]) }
        return try db.deferredRows(
            """
            SELECT o.user_id FROM purchases p JOIN orders o ON o.id = p.order_id
            WHERE p.environment = ? AND p.original_transaction_id = ? AND p.product_id || '' = ?
            """, purchase.environment.rawValue, purchase.originalTransactionID, purchase.productID
        ).each { row throws(StoreError) in try row.id("user_id") }
    }

    /// Lists the stored transactions that may belong to the same purchase, oldest first.
    package func listCandidates(for purchase: StorePurchase) throws(StoreError) -> PurchaseCandidates {
        guard let searchKey = SearchKey(purchase) else {
            return PurchaseCandidates(searchKey: nil, records: DeferredResult([]))
        }
        // SQLite, which has no statistics, would otherwise read all purchases of the product by their index.
        let isOfProduct = "environment = ? AND original_transaction_id = ? AND product_id || '' = ?"
        let arguments: [any SQLBindable] = [
            searchKey.identity.environment.rawValue, searchKey.identity.original, searchKey.identity.product,
        ]
        guard let period = searchKey.period else {
            return PurchaseCandidates(searchKey: searchKey, records: try list(where: isOfProduct, arguments))
        }
        // A subscription can have hundreds of transactions; these are the ones with the same start or a line item in
        // common.
        let milliseconds: [any SQLBindable] = [period.second * 1_000, period.second * 1_000 + 999]
        let together = "purchased_at BETWEEN ? AND ?"
        let records = try list(
            where: """
                \(isOfProduct) AND (\(together) OR web_order_line_item_id = ? OR web_order_line_item_id IN (
                    SELECT s.web_order_line_item_id FROM purchases s WHERE \(isOfProduct) AND \(together)))
                """, arguments + milliseconds + [period.lineItem] + arguments + milliseconds)
        return PurchaseCandidates(searchKey: searchKey, records: records)
    }

    /// Lists a user's purchases of a SKU that granted nothing because the user owned it already, oldest first.
    package func listDuplicates(
        of user: ID<User>, _ sku: SKUCode, in environment: Environment
    ) throws(StoreError) -> [PurchaseRecord] {
        try list(
            where: """
                user_id = ? AND environment = ? AND sku = ? AND \(PurchaseRecord.isDuplicateSQL)
                """, [user, environment.rawValue, sku]
        ).value()
    }
}

/// The search key for stored transactions of the same purchase; nil for a purchase that cannot be restored.
private struct SearchKey: Equatable {
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
    /// The key of the purchase's row, and of the source of its grants.
    package var key: String { purchase.key(claimant: user) }

    fileprivate func with(_ purchase: StorePurchase) -> PurchaseRecord {
        var copy = self
        copy.purchase = purchase
        return copy
    }
}

extension [PurchaseRecord] {
    /// The transactions grouped by purchase, oldest first, each merged with the others of its purchase.
    package var transactionsByPurchase: [[PurchaseRecord]] {
        groupedByPurchase({ $0.purchase }, hasOrder: { $0.order != nil && !$0.isDuplicate }).map { group in
            group.map { (record, purchase) in
                let others = group.filter { $0.element.key != record.key }
                // A transaction with an order of its own has a price of its own.
                let priced = others.first { $0.element.order == nil && $0.purchase.priceMilliunits != nil }
                let own = priced.map { purchase.priced(like: $0.purchase) } ?? purchase
                return record.with(own.joined(with: others.map(\.purchase)))
            }
        }
    }

    /// A record for each purchase, merged from all its transactions here, oldest first.
    ///
    /// The record with the order is taken, where there is one.
    package var mergedByPurchase: [PurchaseRecord] {
        transactionsByPurchase.compactMap { group in
            group.first { $0.order != nil && !$0.isDuplicate } ?? group.first { $0.order != nil } ?? group.first
        }
    }
}
