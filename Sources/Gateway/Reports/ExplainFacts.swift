import Domain
import Store

/// Makes an explanation from stored facts.
struct Explainer {
    let source: ExplainSource
    let fold: EntitlementFold
    let language: ExplanationLanguage
    let languages: [String]
    let reader: Explanation.Reader
    let now: Timestamp

    /// True where the SKU is owned now; in an explanation of everything, true where there is a membership.
    var isActive: Bool {
        guard let sku = source.sku else { return fold.membership != nil }
        return fold.entitlements.contains { $0.grant.sku == sku && $0.status.holds }
    }

    /// Returns the facts, the oldest first; facts of the same second stay in the order of cause and effect.
    func facts() -> [Explanation.Fact] {
        let facts =
            purchaseFacts() + source.orders.flatMap(orderFacts) + transferFacts() + consentFacts()
            + subscriptionFacts() + grantFacts() + ledgerFacts()
        let sorted = facts.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
        guard source.isCut, let first = sorted.first else { return sorted }
        return [fact(first.at, "earlier", language.earlier)] + sorted
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

    /// Returns the sentences of the order's history; entries without meaning for a customer are left out.
    private func orderFacts(_ snapshot: OrderSnapshot) -> [Explanation.Fact] {
        let order = snapshot.order
        let isStores = source.purchases.contains { $0.order == order.id }
        return snapshot.timeline.compactMap { line in
            // The purchase has the fact of a sale by a store.
            if order.origin != .checkout && order.period == nil && line.type == "order.paid" { return nil }
            guard let text = text(line, snapshot, isStores: isStores) else { return nil }
            return fact(line.at, line.type, text, order: order.id)
        }
    }

    /// Returns the sentences of the managed subscriptions' histories.
    private func subscriptionFacts() -> [Explanation.Fact] {
        source.managed.flatMap { record, timeline in
            timeline.compactMap { entry in
                guard let cause = ManagedSubscription.ChangeCause(rawValue: entry.type) else { return nil }
                return fact(
                    entry.at, "subscription.\(cause.rawValue)",
                    language.subscriptions.sentence(
                        cause, name(record.subscription.sku), record.subscription.id.rawValue, entry.at.utcDate))
            }
        }
    }

    private func text(_ line: OrderSnapshot.TimelineLine, _ snapshot: OrderSnapshot, isStores: Bool) -> String? {
        let (order, date) = (snapshot.order, line.at.utcDate)
        let id = line.detail.prefix { $0 != " " }
        let refund = snapshot.refunds.first { $0.id.rawValue == id }?.amount
        let dispute = snapshot.disputes.first { $0.id.rawValue == id }?.amount
        switch line.type {
        case "order.opened": return language.orders.ordered(name(order.sku), order.quantity, order.amount, date)
        case "payment.failed", "payment.try_failed": return language.orders.paymentFailed(date)
        case "payment.cancelled": return language.orders.paymentCancelled(date)
        case "payment.succeeded":
            return language.orders.paymentArrived(snapshot.payments.first { $0.id.rawValue == id }?.amount, date)
        case "order.paid" where isStores: return language.orders.orderPaidByStore(date)
        case "order.paid" where line.detail == "free": return language.orders.orderFree(date)
        case "order.paid":
            let test =
                order.environment == .production ? "" : language.ownership.testPurchase(order.environment.rawValue)
            return language.joined([language.orders.orderPaid(date), test])
        case "order.closed": return language.orders.orderClosed(date)
        case "order.revoked":
            // The entry states the share of a partial revocation; entries of earlier releases were always about the
            // whole purchase.
            let share = line.detail.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
            return language.ownership.takenBackByStore(name(order.sku), share, date)
        case "order.sharing_ended": return language.ownership.sharingEnded(name(order.sku), date)
        case "order.reinstated": return language.ownership.reinstatedByStore(name(order.sku), date)
        case "order.granted": return language.ownership.givenAfterAll(name(order.sku), date)
        case "refund.created", "refund.adopted": return language.orders.refundStarted(refund, date)
        case "refund.succeeded": return language.orders.refundDone(refund, date)
        case "refund.failed", "refund.reversed": return language.orders.refundFailed(refund, date)
        case "dispute.opened": return language.orders.disputeOpened(dispute, date)
        case "dispute.won": return language.orders.disputeWon(date)
        case "dispute.lost": return language.orders.disputeLost(date)
        default:
            guard line.type.hasPrefix("anomaly.") else { return nil }
            return Anomaly(rawValue: String(line.type.dropFirst("anomaly.".count))).map {
                language.orders.anomaly($0, date)
            }
        }
    }

    private func ledgerFacts() -> [Explanation.Fact] {
        source.ledger.map { entry in
            let (unit, date) = (entry.unit, entry.at.utcDate)
            let order = ID<Order>(entry.source.id)
            let isTest = entry.environment != .production
            if entry.source.kind == "debit" || entry.source.kind == "admin_debit" {
                return fact(entry.at, "balance.debited", language.ownership.debited(-entry.delta, unit, date))
            }
            return entry.delta > 0
                ? fact(
                    entry.at, "balance.credited", language.ownership.credited(entry.delta, unit, isTest, date),
                    order: order)
                : fact(
                    entry.at, "balance.taken_back", language.ownership.uncredited(-entry.delta, unit, date),
                    order: order)
        }
    }
}
