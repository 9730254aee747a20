package import Domain
import Store

/// The purchases of a receipt, with the signed facts about them since.
package struct ReceiptReport: Sendable {
    /// A transaction, with its entry in the receipt.
    package struct Row: Sendable {
        package let purchase: StorePurchase
        package let entry: StoreReceipt.Entry?
        package let originalPurchasedAt: Int64
        /// The time at which another product of its group replaced it; nil where none did.
        package let replacedAt: Int64?

        package init(
            purchase: StorePurchase, entry: StoreReceipt.Entry?, originalPurchasedAt: Int64, replacedAt: Int64? = nil
        ) {
            self.purchase = purchase
            self.entry = entry
            self.originalPurchasedAt = originalPurchasedAt
            self.replacedAt = replacedAt
        }
    }

    /// The number of the caller's purchases, and the refused ones.
    package struct Attachment: Sendable {
        package var attached = 0
        /// The refused transactions, each with the error with which an attach of it would fail.
        package var refused: [(transactionID: String, reason: GatewayError)] = []
    }

    /// The renewal of a subscription.
    package struct Renewal: Sendable {
        package let productID: String
        package let nextProductID: String
        package let originalTransactionID: String
        package let willRenew: Bool
        package let isInBillingRetry: Bool
        package let graceEndsAt: Int64?
        package let expirationIntent: Int64?
        package let priceConsent: Int64?
    }

    package let receipt: StoreReceipt
    /// The client's base64, unchanged.
    package let text: String
    /// The transactions, newest first.
    package let rows: [Row]
    package let renewals: [Renewal]
    /// The caller's purchases; nil without a user.
    package let attachment: Attachment?
    package let source: ReceiptSource
    package let isStale: Bool
    /// Milliseconds since 1970.
    package let requestedAt: Int64
}

extension ReceiptReport {
    /// The stored transactions of original transactions.
    struct Purchases: Sendable {
        var rows: [Row] = []
        var renewals: [Renewal] = []

        /// The caller's purchases; nil without a user.
        var attachment: Attachment?

        /// - Parameters:
        ///   - caller: the user of the request; the lists are the same for every caller.
        ///   - newestOnly: true leaves out all but the latest period of each subscription.
        init(
            _ receipt: StoreReceipt, _ subjects: Set<StoreSubject>, caller: ExternalUserID?, newestOnly: Bool,
            from db: any Database, now: Timestamp
        ) throws {
            let user = try caller.flatMap { try db.users.findID($0) }
            if caller != nil { attachment = Attachment() }
            let entries = Dictionary(receipt.entries.map { ($0.purchase.transactionID, $0) }) { first, _ in first }
            for subject in subjects.sorted(by: { $0.original < $1.original }) {
                let kept = try db.purchases.list(subject.environment, original: subject.original)
                // An entry shows the last state that any transaction of its purchase stated.
                let records = kept.transactionsByPurchase.flatMap { $0 }
                let purchases = records.map(\.purchase)
                if caller != nil {
                    let isHolder =
                        try user.map { try db.purchaseOwners.listHolders(of: subject).value().contains($0) } ?? false
                    for record in records { attachment?.add(record, isHolder: isHolder) }
                }
                let first = kept.map(\.purchase).first { $0.transactionID == subject.original }?.purchasedAt
                let rows = purchases.map { purchase in
                    let entry = entries[purchase.transactionID]
                    return Row(
                        purchase: purchase, entry: entry,
                        originalPurchasedAt: entry?.originalPurchasedAt ?? first ?? purchase.purchasedAt,
                        replacedAt: purchase.isUpgraded
                            ? entry?.cancelledAt ?? purchase.replacement(among: purchases)?.purchasedAt : nil)
                }
                let known = try db.subscriptions.find(subject.environment, original: subject.original, holder: nil)
                let state =
                    purchases.contains(where: \.isSubscription)
                    ? SubscriptionState(
                        kept.mergedByPurchase.map(\.purchase), renewal: known?.renewal,
                        isRevoked: known?.isRevoked ?? false)
                    : nil
                self.rows += rows.filter {
                    guard newestOnly, let state else { return true }
                    return $0.purchase.transactionID == state.last.purchase.transactionID
                }
                if let state { renewals.append(Renewal(state, known?.renewal, subject.original, at: now)) }
            }
            self.rows.sort {
                ($0.purchase.purchasedAt, $0.purchase.transactionID)
                    > ($1.purchase.purchasedAt, $1.purchase.transactionID)
            }
            renewals.sort { $0.originalTransactionID < $1.originalTransactionID }
        }
    }
}

extension ReceiptReport.Attachment {
    /// - Parameter isHolder: true where the caller owns or shares the original transaction.
    fileprivate mutating func add(_ record: PurchaseRecord, isHolder: Bool) {
        let reason: GatewayError? =
            if !isHolder {
                .purchaseBelongsToAnotherUser
            } else if record.sku == nil {
                .unknownProduct(record.purchase.productID)
            } else if record.purchase.isTakenBack {
                .purchaseRevoked
            } else {
                nil
            }
        if let reason { refused.append((record.purchase.transactionID, reason)) } else { attached += 1 }
    }
}

extension StorePurchase {
    /// Returns the next purchase of another product, which replaced this one.
    fileprivate func replacement(among purchases: [StorePurchase]) -> StorePurchase? {
        purchases.filter { $0.productID != productID && $0.purchasedAt > purchasedAt }
            .min { $0.purchasedAt < $1.purchasedAt }
    }
}

extension ReceiptReport.Renewal {
    /// Makes a renewal; without renewal information a running subscription counts as renewing.
    fileprivate init(_ state: SubscriptionState, _ renewal: StoreRenewal?, _ original: String, at now: Timestamp) {
        let status = state.status(at: now)
        let runs = status == .active || status == .inGracePeriod || status == .scheduled
        productID = state.running(at: now).purchase.productID
        nextProductID = state.nextProductID ?? state.last.purchase.productID
        originalTransactionID = original
        willRenew = (runs || status == .inBillingRetry) && (state.willRenew ?? runs)
        isInBillingRetry = state.isInBillingRetry
        graceEndsAt = state.graceUntil.map { $0.rawValue * 1_000 }
        expirationIntent = runs ? nil : renewal?.expirationIntent
        priceConsent = renewal?.priceIncrease
    }
}
