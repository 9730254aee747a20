import Domain
import ProviderKit
import Store

/// The new purchases of a receipt, sorted by the necessary step.
struct ReceiptNews: Sendable {
    /// The purchases that are not stored in the state of the receipt.
    let unknown: [StorePurchase]
    /// The purchases that are known only from receipts, newest first.
    let unsigned: [StorePurchase]
    /// The purchases that the user has to claim: for each subscription the newest period, which brings the others.
    let unclaimed: [StorePurchase]
}

extension ReceiptNews {
    /// - Parameter user: nil leaves `unclaimed` empty.
    init(_ purchases: [StorePurchase], user: ExternalUserID?, from db: any Database) throws {
        var (unknown, unsigned): ([StorePurchase], [StorePurchase]) = ([], [])
        var newest: [StoreSubject: StorePurchase] = [:]
        var single: [StorePurchase] = []
        let claimant = try user.flatMap { try db.users.findID($0) }
        for purchase in purchases {
            let known = try db.purchases.find(purchase.environment, purchase.key(claimant: nil)).value()
            let isNews =
                known.map { $0.purchase.signedAt < purchase.signedAt && $0.purchase.isOtherwise(than: purchase) }
                ?? true
            if isNews { unknown.append(purchase) }
            if known?.purchase.receipt != nil || known == nil { unsigned.append(purchase) }
            guard user != nil else { continue }
            let subject = StoreSubject(purchase)
            if let claimant, known?.user != nil,
                try db.purchaseOwners.listHolders(of: subject).value().contains(claimant)
            {
                continue
            }
            if purchase.isSubscription {
                if (newest[subject]?.purchasedAt ?? .min) <= purchase.purchasedAt { newest[subject] = purchase }
            } else {
                single.append(purchase)
            }
        }
        self.unknown = unknown
        self.unsigned = unsigned.sorted { $0.purchasedAt > $1.purchasedAt }
        unclaimed = newest.values.sorted { $0.purchasedAt < $1.purchasedAt } + single
    }
}

extension StorePurchase {
    /// Returns true where a receipt contains something about this transaction that is not stored.
    fileprivate func isOtherwise(than other: StorePurchase) -> Bool {
        guard receipt != nil else { return other.revocation != nil && revocation == nil }
        return expiresAt != other.expiresAt || receiptEndsAt != other.receiptEndsAt
            || revocation?.at != other.revocation?.at || isUpgraded != other.isUpgraded
    }
}
