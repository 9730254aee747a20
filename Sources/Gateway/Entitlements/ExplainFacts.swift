import Domain
import Store

/// Makes words of stored facts.
struct Explainer {
    let source: ExplainSource
    let fold: EntitlementFold
    let words: ExplainWords
    let languages: [String]
    let reader: Explanation.Reader
    let now: Timestamp

    /// Of one SKU: whether it is owned now; of everything: whether there is a membership, as the entitlements say.
    var isActive: Bool {
        guard let sku = source.sku else { return fold.membership != nil }
        return fold.entitlements.contains { $0.grant.sku == sku && $0.status.holds }
    }

    /// Oldest first; what happened in one second stays in the order of cause and effect.
    func facts() -> [Explanation.Fact] {
        let facts = purchaseFacts() + source.orders.flatMap(orderFacts) + transferFacts() + grantFacts() + ledgerFacts()
        let sorted = facts.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
        guard source.isCut, let first = sorted.first else { return sorted }
        return [fact(first.at, "earlier", words.earlier)] + sorted
    }

    func fact(
        _ at: Timestamp, _ type: String, _ text: String, order: ID<Order>? = nil, grant: ID<Grant>? = nil
    ) -> Explanation.Fact {
        Explanation.Fact(at: at, type: type, text: text, order: order, grant: grant)
    }

    /// The name of a SKU in the reader's language.
    func name(_ sku: SKUCode) -> String {
        source.skus[sku].map { $0.localized(for: languages).name } ?? sku.rawValue
    }

    /// The order's history in words; steps that say nothing to a customer are left out.
    private func orderFacts(_ snapshot: OrderSnapshot) -> [Explanation.Fact] {
        let order = snapshot.order
        let isStores = source.purchases.contains { $0.order == order.id }
        return snapshot.timeline.compactMap { line in
            // What a store sold is told by its purchase.
            if order.origin != .checkout && line.type == "order.paid" { return nil }
            guard let text = text(line, snapshot, isStores: isStores) else { return nil }
            return fact(line.at, line.type, text, order: order.id)
        }
    }

    private func text(_ line: OrderSnapshot.TimelineLine, _ snapshot: OrderSnapshot, isStores: Bool) -> String? {
        let (order, date) = (snapshot.order, line.at.utcDate)
        let id = line.detail.prefix { $0 != " " }
        let refund = snapshot.refunds.first { $0.id.rawValue == id }?.amount
        let dispute = snapshot.disputes.first { $0.id.rawValue == id }?.amount
        switch line.type {
        case "order.opened": return words.ordered(name(order.sku), order.quantity, order.amount, date)
        case "payment.failed", "payment.try_failed": return words.paymentFailed(date)
        case "payment.cancelled": return words.paymentCancelled(date)
        case "payment.succeeded":
            return words.paymentArrived(snapshot.payments.first { $0.id.rawValue == id }?.amount, date)
        case "order.paid" where isStores: return words.orderPaidByStore(date)
        case "order.paid" where line.detail == "free": return words.orderFree(date)
        case "order.paid":
            let test = order.environment == .production ? "" : words.testPurchase(order.environment.rawValue)
            return words.joined([words.orderPaid(date), test])
        case "order.closed": return words.orderClosed(date)
        case "order.revoked":
            // Of a part the line names the share; what earlier releases wrote was of the whole purchase.
            let share = line.detail.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
            return words.takenBackByStore(name(order.sku), share, date)
        case "order.sharing_ended": return words.sharingEnded(name(order.sku), date)
        case "order.reinstated": return words.reinstatedByStore(name(order.sku), date)
        case "order.granted": return words.givenAfterAll(name(order.sku), date)
        case "refund.created", "refund.adopted": return words.refundStarted(refund, date)
        case "refund.succeeded": return words.refundDone(refund, date)
        case "refund.failed", "refund.reversed": return words.refundFailed(refund, date)
        case "dispute.opened": return words.disputeOpened(dispute, date)
        case "dispute.won": return words.disputeWon(date)
        case "dispute.lost": return words.disputeLost(date)
        default:
            guard line.type.hasPrefix("anomaly.") else { return nil }
            return Anomaly(rawValue: String(line.type.dropFirst("anomaly.".count))).map { words.anomaly($0, date) }
        }
    }

    private func ledgerFacts() -> [Explanation.Fact] {
        source.ledger.map { entry in
            let (unit, date) = (entry.unit, entry.at.utcDate)
            let order = ID<Order>(entry.source.id)
            let isTest = entry.environment != .production
            if entry.source.kind == "debit" {
                return fact(entry.at, "balance.debited", words.debited(-entry.delta, unit, date))
            }
            return entry.delta > 0
                ? fact(entry.at, "balance.credited", words.credited(entry.delta, unit, isTest, date), order: order)
                : fact(entry.at, "balance.taken_back", words.uncredited(-entry.delta, unit, date), order: order)
        }
    }
}
