import Domain
import Store

// The facts of store purchases and their transfers.
extension Explainer {
    func purchaseFacts() -> [Explanation.Fact] { source.purchases.flatMap(facts(of:)) }

    private func facts(of record: PurchaseRecord) -> [Explanation.Fact] {
        let purchase = record.purchase
        let left = leftAt(record)
        func isTold(_ at: Timestamp) -> Bool { left.map { at <= $0 } ?? true }
        let isOwn = source.orders.contains { $0.order.id == record.order }
        let order = isOwn ? record.order : nil
        let date = purchase.purchased.utcDate
        var facts: [Explanation.Fact] = []
        guard isTold(purchase.purchased) else { return [] }
        guard let sku = record.sku else {
            return [
                fact(purchase.purchased, "purchase.unmapped", language.ownership.unmapped(purchase.productID, date))
            ]
        }
        let sale = language.ownership.sale(
            name(sku), purchase.productID, until: purchase.expires?.utcDate, isRenewal: purchase.isRenewal, date)
        let test = purchase.isReal ? "" : language.ownership.testPurchase(purchase)
        facts.append(
            fact(
                purchase.purchased, purchase.isRenewal ? "purchase.renewed" : "purchase.made",
                language.joined([sale, test]), order: order))
        if purchase.isUpgraded {
            facts.append(
                fact(purchase.purchased, "purchase.upgraded", language.ownership.upgraded(name(sku)), order: order))
        }
        // The history of the user's own order tells it already.
        if let revocation = purchase.revocation, !isOwn {
            let at = Timestamp(revocation.at.flooredSeconds)
            let text =
                purchase.isRefunded
                ? language.ownership.takenBackByStore(name(sku), purchase.revokedShare, at.utcDate)
                : language.ownership.sharingEnded(name(sku), at.utcDate)
            if isTold(at) { facts.append(fact(at, "purchase.refunded", text, order: order)) }
        }
        return facts
    }

    func transferFacts() -> [Explanation.Fact] {
        source.transfers.map { transfer in
            let sku = source.purchases.last { $0.purchase.originalTransactionID == transfer.original }?.sku
            let item = sku.map(name) ?? ""
            let text =
                transfer.isGain
                ? language.ownership.movedHere(item, transfer.at.utcDate)
                : language.ownership.movedAway(item, transfer.at.utcDate)
            return fact(transfer.at, "purchase.transferred", text)
        }
    }

    func consentFacts() -> [Explanation.Fact] {
        source.rescissions.map { at in
            fact(at, RescindedConsents.action, language.ownership.consentWithdrawn(at.utcDate))
        }
    }

    /// Returns the time at which a purchase moved to another user; its later facts are not shown to this one.
    private func leftAt(_ record: PurchaseRecord) -> Timestamp? {
        guard let owner = record.user, owner != source.user else { return nil }
        let original = record.purchase.originalTransactionID
        return source.transfers.last { $0.original == original && !$0.isGain }?.at
    }
}
