// A purchase can have several transactions: a restore, or a further device, gets an id of its own for it.
// Source: Apple, App Store Server API, transactionId, originalTransactionId and webOrderLineItemId.
extension StorePurchase {
    /// True where the store may name this purchase by several transaction ids.
    ///
    /// What is used up and what is a pass cannot be restored. In Xcode ids repeat, so they say nothing.
    package var mayBeRestored: Bool { environment != .xcode && kind != .consumable && kind != .nonRenewing }

    /// True where it pays a period that ends by itself.
    package var isPeriod: Bool { kind == .autoRenewable || expiresAt != nil }

    /// Of several transactions' revocations the one that was signed last counts; of those the one that took most, then the
    /// first.
    private var revocationWeight: (Int64, Int64, Int64) {
        (max(signedAt, receiptRevocation?.signedAt ?? .min), revokedShare ?? 0, -(revocation?.at ?? 0))
    }

    /// This purchase as its other transactions tell it, too.
    ///
    /// A period began with the first of them, the newest says where it stands, and it is taken back where any one of them
    /// is: the store need not name the one that is known here.
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
            all.filter { $0.revocation != nil }.max { $0.revocationWeight < $1.revocationWeight }?
            .revocation
        return joined
    }

    /// This purchase with the price that another of its transactions was signed with, where its own names none.
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
    /// Sorts kept transactions into the purchases that they are of, both oldest first.
    ///
    /// A period is told by its line item, and by its beginning where a transaction names none, because one period of a
    /// subscription runs at a time. What lasts for ever is told by its original transaction, as long as nothing was taken
    /// back in between: what is bought after that is a purchase of its own. So are two that have an order each.
    ///
    /// The answer depends on all transactions of an original and a product, so they are given together.
    /// - Returns: each with what its store said of it, less what was given again since.
    package func groupedByPurchase(
        _ purchase: (Element) -> StorePurchase, hasOrder: (Element) -> Bool
    ) -> [[(element: Element, purchase: StorePurchase)]] {
        var places: [PurchasePlace?: [Transaction<Element>]] = [:]
        for transaction in map({ Transaction(element: $0, purchase: purchase($0), hasOrder: hasOrder($0)) }).sorted() {
            places[PurchasePlace(transaction.purchase), default: []].append(transaction)
        }
        let groups = places.flatMap { place, transactions in
            guard let place else { return transactions.map { [$0] } }
            guard place.isPeriod else { return transactions.standing().byRevocation().flatMap { $0.byOrder() } }
            return transactions.byPeriod().map { $0.standing() }
        }
        return groups.sorted { $0[0] < $1[0] }.map { $0.map { ($0.element, $0.purchase) } }
    }
}

/// The members that all transactions of one purchase have in common; nil for a purchase that cannot be restored.
package struct PurchasePlace: Hashable, Sendable {
    package let environment: Environment
    package let original: String
    package let product: String
    package let isPeriod: Bool

    package init?(_ purchase: StorePurchase) {
        guard purchase.mayBeRestored else { return nil }
        environment = purchase.environment
        original = purchase.originalTransactionID
        product = purchase.productID
        isPeriod = purchase.isPeriod
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

    /// Returns whether this transaction, signed later, ends a revocation of another one of which only a receipt tells.
    ///
    /// A receipt tells of every transaction of a purchase, what is signed after a reversal of one alone.
    func givesAgain(_ other: Self) -> Bool {
        guard let toldAt = other.purchase.toldByReceiptAt, purchase.isGivenAgain, purchase.signedAt >= toldAt else {
            return false
        }
        return purchase.isPeriod || !hasOrder || !other.hasOrder
    }
}

extension StorePurchase {
    /// The signing time of the receipt that alone tells of the revocation, in milliseconds since 1970; nil where the
    /// signed transaction tells of it.
    fileprivate var toldByReceiptAt: Int64? {
        guard let revocation else { return nil }
        if receipt != nil { return receiptRevocation?.signedAt ?? signedAt }
        // What is signed of a transaction that was taken back has a reason.
        guard revocation.reason == nil, receiptRevocation?.at == revocation.at else { return nil }
        return receiptRevocation?.signedAt
    }

    /// True where its store signed it anew after a receipt had said that it was taken back.
    fileprivate var isGivenAgain: Bool { receipt == nil && revocation == nil && receiptRevocation != nil }
}

// Each takes the transactions of one place, oldest first.
extension Array {
    fileprivate func standing<Kept>() -> Self where Element == Transaction<Kept> {
        map { transaction in
            var standing = transaction
            if contains(where: { $0.givesAgain(transaction) }) { standing.purchase.revocation = nil }
            return standing
        }
    }

    fileprivate func byPeriod<Kept>() -> [Self] where Element == Transaction<Kept> {
        var groups: [Self] = []
        var ends: [Int64] = []
        var lines: [String: Int] = [:]
        var seconds: [Int64: Int] = [:]
        for transaction in self {
            let purchase = transaction.purchase
            guard let line = purchase.webOrderLineItemID else { continue }
            let end = purchase.expiresAt ?? .max
            var place = groups.count
            // A line item is of one period, whenever that is restored.
            if let known = lines[line], purchase.purchasedAt < ends[known] || end <= ends[known] {
                place = known
                groups[known].append(transaction)
                ends[known] = Swift.max(ends[known], end)
            } else {
                lines[line] = place
                groups.append([transaction])
                ends.append(end)
            }
            seconds[purchase.purchased.rawValue] = seconds[purchase.purchased.rawValue] ?? place
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

    fileprivate func byRevocation<Kept>() -> [Self] where Element == Transaction<Kept> {
        let times = compactMap { $0.purchase.isTakenBack ? $0.purchase.revocation?.at : nil }
        let groups = Dictionary(grouping: self) { transaction in
            times.count { $0 < transaction.purchase.purchasedAt }
        }
        return groups.values.map { $0 }
    }

    /// Gives each order its purchase; a transaction without one is of the order before it.
    fileprivate func byOrder<Kept>() -> [Self] where Element == Transaction<Kept> {
        let starts = indices.filter { self[$0].hasOrder }
        guard starts.count > 1 else { return [self] }
        let groups = Dictionary(grouping: indices) { index in starts.last { $0 <= index } ?? starts[0] }
        return groups.values.map { group in group.map { self[$0] } }
    }
}
