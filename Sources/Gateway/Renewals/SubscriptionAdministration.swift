import Domain
import ProviderKit
import Store

// The acts of admins about subscriptions that Paydesk renews itself.
extension SubscriptionActs {
    /// The seconds of business time between two tries that an admin asks for.
    private static let retryInterval: Int64 = 60

    /// Ends a subscription at its period's end, or now and with a refund.
    ///
    /// - Throws: `invalidRequest` naming `refund`, and those of ``cancel(_:by:context:)``.
    package func cancel(
        _ id: String, at time: CancelTime, refund: RefundChoice, context: CallContext
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        guard time == .now else {
            guard refund == .none else {
                throw .invalidRequest(field: "refund", reason: "is only possible with when: now")
            }
            return try await cancel(id, by: .admin, context: context)
        }
        let ended = try await settlements.run(context.audit) { settlement -> (SubscriptionSnapshot, ID<Refund>?) in
            let standing = try Self.lock(id, .admin, in: settlement)
            let managed = settlement.managed
            let resumed = context.resumed == standing.subscription.id.rawValue
            guard standing.subscription.state == .running || resumed else {
                throw GatewayError.subscriptionIs(
                    standing.subscription.status(at: settlement.now, standing.facts),
                    reason: "the subscription has ended")
            }
            var opened: ID<Refund>?
            if !resumed {
                try settlement.tx.bind(context, to: standing.subscription.id.rawValue)
                let amount = try managed.refundAmount(refund, standing.subscription)
                try managed.end(standing, .canceled, at: settlement.now)
                opened = try amount.flatMap { payment, money in
                    try settlement.refunds.open(money, of: payment, reason: "the subscription was cancelled")?.id
                }
            }
            guard let record = try settlement.tx.managedSubscriptions.find(standing.subscription.id) else {
                throw GatewayError.unknown(.subscription, id)
            }
            return (try ManagedSnapshots.load(record, from: settlement.tx, at: settlement.now), opened)
        }
        // The intent is durable: a job repeats a call that is lost.
        if let refund = ended.1 { _ = try? await refunds.sending.send(refund, audit: context.audit) }
        return ended.0
    }

    /// Adds days to the running period.
    ///
    /// - Throws: `subscriptionIs` in dunning, and those of ``cancel(_:by:context:)``.
    package func extend(
        _ id: String, days: Int64, context: CallContext
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        try await act(id, by: .admin, context) { managed, standing in
            guard standing.subscription.failedAt == nil, !standing.facts.hasOpenOrder,
                managed.log.now < standing.subscription.periodEnd
            else {
                throw GatewayError.subscriptionIs(
                    standing.subscription.status(at: managed.log.now, standing.facts),
                    reason: "a period is extended only while it runs")
            }
            var changed = standing
            changed.subscription.extend(days: days)
            try managed.save(changed, .extended, SubscriptionEntryFacts { $0.days = days })
        }
    }

    /// Tries a refused renewal again now, also after a refusal that time does not heal.
    ///
    /// - Throws: `subscriptionIs` where no renewal is refused, or after 15 tries, `rateLimited` within 60 s of the last
    ///   one.
    package func retry(_ id: String, context: CallContext) async throws(GatewayError) -> SubscriptionSnapshot {
        let snapshot = try await act(id, by: .admin, context) { managed, standing in
            guard standing.subscription.failedAt != nil, standing.openOrder != nil, !standing.facts.isCharging else {
                throw GatewayError.subscriptionIs(
                    standing.subscription.status(at: managed.log.now, standing.facts),
                    reason: "no refused renewal waits for another try")
            }
            guard standing.subscription.tries < BillingSettings.mostTries else {
                throw GatewayError.subscriptionIs(
                    standing.subscription.status(at: managed.log.now, standing.facts),
                    reason: "after \(BillingSettings.mostTries) tries only the payer can pay it")
            }
            if let last = standing.record.retriedAt, managed.log.now < last.adding(seconds: Self.retryInterval) {
                throw GatewayError.rateLimited(
                    retryAfter: last.rawValue + Self.retryInterval - managed.log.now.rawValue)
            }
            var changed = standing
            changed.record.retriedAt = managed.log.now
            changed.subscription.nextTryAt = managed.log.now
            try managed.log.audit(
                subject: changed.subscription.id.rawValue, "subscription.retried", before: "",
                after: "try \(changed.subscription.tries + 1)", about: changed.subscription.user)
            try managed.note(.retried, of: changed.subscription.id) { _ in }
            try managed.save(changed, nil)
        }
        return snapshot
    }
}

extension ManagedSubscriptionLedger {
    /// The payment of the running period and the amount of it that an ending gives back; nil for none.
    func refundAmount(
        _ choice: SubscriptionActs.RefundChoice, _ subscription: ManagedSubscription
    ) throws -> (Payment, Money)? {
        guard choice != .none, let id = try tx.managedSubscriptions.newestPaidOrder(of: subscription.id),
            let order = try tx.orders.lock(id), let paying = order.paidBy, let record = try tx.payments.lock(paying)
        else { return nil }
        let (left, all) = subscription.daysLeft(at: log.now)
        // The product is at most 10^12 minor units times three years of days, which an Int64 holds.
        let share = choice == .full ? record.captured : record.captured * left / all
        let amount = min(share, record.refundable)
        guard amount > 0 else { return nil }
        return (record.payment, Money(value: amount, currency: record.payment.amount.currency))
    }
}
