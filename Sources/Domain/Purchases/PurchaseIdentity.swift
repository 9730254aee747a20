// A purchase can have several transactions: each restore and each further device gets a transaction id of its own.
// `docs/domain.md` (section 5, "One purchase, several transactions, several holders") has the rules.
// Source: Apple, App Store Server API, transactionId, originalTransactionId and webOrderLineItemId.

/// The values that all transactions of one purchase have in common.
package struct PurchaseIdentity: Hashable, Sendable {
    package let environment: Environment
    package let original: String
    package let product: String
    package let isPeriod: Bool

    /// - Returns: nil for a purchase that cannot be restored, and so has one transaction.
    package init?(_ purchase: StorePurchase) {
        guard purchase.mayBeRestored else { return nil }
        environment = purchase.environment
        original = purchase.originalTransactionID
        product = purchase.productID
        isPeriod = purchase.isPeriod
    }
}

extension StorePurchase {
    /// True where its store may state this purchase under several transaction ids.
    ///
    /// Consumables and passes cannot be restored. In Xcode ids repeat, so that equal ids mean nothing.
    package var mayBeRestored: Bool { environment != .xcode && kind != .consumable && kind != .nonRenewing }

    /// True where this transaction pays for a period with an end.
    package var isPeriod: Bool { kind == .autoRenewable || expiresAt != nil }

    /// The rank of this revocation among those of several transactions: the one signed last, then the largest, then the
    /// earliest counts.
    private var revocationRank: (Int64, Int64, Int64) {
        (max(signedAt, receiptRevocation?.signedAt ?? .min), revokedShare ?? 0, -(revocation?.at ?? 0))
    }

    /// Merges this transaction with the others of its purchase.
    ///
    /// A period began with the first transaction, the newest states its end, and the purchase is revoked where any of
    /// them is, because the store's revocation may name another transaction than the one that is known here.
    package func joined(with others: [StorePurchase]) -> StorePurchase {
        guard !others.isEmpty else { return self }
        let all = [self] + others
        let newest = all.max { $0.newness < $1.newness } ?? self
        var joined = self
        if isPeriod { joined.purchasedAt = all.map(\.purchasedAt).min() ?? purchasedAt }
        joined.expiresAt = newest.expiresAt
        joined.isUpgraded = newest.isUpgraded
        joined.offer = newest.offer
        joined.commitmentEndsAt = newest.commitmentEndsAt
        joined.receiptEndsAt = newest.receiptEndsAt
        joined.revocation =
            all.filter { $0.revocation != nil }.max { $0.revocationRank < $1.revocationRank }?
            .revocation
        return joined
    }

    /// Returns this purchase with the signed price of another of its transactions, where it has none itself.
    package func priced(like other: StorePurchase) -> StorePurchase {
        guard priceMilliunits == nil else { return self }
        var priced = self
        (priced.priceMilliunits, priced.currency) = (other.priceMilliunits, other.currency)
        return priced
    }

    /// The sort key of two statements about one transaction: a signed transaction counts before a receipt, then the
    /// later signature.
    private var newness: (Int, Int64, Int, Int64) {
        (receipt == nil ? 1 : 0, signedAt, isUpgraded ? 1 : 0, expiresAt ?? 0)
    }
}

extension Sequence {
    /// Groups stored transactions by purchase; the groups and their members are in order of time, oldest first.
    ///
    /// Transactions of a period share its line item, or its start where a transaction names no line item, because one
    /// period of a subscription runs at a time. Transactions of a perpetual purchase share the original transaction, up
    /// to a revocation: what is bought after it is a purchase of its own, and so are two transactions that each have an
    /// order.
    ///
    /// The result depends on all transactions of an original and a product, so they are passed together.
    ///
    /// - Returns: each transaction with its purchase as the store stated it, without a revocation that was undone
    ///   since.
    package func groupedByPurchase(
        _ purchase: (Element) -> StorePurchase, hasOrder: (Element) -> Bool
    ) -> [[(element: Element, purchase: StorePurchase)]] {
        var candidates: [PurchaseIdentity?: [Transaction<Element>]] = [:]
        for transaction in map({ Transaction(element: $0, purchase: purchase($0), hasOrder: hasOrder($0)) }).sorted() {
            candidates[PurchaseIdentity(transaction.purchase), default: []].append(transaction)
        }
        let groups = candidates.flatMap { identity, transactions in
            guard let identity else { return transactions.map { [$0] } }
            guard identity.isPeriod else {
                return transactions.withoutUndoneRevocations().byRevocation().flatMap { $0.byOrder() }
            }
            return transactions.byPeriod().map { $0.withoutUndoneRevocations() }
        }
        return groups.sorted { $0[0] < $1[0] }.map { $0.map { ($0.element, $0.purchase) } }
    }
}

private struct Transaction<Element>: Comparable {
    let element: Element
    var purchase: StorePurchase
    let hasOrder: Bool

    static func < (left: Self, right: Self) -> Bool {
        (left.purchase.purchasedAt, left.purchase.transactionID)
            < (right.purchase.purchasedAt, right.purchase.transactionID)
    }

    static func == (left: Self, right: Self) -> Bool { !(left < right) && !(right < left) }

    /// Returns whether this transaction states that the store undid a revocation that only a receipt states of the
    /// other one.
    ///
    /// A receipt names a revocation of every transaction of a purchase, but after a reversal only one of them is signed.
    func undoesRevocation(of other: Self) -> Bool {
        guard let statedAt = other.purchase.revokedByReceiptAt, purchase.isReinstated, purchase.signedAt >= statedAt
        else { return false }
        return purchase.isPeriod || !hasOrder || !other.hasOrder
    }
}

extension StorePurchase {
    /// The signing time of the receipt that alone states the revocation; nil where the store signed the revocation of
    /// the transaction itself.
    fileprivate var revokedByReceiptAt: Int64? {
        guard let revocation else { return nil }
        if receipt != nil { return receiptRevocation?.signedAt ?? signedAt }
        // A signed transaction that is revoked has a reason.
        guard revocation.reason == nil, receiptRevocation?.at == revocation.at else { return nil }
        return receiptRevocation?.signedAt
    }

    /// True where the store signed the transaction without a revocation after a receipt had stated one.
    fileprivate var isReinstated: Bool { receipt == nil && revocation == nil && receiptRevocation != nil }
}

// Each function takes the transactions of one identity, oldest first.
extension Array {
    fileprivate func withoutUndoneRevocations<Stored>() -> Self where Element == Transaction<Stored> {
        map { transaction in
            var current = transaction
            if contains(where: { $0.undoesRevocation(of: transaction) }) { current.purchase.revocation = nil }
            return current
        }
    }

    fileprivate func byPeriod<Stored>() -> [Self] where Element == Transaction<Stored> {
        var groups: [Self] = []
        var ends: [Int64] = []
        var lines: [String: Int] = [:]
        var seconds: [Int64: Int] = [:]
        for transaction in self {
            let purchase = transaction.purchase
            guard let line = purchase.webOrderLineItemID else { continue }
            let end = purchase.expiresAt ?? .max
            var index = groups.count
            // A line item belongs to one period, however often that is restored.
            if let known = lines[line], purchase.purchasedAt < ends[known] || end <= ends[known] {
                index = known
                groups[known].append(transaction)
                ends[known] = Swift.max(ends[known], end)
            } else {
                lines[line] = index
                groups.append([transaction])
                ends.append(end)
            }
            seconds[purchase.purchased.rawValue] = seconds[purchase.purchased.rawValue] ?? index
        }
        for transaction in self where transaction.purchase.webOrderLineItemID == nil {
            let second = transaction.purchase.purchased.rawValue
            if let known = seconds[second] {
                groups[known].append(transaction)
            } else {
                seconds[second] = groups.count
                groups.append([transaction])
            }
        }
        return groups.map { $0.sorted() }
    }

    fileprivate func byRevocation<Stored>() -> [Self] where Element == Transaction<Stored> {
        let times = compactMap { $0.purchase.isTakenBack ? $0.purchase.revocation?.at : nil }
        let groups = Dictionary(grouping: self) { transaction in
            times.count { $0 < transaction.purchase.purchasedAt }
        }
        return groups.values.map { $0 }
    }

    /// Splits a purchase by its orders; a transaction without an order belongs to the order before it.
    fileprivate func byOrder<Stored>() -> [Self] where Element == Transaction<Stored> {
        let starts = indices.filter { self[$0].hasOrder }
        guard starts.count > 1 else { return [self] }
        let groups = Dictionary(grouping: indices) { index in starts.last { $0 <= index } ?? starts[0] }
        return groups.values.map { group in group.map { self[$0] } }
    }
}
