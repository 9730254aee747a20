package import Domain
import Store

/// What is known of a receipt's purchases: the receipt, what was signed of them since, and who says so.
package struct ReceiptReport: Sendable {
    /// One transaction, with what the receipt says of it besides.
    package struct Row: Sendable {
        package let purchase: StorePurchase
        package let entry: StoreReceipt.Entry?
        package let originalPurchasedAt: Int64

        package init(purchase: StorePurchase, entry: StoreReceipt.Entry?, originalPurchasedAt: Int64) {
            self.purchase = purchase
            self.entry = entry
            self.originalPurchasedAt = originalPurchasedAt
        }
    }

    /// Where a subscription's renewal stands.
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
    /// As the client sent it.
    package let text: String
    /// Newest first.
    package let rows: [Row]
    package let renewals: [Renewal]
    package let source: ReceiptSource
    package let isStale: Bool
    /// Milliseconds since 1970.
    package let requestedAt: Int64
}

extension ReceiptReport {
    /// What is stored of original transactions.
    struct Purchases: Sendable {
        var rows: [Row] = []
        var renewals: [Renewal] = []

        /// - Parameters:
        ///   - holder: only what this user holds; nil: whoever does.
        ///   - newestOnly: of each subscription its current period alone.
        init(
            _ receipt: StoreReceipt, _ subjects: Set<StoreSubject>, holder: ExternalUserID?, newestOnly: Bool,
            from db: any Database, now: Timestamp
        ) throws {
            let user = try holder.flatMap { try db.userID($0) }
            guard holder == nil || user != nil else { return }
            let entries = Dictionary(receipt.entries.map { ($0.purchase.transactionID, $0) }) { first, _ in first }
            for subject in subjects {
                if let user, try !db.holders(of: subject).contains(user) { continue }
                let kept = try db.storePurchases(subject.environment, original: subject.original)
                // An entry tells of its purchase what any of its transactions said last.
                let purchases = kept.told.joined().map(\.purchase)
                let first = kept.map(\.purchase).first { $0.transactionID == subject.original }?.purchasedAt
                let rows = purchases.map { purchase in
                    let entry = entries[purchase.transactionID]
                    return Row(
                        purchase: purchase, entry: entry,
                        originalPurchasedAt: entry?.originalPurchasedAt ?? first ?? purchase.purchasedAt)
                }
                let renewal = try db.subscription(subject.environment, original: subject.original, holder: nil)?.renewal
                let state =
                    purchases.contains { $0.kind == .autoRenewable }
                    ? SubscriptionState(kept.folded.map(\.purchase), renewal: renewal) : nil
                self.rows += rows.filter {
                    guard newestOnly, let state else { return true }
                    return $0.purchase.transactionID == state.current.transactionID
                }
                if let state { renewals.append(Renewal(state, renewal, subject.original, at: now)) }
            }
            self.rows.sort {
                ($0.purchase.purchasedAt, $0.purchase.transactionID)
                    > ($1.purchase.purchasedAt, $1.purchase.transactionID)
            }
            renewals.sort { $0.originalTransactionID < $1.originalTransactionID }
        }
    }
}

extension ReceiptReport.Renewal {
    /// Where nothing was said of the renewal, a subscription that runs goes on.
    fileprivate init(_ state: SubscriptionState, _ renewal: StoreRenewal?, _ original: String, at now: Timestamp) {
        let status = state.status(at: now)
        let runs = status == .active || status == .inGracePeriod
        productID = state.current.productID
        nextProductID = state.nextProductID ?? state.current.productID
        originalTransactionID = original
        willRenew = (runs || status == .inBillingRetry) && (state.willRenew ?? runs)
        isInBillingRetry = state.isInBillingRetry
        graceEndsAt = state.graceUntil.map { $0.rawValue * 1_000 }
        expirationIntent = runs ? nil : renewal?.expirationIntent
        priceConsent = renewal?.priceIncrease
    }
}
