// A purchase can have several transactions: a restore, or a further device, gets an id of its own for it.
// Source: Apple, App Store Server API, transactionId, originalTransactionId and webOrderLineItemId.
extension StorePurchase {
    /// Whether its store may tell of this purchase under several ids.
    ///
    /// What is used up and what is a pass cannot be restored. In Xcode ids repeat, so they say nothing.
    package var mayBeRestored: Bool { environment != .xcode && kind != .consumable && kind != .nonRenewing }

    /// Whether it pays a period that ends by itself.
    package var isPeriod: Bool { kind == .autoRenewable || expiresAt != nil }

    /// Whether two transactions are one purchase.
    ///
    /// Without its line item a period is told by its beginning, because one period of a subscription runs at a time.
    /// What was bought after the other had been taken back is a purchase of its own.
    package func isSame(as other: StorePurchase) -> Bool {
        guard mayBeRestored, other.mayBeRestored, environment == other.environment,
            originalTransactionID == other.originalTransactionID, productID == other.productID,
            isPeriod == other.isPeriod
        else { return false }
        guard isPeriod else { return !isBought(after: other.revocation) && !other.isBought(after: revocation) }
        if let line = webOrderLineItemID, let otherLine = other.webOrderLineItemID { return line == otherLine }
        return purchased == other.purchased
    }

    private func isBought(after revocation: Revocation?) -> Bool { revocation.map { $0.at < purchasedAt } ?? false }

    /// What transactions of one purchase have in common, at least one of it.
    package var traits: [String] {
        guard mayBeRestored else { return [] }
        let place = "\(environment.rawValue)/\(originalTransactionID)/\(productID)/"
        guard isPeriod else { return [place] }
        return ["\(place)at \(purchased.rawValue)"] + (webOrderLineItemID.map { ["\(place)line \($0)"] } ?? [])
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
        joined.revocation = all.compactMap(\.revocation).max { $0.weight < $1.weight }
        if priceMilliunits == nil, let priced = others.first(where: { $0.priceMilliunits != nil }) {
            joined.priceMilliunits = priced.priceMilliunits
            joined.currency = priced.currency
        }
        return joined
    }

    /// What the store signed of the transaction itself counts before a receipt, then what it signed last.
    private var newness: (Int, Int64, Int, Int64) {
        (receipt == nil ? 1 : 0, signedAt, isUpgraded ? 1 : 0, expiresAt ?? 0)
    }
}

extension StorePurchase.Revocation {
    /// Of several the one that took most counts, then the first.
    fileprivate var weight: (Int64, Int64) { (percentage ?? .max, -at) }
}
