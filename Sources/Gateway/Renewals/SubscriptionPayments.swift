import Domain
import ProviderKit
import Store

// The payments of a managed subscription's orders: the first begins it, each further one a period.
extension ManagedSubscriptionLedger {
    /// Determines the effect of a success on an order of a subscription, whose row is locked.
    ///
    /// The first order follows the policies like any. Money for a renewal that is closed, paid or of an ended
    /// subscription always goes back.
    func effect(of order: Order, _ period: Order.SubscriptionPeriod, policies: OrderPolicies) throws -> OrderEffect {
        guard let standing = try lock(period.subscription) else {
            throw StoreError.corrupt("an order has no subscription")
        }
        let subscription = standing.subscription
        if order.origin == .renewal {
            guard order.state != .paid else {
                return OrderEffect(state: .paid, grants: false, refunds: true, anomaly: .duplicatePayment)
            }
            guard order.state == .open, subscription.state == .running else {
                return OrderEffect(state: order.state, grants: false, refunds: true, anomaly: .latePayment)
            }
            return OrderEffect(state: .paid, grants: true)
        }
        guard subscription.state != .ended || order.state == .paid else {
            // The subscription that it was to begin has ended before, with the user or with a refused trial.
            return OrderEffect(state: order.state, grants: false, refunds: true, anomaly: .latePayment)
        }
        let other = try tx.managedSubscriptions.findRunning(
            of: subscription.user, subscription.environment, group: subscription.stackGroup)
        return order.state.paymentSucceeded(policies: policies, alreadyOwned: other != nil)
    }

    /// Begins a period with a paid order.
    ///
    /// - Parameter mandate: the mandate that the payment left behind; nil where it left none, or where one is charged.
    func paid(
        _ order: Order, _ period: Order.SubscriptionPeriod, by payment: Payment, leaving mandate: ProviderMandate?
    ) throws {
        guard var standing = try lock(period.subscription) else { return }
        let cause: ManagedSubscription.ChangeCause
        var facts = SubscriptionEntryFacts {
            $0.order = order.id
            // Another amount that an admin accepted pays the order all the same.
            $0.amount = order.amount
        }
        let hadMandate = try tx.mandates.findActive(of: period.subscription) != nil
        if order.origin == .renewal {
            cause = standing.subscription.renew(paidAt: log.now)
            // A changed plan has its own price.
            if cause == .changed { standing.record.priceChange = nil }
        } else {
            standing.subscription.begin(paidAt: log.now)
            cause = .started
        }
        if let mandate {
            try keep(mandate, for: standing.subscription)
        } else if !hadMandate, try tx.payments.find(payment.id).value()?.mandate == nil {
            // Paid and given by the payer, but nothing can be charged afterwards.
            standing.subscription.cancellation = standing.subscription.cancellation ?? .mandateEnded
        }
        let begun = standing.subscription
        try tx.orders.setPeriod(from: begun.periodStart, to: begun.periodEnd, of: order.id)
        if cause == .started, let overlap = try overlap(of: begun) {
            standing.subscription.cancellation = overlap
        }
        if cause == .started || standing.subscription.cancellation == .mandateEnded {
            facts.cancellation = standing.subscription.cancellation
        }
        try save(standing, cause, facts, revocation: .some(nil), suspended: false)
        if standing.subscription.cancellation == .replaced { try announceOverlap(standing) }
    }

    /// Ends what an order was to begin, where its money does not begin it.
    func notBegun(
        _ order: Order, _ period: Order.SubscriptionPeriod, reason: ManagedSubscription.EndReason,
        leaving mandate: ProviderMandate?
    ) throws {
        guard var standing = try lock(period.subscription) else { return }
        if let mandate {
            let kept = try keep(mandate, for: standing.subscription, isActive: standing.subscription.state == .running)
            if standing.subscription.state != .running { try revoke(kept) }
        }
        guard standing.subscription.state == .pending else { return }
        try endBeforeBeginning(&standing, reason)
    }

    /// Ends a subscription that nobody has seen.
    func endBeforeBeginning(_ standing: inout Standing, _ reason: ManagedSubscription.EndReason) throws {
        standing.subscription.end(reason, at: log.now)
        try tx.managedSubscriptions.update(standing.record)
        try note(.notBegun, of: standing.subscription.id) { $0.reason = reason }
    }

    /// Counts a refused charge of a renewal.
    func refused(_ order: Order, by payment: Payment, _ refusal: ChargeRefusal) throws {
        guard let period = order.period, order.origin == .renewal, order.state == .open,
            var standing = try lock(period.subscription), standing.subscription.state == .running
        else { return }
        standing.subscription.refuse(refusal, at: log.now, settings)
        try saveRefusal(standing, order: order.id, payment: payment.id)
    }

    /// Goes on after a charge that never took effect.
    func chargeWithdrawn(of subscription: ID<Subscription>) throws {
        guard let standing = try lock(subscription), standing.subscription.state == .running else { return }
        try save(standing, nil)
    }

    /// Writes a refusal with its two events.
    func saveRefusal(_ standing: Standing, order: ID<Order>?, payment: ID<Payment>?) throws {
        let (refusal, retryDays) = (standing.subscription.refusal, settings.retryDays)
        let facts = SubscriptionEntryFacts {
            $0.refusal = refusal
            $0.order = order
            $0.payment = payment
            $0.retryDays = order == nil ? nil : retryDays
        }
        try save(standing, .paymentFailed, facts)
        guard let saved = try tx.managedSubscriptions.find(standing.subscription.id) else { return }
        let failure = SubscriptionPaymentFailure(
            snapshot: try ManagedSnapshots.load(saved, from: tx, at: log.now), order: order, payment: payment)
        try log.emit(
            .subscriptionPaymentFailed, subject: saved.subscription.id.rawValue, user: saved.subscription.user,
            partner: saved.subscription.partner, data: try failure.storedJSON())
    }

    // MARK: Mandates

    /// Stores a mandate in place of the active one, which is revoked afterwards.
    ///
    /// - Parameters:
    ///   - isActive: false for a mandate that only is to be revoked.
    ///   - ownsCustomer: false where the provider's customer was not made for this subscription.
    @discardableResult
    func keep(
        _ mandate: ProviderMandate, for subscription: ManagedSubscription, isActive: Bool = true,
        ownsCustomer: Bool = true
    ) throws -> ID<Mandate> {
        let id: ID<Mandate> = log.ids.make()
        if isActive, let earlier = try tx.mandates.findActive(of: subscription.id) { try revoke(earlier.id) }
        var record = try billing.secrets.seal(
            mandate, as: id, of: subscription, ownsCustomer: ownsCustomer, at: log.now)
        if !isActive { record = record.inState(.revoking) }
        try tx.mandates.insert(record)
        return id
    }

    /// Has a mandate revoked at its provider.
    func revoke(_ mandate: ID<Mandate>) throws {
        try tx.mandates.move(mandate, from: .active, to: .revoking)
        try tx.jobs.ensure(
            log.ids.make(), kind: JobKind.revokeMandate.rawValue, subject: mandate.rawValue, at: log.now)
        followUps.wakeWorkers()
    }

    /// Has every mandate of a subscription revoked that may still be charged.
    func revokeMandates(of subscription: ID<Subscription>) throws {
        if let active = try tx.mandates.findActive(of: subscription) { try revoke(active.id) }
    }

    // MARK: Two stores at once

    /// The reason with which a subscription is to end beside a running one of a store; nil where it goes on.
    func overlap(of subscription: ManagedSubscription) throws -> ManagedSubscription.EndReason? {
        guard settings.overlap == .stopManaged,
            try GroupHoldings(of: subscription.user, subscription.environment, in: tx).storeSubscription(
                of: subscription.stackGroup, at: log.now) != nil
        else { return nil }
        return .replaced
    }

    /// Ends the managed subscription of a group with its period where a store's has begun beside it.
    func followStore(of user: ID<User>, _ environment: Environment, group: String) throws {
        guard
            let record = try tx.managedSubscriptions.findRunning(of: user, environment, group: group),
            record.subscription.cancellation == nil, let reason = try overlap(of: record.subscription),
            var standing = try lock(record.subscription.id)
        else { return }
        standing.subscription.cancellation = reason
        try save(standing, .overlap)
    }

    /// Announces that a subscription ends because a store's runs beside it.
    func announceOverlap(_ standing: Standing) throws {
        guard let current = try lock(standing.subscription.id) else { return }
        try save(current, .overlap)
    }
}

extension MandateRecord {
    /// Returns this mandate in another state.
    fileprivate func inState(_ state: State) -> MandateRecord {
        MandateRecord(
            id: id, subscription: subscription, account: account, reference: reference, customer: customer,
            ownsCustomer: ownsCustomer, face: face, state: state, createdAt: createdAt)
    }
}
