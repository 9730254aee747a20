// A purchase can have several transactions: a restore, or a further device, gets an id of its own for it.
// Source: Apple, App Store Server API, transactionId, originalTransactionId and webOrderLineItemId.
extension StorePurchase {
    /// Whether its store may tell of this purchase under several ids.
    ///
    /// What is used up and what is a pass cannot be restored. In Xcode ids repeat, so they say nothing.
    package var mayBeRestored: Bool { environment != .xcode && kind != .consumable && kind != .nonRenewing }

    /// Whether it pays a period that ends by itself.
    package var isPeriod: Bool { kind == .autoRenewable || expiresAt != nil }

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
        joined.revocation = all.standingRevocations.max { $0.weight < $1.weight }
        return joined
    }

    /// This purchase with the price that another of its transactions was signed with, where its own names none.
    package func priced(like other: StorePurchase) -> StorePurchase {
        guard priceMilliunits == nil else { return self }
        var priced = self
        (priced.priceMilliunits, priced.currency) = (other.priceMilliunits, other.currency)
        return priced
    }

    /// What the store signed of the transaction itself counts before a receipt, then what it signed last.
    private var newness: (Int, Int64, Int, Int64) {
        (receipt == nil ? 1 : 0, signedAt, isUpgraded ? 1 : 0, expiresAt ?? 0)
    }
}

extension Sequence {
    /// Sorts kept transactions into the purchases that they are of, both oldest first.
    ///
    /// A period is told by its line item, and by its beginning where a transaction names none, because one period of a
    /// subscription runs at a time. What lasts for ever is told by its original transaction, as long as nothing was taken
    /// back in between: what is bought after that is a purchase of its own. So are two that have an order each, unless
    /// they were bought in the same second: those are what an earlier release made of one purchase.
    ///
    /// The answer depends on all transactions of an original and a product, so they are given together.
    package func groupedByPurchase(
        _ purchase: (Element) -> StorePurchase, hasOrder: (Element) -> Bool
    ) -> [[Element]] {
        let all = map { Transaction(element: $0, purchase: purchase($0), hasOrder: hasOrder($0)) }.sorted()
        var groups: [[Transaction<Element>]] = []
        var seen: [Place: [Transaction<Element>]] = [:]
        for transaction in all {
            guard transaction.purchase.mayBeRestored else {
                groups.append([transaction])
                continue
            }
            seen[Place(transaction.purchase), default: []].append(transaction)
        }
        for (place, transactions) in seen {
            groups += place.isPeriod ? transactions.byPeriod() : transactions.byRevocation().flatMap { $0.byOrder() }
        }
        return groups.sorted { $0[0] < $1[0] }.map { $0.map(\.element) }
    }
}

/// What all transactions of one purchase have in common.
private struct Place: Hashable {
    let environment: Environment
    let original: String
    let product: String
    let isPeriod: Bool

    init(_ purchase: StorePurchase) {
        environment = purchase.environment
        original = purchase.originalTransactionID
        product = purchase.productID
        isPeriod = purchase.isPeriod
    }
}

private struct Transaction<Element>: Comparable {
    let element: Element
    let purchase: StorePurchase
    let hasOrder: Bool

    static func < (left: Self, right: Self) -> Bool {
        (left.purchase.purchasedAt, left.purchase.transactionID)
            < (right.purchase.purchasedAt, right.purchase.transactionID)
    }

    static func == (left: Self, right: Self) -> Bool { !(left < right) && !(right < left) }
}

// Each takes the transactions of one place, oldest first.
extension Array {
    fileprivate func byPeriod<Kept>() -> [Self] where Element == Transaction<Kept> {
        var groups: [Self] = []
        var ends: [Int64] = []
        var lines: [String: Int] = [:]
        var seconds: [Int64: Int] = [:]
        for transaction in self {
            let purchase = transaction.purchase
            guard let line = purchase.webOrderLineItemID else { continue }
            let end = purchase.expiresAt ?? .max
            // A line item is of one period, however often it is named.
            if let known = lines[line], purchase.purchasedAt < ends[known] {
                groups[known].append(transaction)
                ends[known] = Swift.max(ends[known], end)
            } else {
                lines[line] = groups.count
                groups.append([transaction])
                ends.append(end)
            }
            seconds[purchase.purchased.rawValue] = seconds[purchase.purchased.rawValue] ?? groups.count - 1
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
        let times = map(\.purchase).standingRevocations.map(\.at)
        let taken = Dictionary(grouping: self) { transaction in
            times.count { $0 < transaction.purchase.purchasedAt }
        }
        return taken.values.map { $0 }
    }

    /// Gives each order its purchase; a transaction without one is of the order before it.
    fileprivate func byOrder<Kept>() -> [Self] where Element == Transaction<Kept> {
        var groups: [Self] = []
        for transaction in self where transaction.hasOrder {
            if let last = groups.last?.last, last.purchase.purchased == transaction.purchase.purchased {
                groups[groups.count - 1].append(transaction)
            } else {
                groups.append([transaction])
            }
        }
        guard !groups.isEmpty else { return [self] }
        let starts = groups.map { $0[0].purchase.purchasedAt }
        for transaction in self where !transaction.hasOrder {
            let before = starts.lastIndex { $0 <= transaction.purchase.purchasedAt } ?? 0
            groups[before].append(transaction)
        }
        return groups.map { $0.sorted() }
    }
}

extension [StorePurchase] {
    /// What its store took back and has not given again.
    ///
    /// A receipt tells of every transaction, a signed version of one alone: where that says later that nothing is taken
    /// back, it speaks for those of which only a receipt said so.
    fileprivate var standingRevocations: [StorePurchase.Revocation] {
        compactMap { told in
            guard let revocation = told.revocation else { return nil }
            guard let toldAt = revocation.receiptSignedAt ?? (told.receipt == nil ? nil : told.signedAt) else {
                return revocation
            }
            let isGivenAgain = contains { other in
                other.receipt == nil && other.revocation == nil && other.signedAt >= toldAt
                    && other.purchasedAt <= revocation.at
            }
            return isGivenAgain ? nil : revocation
        }
    }
}

extension StorePurchase.Revocation {
    /// Of several the one that took most counts, then the first.
    fileprivate var weight: (Int64, Int64) { (percentage ?? .max, -at) }
}
