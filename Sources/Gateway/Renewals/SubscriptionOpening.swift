import Domain
import ProviderKit
import Store

/// The managed subscription that a checkout would begin.
struct ManagedPlan {
    let sku: SKU
    let terms: OrderTerms
    let account: ConfiguredAccount
    let price: Money
    let period: BillingPeriod
    let isTrial: Bool
    let locale: String?

    /// The amount of the first order: nothing for a trial.
    var firstAmount: Money { isTrial ? Money(value: 0, currency: price.currency) : price }
}

extension ManagedSubscriptionLedger {
    /// Decides what a checkout of a managed SKU begins; the user is locked.
    ///
    /// - Returns: nil for other SKUs, and for an account whose provider renews by itself.
    /// - Throws: `alreadyOwned` naming the running subscription of the group.
    func plan(
        _ offer: Offer, on account: ConfiguredAccount?, of user: ID<User>, in request: CheckoutRequest
    ) throws -> ManagedPlan? {
        guard offer.sku.renewal == .managed, let account, !account.manifest.recurring, let period = offer.sku.period
        else { return nil }
        let holdings = try GroupHoldings(of: user, account.environment, in: tx)
        try refuseSecond(of: offer.sku.stackGroup, user, account.environment, holdings)
        var terms = offer.terms(in: request.locale)
        terms.days = nil
        let isTrial =
            try offer.sku.trialDays > 0
            && TrialDays(of: user, account.environment, billing.secrets, in: tx).isEligible(
                for: offer.sku.stackGroup)
        return ManagedPlan(
            sku: offer.sku, terms: terms, account: account, price: offer.quote.amount, period: period,
            isTrial: isTrial, locale: request.termsLocale)
    }

    private func refuseSecond(
        of group: String, _ user: ID<User>, _ environment: Environment, _ holdings: GroupHoldings
    ) throws {
        if let running = try tx.managedSubscriptions.findRunning(of: user, environment, group: group) {
            throw GatewayError.subscriptionRuns(running.subscription.id, .paydesk)
        }
        guard let grant = try holdings.storeSubscription(of: group, at: log.now) else { return }
        let stored = try tx.subscriptions.find(environment, original: grant.source.id, holder: nil)
        guard let stored else { throw GatewayError.alreadyOwned }
        throw GatewayError.subscriptionRuns(stored.id, .appStore)
    }

    /// Writes the subscription that an order is to begin, and returns the order with it.
    func open(_ plan: ManagedPlan, for order: Order) throws -> Order {
        let days = plan.isTrial ? plan.sku.trialDays : 0
        var subscription = ManagedSubscription(
            id: log.ids.make(), user: order.user, environment: order.environment, sku: order.sku,
            stackGroup: plan.sku.stackGroup, terms: plan.terms, account: plan.account.id, price: plan.price,
            period: plan.period, trialDays: days, graceDays: plan.sku.graceDays,
            anchor: PeriodAnchor(at: log.now, index: 0), periodStart: log.now,
            periodEnd: log.now.adding(plan.period, times: 1), partner: order.partner, createdAt: log.now)
        subscription.locale = plan.locale
        try tx.managedSubscriptions.insert(ManagedSubscriptionRecord(subscription))
        let opening = SubscriptionOpening(subscription)
        try note(.opened, of: subscription.id) { $0.opening = opening }
        var order = order
        order.period = Order.SubscriptionPeriod(subscription: subscription.id, index: 0)
        return order
    }

    /// Takes over the account of another attempt to pay a first order.
    func move(_ order: Order, to account: ConfiguredAccount) throws {
        guard let period = order.period, var record = try tx.managedSubscriptions.find(period.subscription),
            record.subscription.state == .pending, record.subscription.account != account.id
        else { return }
        record.subscription.account = account.id
        record.subscription.environment = account.environment
        try tx.managedSubscriptions.update(record)
        try note(.moved, of: record.subscription.id) {
            $0.account = account.id
            $0.environment = account.environment
        }
    }

    /// Writes the durable intent of a trial's set-up.
    func intendTrial(_ order: Order, _ request: RetryRequest) throws -> SetupIntent {
        guard let period = order.period, let record = try tx.managedSubscriptions.find(period.subscription) else {
            throw StoreError.corrupt("an order has no subscription")
        }
        return try intend(.trial, record.subscription, order, request, until: order.expiresAt)
    }

    /// Writes the durable intent of a set-up.
    func intend(
        _ purpose: SetupRecord.Purpose, _ subscription: ManagedSubscription, _ order: Order?, _ request: RetryRequest,
        until end: Timestamp
    ) throws -> SetupIntent {
        let setup = SetupRecord(
            id: log.ids.make(), subscription: subscription.id, account: subscription.account, purpose: purpose,
            order: order?.id, accepts: request.accept, platform: request.platform, returnURL: request.returnURL,
            createdAt: log.now, expiresAt: end)
        try tx.setups.insert(setup)
        return SetupIntent(setup: setup, subscription: subscription)
    }
}

/// A set-up whose intent is durable.
struct SetupIntent: Sendable {
    let setup: SetupRecord
    let subscription: ManagedSubscription
}
