import Domain

// The changes that happen by themselves: renewals, failures, the ends of grace, of billing retry and of periods.

extension BoxMachine {
    /// The changes of subscriptions that one call makes at most, so that one transaction stays small.
    private static let stepsAtOnce = 100

    /// Runs what is due at `now`, the earliest first, and sends the notifications whose time has come.
    ///
    /// - Returns: true where more may be due; the caller stores the changes and calls again with a new scope.
    package mutating func runDue() -> Bool {
        // A full scope is a part of what is due.
        let isPart = subscriptions.count >= Self.stepsAtOnce || waiting.count >= Self.stepsAtOnce
        sendDue()
        for _ in 0..<Self.stepsAtOnce where !step() { return isPart }
        return isPart || earliestDue != nil
    }

    /// Brings the rows of an act up to date before it.
    ///
    /// Each step moves a subscription on by a period of at least a day or ends it, so this ends.
    mutating func settle() {
        while step() {}
    }

    private var earliestDue: BoxSubscription? {
        subscriptions.values.filter { ($0.nextAt ?? .max) <= now }
            .min { ($0.nextAt ?? 0, $0.originalTransactionID) < ($1.nextAt ?? 0, $1.originalTransactionID) }
    }

    /// Makes the earliest change that is due; false where none is.
    private mutating func step() -> Bool {
        guard let due = earliestDue, let time = due.nextAt else { return false }
        switch due.state {
        case .active: endPeriod(due, at: time)
        case .grace: endGrace(due, at: time)
        case .billingRetry:
            end(due, due.willRenew ? .billing : .cancelled, at: time)
        case .expired, .revoked: return false
        }
        return true
    }

    @discardableResult
    private mutating func endPeriod(_ subscription: BoxSubscription, at time: Int64) -> BoxNotification {
        guard subscription.willRenew else { return end(subscription, .cancelled, at: time) }
        if subscription.priceIncrease?.isAccepted == false { return end(subscription, .priceIncrease, at: time) }
        guard let period = product(subscription.nextProductID)?.period else {
            return end(subscription, .notForSale, at: time)
        }
        guard let grace = subscription.failsWithGrace else {
            return renew(subscription, from: subscription.expiresAt, period, told: (.renewed, nil), at: time)
        }
        var failed = subscription
        failed.state = grace > 0 ? .grace : .billingRetry
        failed.graceEndsAt = grace > 0 ? subscription.expiresAt + grace * 86_400_000 : nil
        return changed(failed, .failedToRenew, grace > 0 ? .gracePeriod : nil, at: time)
    }

    @discardableResult
    private mutating func endGrace(_ subscription: BoxSubscription, at time: Int64) -> BoxNotification {
        guard subscription.willRenew else { return end(subscription, .cancelled, at: time) }
        var failed = subscription
        failed.state = .billingRetry
        failed.graceEndsAt = nil
        return changed(failed, .gracePeriodExpired, nil, at: time)
    }

    /// Ends a subscription for a reason.
    @discardableResult
    mutating func end(
        _ subscription: BoxSubscription, _ intent: BoxSubscription.Intent, at time: Int64
    ) -> BoxNotification {
        let subtype: BoxNotification.Subtype =
            switch intent {
            case .cancelled: .voluntary
            case .billing: .billingRetry
            case .priceIncrease: .priceIncrease
            case .notForSale: .notForSale
            }
        var ended = subscription
        ended.state = .expired
        ended.willRenew = false
        ended.expirationIntent = intent
        ended.graceEndsAt = nil
        ended.failsWithGrace = nil
        ended.priceIncrease = nil
        return changed(ended, .expired, subtype, at: time)
    }

    /// Stores a changed subscription and notifies of it with its current transaction.
    @discardableResult
    mutating func changed(
        _ subscription: BoxSubscription, _ type: BoxNotification.Kind, _ subtype: BoxNotification.Subtype?,
        at time: Int64
    ) -> BoxNotification {
        var changed = subscription
        changed.signedAt = sign(at: time)
        store(changed)
        return notify(
            type, subtype, transaction: transactions[changed.currentTransactionID], subscription: changed,
            signedAt: changed.signedAt)
    }

    /// Makes the next period, of the product that is to be next, and notifies of it.
    ///
    /// - Parameters:
    ///   - start: the end of the period before; another time, or another product, begins a new count.
    ///   - offer: the offer that applies to this period.
    ///   - price: milliunits; nil: the price of the renewal.
    @discardableResult
    mutating func renew(
        _ subscription: BoxSubscription, from start: Int64, _ period: StoreKitPeriod,
        told: (BoxNotification.Kind, BoxNotification.Subtype?), offer: BoxOffer? = nil, price: Int64? = nil,
        at time: Int64
    ) -> BoxNotification {
        var renewed = subscription
        let continues = start == subscription.expiresAt && subscription.nextProductID == subscription.productID
        renewed.anchor = continues ? subscription.anchor : start
        renewed.periods = continues ? subscription.periods + 1 : 1
        renewed.expiresAt = BoxCalendar.end(of: renewed.periods, period, after: renewed.anchor)
        renewed.productID = subscription.nextProductID
        renewed.renewalPrice = subscription.nextPrice
        renewed.priceIncrease = nil
        renewed.state = .active
        renewed.failsWithGrace = nil
        renewed.graceEndsAt = nil
        let made = nextTransaction(
            of: renewed, from: start, .renewal, offer: offer, price: price ?? renewed.renewalPrice, at: time)
        renewed.currentTransactionID = made.transactionID
        return changed(renewed, told.0, told.1, at: made.signedAt)
    }

    /// Makes and stores a transaction of a subscription's newest period.
    mutating func nextTransaction(
        of subscription: BoxSubscription, from start: Int64, _ reason: BoxTransaction.Reason, offer: BoxOffer? = nil,
        price: Int64, at time: Int64
    ) -> BoxTransaction {
        let made = BoxTransaction(
            transactionID: nextID(), originalTransactionID: subscription.originalTransactionID,
            webOrderLineItemID: nextID(), customer: subscription.customer,
            appTransactionID: subscription.appTransactionID, productID: subscription.productID, kind: .subscription,
            group: subscription.group, purchasedAt: start, originalPurchasedAt: subscription.originalPurchasedAt,
            expiresAt: subscription.expiresAt, quantity: 1, appAccountToken: subscription.appAccountToken,
            isFamilyShared: subscription.isFamilyShared, reason: reason, isUpgraded: false, offer: offer,
            storefront: subscription.storefront, currency: subscription.currency, price: price, revocation: nil,
            signedAt: sign(at: time))
        store(made)
        return made
    }
}
