import Domain
import ProviderKit
import Store

/// The next step of a subscription's job, whose intent is durable.
enum RenewalStep: Sendable {
    case done
    /// The subscription has ended without a try that reached its provider.
    case lapsed
    /// The account starts as many charges as it may at once.
    case later
    /// The charge to make, or to repeat with the same key.
    case charge(ChargeIntent)
    /// The account is not configured: nothing can be charged, and nothing is intended.
    case waitForAccount
    /// The charge of an order to withdraw, because the subscription is not to renew any more.
    case withdraw(ID<Order>)
}

/// A charge of a mandate whose payment is stored.
struct ChargeIntent: Sendable {
    let payment: ID<Payment>
    let account: AccountID
    let order: Order
    let periodIndex: Int64
    let mandate: MandateRecord
    let amount: Money
}

extension ManagedSubscriptionLedger {
    /// Takes the next step of a subscription that time alone brings.
    func step(_ id: ID<Subscription>) throws -> RenewalStep {
        guard let user = try tx.managedSubscriptions.find(id)?.subscription.user else { return .done }
        try tx.users.lock(user)
        guard let standing = try lock(id), standing.subscription.state == .running else { return .done }
        let isHeld = try tx.billingHold.find() != nil
        if let order = standing.openOrder, let created = try unsentCharge(of: order) {
            return try resume(created, standing, isHeld: isHeld)
        }
        switch standing.subscription.act(at: log.now, standing.facts, settings, isHeld: isHeld) {
        case .wait:
            var waiting = standing
            try reschedule(&waiting)
            return .done
        case .end(let reason):
            // By time alone: at the period's end, however late this job runs.
            let isAtEnd = !standing.facts.hasOpenOrder && reason != .lapsed
            try end(standing, reason, at: isAtEnd ? standing.subscription.periodEnd : log.now)
            return reason == .lapsed ? .lapsed : .done
        case .begin:
            guard hasAccount(standing.subscription) else { return .waitForAccount }
            return try begin(standing)
        case .tryAgain:
            guard hasAccount(standing.subscription) else { return .waitForAccount }
            guard let id = standing.openOrder, let order = try tx.orders.lock(id) else { return .done }
            return try charge(order, standing)
        }
    }

    /// Ends a subscription whose charge can be neither made nor withdrawn for 30 days, because its provider is away.
    ///
    /// The charge may have been sent: it is asked about as soon as the provider answers, and its money goes back.
    /// - Returns: the reason of the end; nil where it is too early, or nothing is left to end.
    func giveUp(_ id: ID<Subscription>) throws -> ManagedSubscription.EndReason? {
        guard let user = try tx.managedSubscriptions.find(id)?.subscription.user else { return nil }
        try tx.users.lock(user)
        guard let standing = try lock(id), standing.subscription.hasLapsed(at: log.now),
            let order = standing.openOrder, try unsentCharge(of: order) != nil, try tx.billingHold.find() == nil
        else { return nil }
        let subscription = standing.subscription
        var (free, reason) = (standing.facts, ManagedSubscription.EndReason.lapsed)
        free.isCharging = false
        if case .end(let decided) = subscription.act(at: log.now, free, settings, isHeld: false) {
            reason = decided
        } else if subscription.failedAt != nil {
            reason = .paymentFailed
        }
        try end(standing, reason, at: log.now)
        return reason
    }

    private func hasAccount(_ subscription: ManagedSubscription) -> Bool {
        entitlements.registry[subscription.account] != nil
    }

    /// The charge of an order that was intended and, as far as is known, not sent.
    func unsentCharge(of order: ID<Order>) throws -> PaymentRecord? {
        try tx.payments.list(of: order).value().last { $0.mandate != nil && $0.payment.state == .created }
    }

    /// Continues with a charge of which it is not known whether it was sent: again with its key, or not at all.
    private func resume(_ charge: PaymentRecord, _ standing: Standing, isHeld: Bool) throws -> RenewalStep {
        let subscription = standing.subscription
        guard let order = try tx.orders.lock(charge.payment.order) else { return .done }
        var free = standing.facts
        free.isCharging = false
        switch subscription.act(at: log.now, free, settings, isHeld: isHeld) {
        case .end: return .withdraw(order.id)
        case .wait where isHeld || subscription.isStoppedByDispute:
            var waiting = standing
            try reschedule(&waiting)
            return .done
        case .wait, .begin, .tryAgain: break
        }
        guard let mandate = try charge.mandate.flatMap({ try tx.mandates.find($0) }), mandate.state == .active else {
            return .withdraw(order.id)
        }
        return .charge(
            ChargeIntent(
                payment: charge.payment.id, account: charge.payment.account, order: order,
                periodIndex: order.period?.index ?? 0, mandate: mandate, amount: charge.payment.amount))
    }

    /// Makes the order of the next period, with the price and the plan that hold for it.
    private func begin(_ found: Standing) throws -> RenewalStep {
        var standing = found
        try applyPrice(&standing)
        let subscription = standing.subscription
        let order = try renewalOrder(
            log.ids.make(), of: subscription, amount: subscription.change?.price ?? subscription.price)
        try tx.orders.insert(order)
        let amount = order.amount.map { "\($0)" } ?? ""
        let opened = try log.appendTimeline(order, "order.opened", amount)
        try log.audit(order, "order.opened", before: "", after: "\(order.sku.rawValue) \(amount)", isNew: true)
        try log.emit(.orderOpened, OrderSnapshot(made: order, timeline: [opened]))
        standing.openOrder = order.id
        return try charge(order, standing)
    }

    /// Makes the order of the next period, by the plan that holds for it; it is reported to Apple as the first order is.
    func renewalOrder(
        _ id: ID<Order>, of subscription: ManagedSubscription, amount: Money?
    ) throws -> Order {
        let plan = subscription.change
        var terms = plan?.terms ?? subscription.terms
        terms.days = nil
        var order = Order(
            id: id, user: subscription.user, origin: .renewal, sku: plan?.sku ?? subscription.sku, quantity: 1,
            terms: terms, days: nil, amount: amount, state: .open, platform: try platform(of: subscription),
            environment: subscription.environment, partner: subscription.partner, returnURL: nil, metadata: [:],
            createdAt: log.now, expiresAt: log.now.adding(seconds: subscription.orderLifetime(settings)))
        order.period = Order.SubscriptionPeriod(subscription: subscription.id, index: subscription.periodIndex + 1)
        order.external = try tx.externalPurchases.sale(of: subscription.id)
        return order
    }

    /// The platform of the first order.
    private func platform(of subscription: ManagedSubscription) throws -> Platform {
        let first = try tx.managedSubscriptions.orders(of: subscription.id, limit: 1_000).first
        return try first.flatMap { try tx.orders.find($0) }?.platform ?? .web
    }

    /// Takes over an announced price that holds from the next period on.
    private func applyPrice(_ standing: inout Standing) throws {
        guard standing.subscription.change == nil,
            let change = try ManagedSnapshots.announced(standing.record, from: tx),
            change.applies_at <= standing.subscription.periodEnd
        else { return }
        standing.subscription.price = change.amount
        standing.record.priceChange = nil
        try save(standing, .priceChange, SubscriptionEntryFacts { $0.amount = change.amount })
    }

    /// Makes the intent to charge an order's mandate; without a mandate the order counts as refused.
    func charge(_ order: Order, _ found: Standing) throws -> RenewalStep {
        var standing = found
        let subscription = standing.subscription
        guard let amount = order.amount, let period = order.period else { return .done }
        guard let mandate = try tx.mandates.findActive(of: subscription.id) else {
            standing.subscription.refuse(.hard, at: log.now, isTry: false, settings)
            try saveRefusal(standing, order: order.id, payment: nil)
            return .done
        }
        guard try tx.payments.countCharges(at: subscription.account, createdAt: log.now) < settings.perSecond else {
            standing.record.dueAt = log.now.adding(seconds: 1)
            try tx.managedSubscriptions.update(standing.record)
            return .later
        }
        let payment = Payment(
            id: log.ids.make(), order: order.id, account: subscription.account, amount: amount,
            platform: order.platform, returnURL: nil, environment: subscription.environment, createdAt: log.now)
        try tx.payments.insert(payment, recurring: true, accepts: [], charging: mandate.id)
        try log.appendTimeline(order, "payment.created", "\(payment.id) \(subscription.account.rawValue)")
        try save(standing, nil)
        return .charge(
            ChargeIntent(
                payment: payment.id, account: subscription.account, order: order, periodIndex: period.index,
                mandate: mandate, amount: amount))
    }

    /// Sets the time of the next act again, where time alone has changed nothing.
    private func reschedule(_ standing: inout Standing) throws {
        let before = standing.record
        try schedule(&standing)
        if standing.record != before { try tx.managedSubscriptions.update(standing.record) }
    }

    /// Sends the notice of a renewal that is due.
    func announce(_ id: ID<Subscription>) throws {
        guard let user = try tx.managedSubscriptions.find(id)?.subscription.user else { return }
        try tx.users.lock(user)
        guard var standing = try lock(id) else { return }
        if let notice = try notice(of: standing.record), notice.at <= log.now {
            standing.record.noticed = notice.contents
            try note(.noticed, of: id) { $0.notice = notice.contents }
            let snapshot = try ManagedSnapshots.snapshot(standing, from: tx, at: log.now)
            try log.emit(
                .subscriptionRenewalUpcoming, subject: id.rawValue, user: user, partner: standing.subscription.partner,
                data: try snapshot.storedJSON())
        }
        try schedule(&standing)
        try tx.managedSubscriptions.update(standing.record)
    }
}
