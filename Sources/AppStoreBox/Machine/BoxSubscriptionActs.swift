import Domain

/// An act on a subscription.
package enum BoxSubscriptionAct: Sendable, Equatable {
    case renew
    case failRenewal(grace: Int64)
    case recover, turnOff, turnOn
    case upgrade(productID: String)
    case downgrade(productID: String)
    /// The new price in milliunits.
    case priceIncrease(price: Int64)
    case acceptPrice, expire
    case extend(days: Int64)
    case share(appAccountToken: String?, customer: String)
    case unshare

    /// The rows that the act reads.
    package func need(_ originalTransactionID: String) -> BoxNeed {
        if case .share(_, let customer) = self {
            return .subscription(originalTransactionID: originalTransactionID, customer: customer)
        }
        return .subscription(originalTransactionID: originalTransactionID, customer: nil)
    }
}

/// An act that was done, with the rows as they are after it.
package struct BoxDone: Sendable, Equatable {
    package let transaction: BoxTransaction?
    package let subscription: BoxSubscription?
    /// nil where the act changes nothing that Apple tells at once, as `fail_renewal`.
    package let notification: BoxNotification?
}

extension BoxMachine {
    /// Does an act on a subscription.
    ///
    /// The subscriptions that are shared from it change with it, each with a notification of its own.
    ///
    /// - Throws: `notFound` for an unknown subscription or product, `invalidRequest` for a value that it does not take,
    ///   `conflict` where its state does not allow the act.
    package mutating func act(
        on originalTransactionID: String, _ act: BoxSubscriptionAct
    ) throws(BoxError) -> BoxDone {
        settle()
        guard let subscription = subscriptions[originalTransactionID] else {
            throw .notFound("no subscription \(originalTransactionID)")
        }
        switch act {
        case .share(let token, let customer):
            return try share(subscription, appAccountToken: token, customer: customer)
        case .unshare:
            return try unshare(subscription)
        default: break
        }
        try requireOwn(subscription)
        let family = shares(of: originalTransactionID)
        let told = try apply(act, to: subscription)
        // A share follows its payer; what it cannot follow, as an end that it has passed already, it is left out of.
        for member in family { _ = try? apply(act, to: member) }
        return done(originalTransactionID, told)
    }

    func done(_ originalTransactionID: String, _ told: BoxNotification?) -> BoxDone {
        let subscription = subscriptions[originalTransactionID]
        return BoxDone(
            transaction: subscription.flatMap { transactions[$0.currentTransactionID] }, subscription: subscription,
            notification: told)
    }

    private mutating func apply(
        _ act: BoxSubscriptionAct, to subscription: BoxSubscription
    ) throws(BoxError) -> BoxNotification? {
        guard subscription.isRunning else {
            throw .conflict("subscription \(subscription.originalTransactionID) has ended; buy it again")
        }
        switch act {
        case .renew: return try renewNow(subscription)
        case .failRenewal(let grace):
            try failRenewal(subscription, grace: grace)
            return nil
        case .recover: return try recover(subscription)
        case .turnOff: return try setRenewal(subscription, false)
        case .turnOn: return try setRenewal(subscription, true)
        case .upgrade(let productID): return try upgrade(subscription, to: productID)
        case .downgrade(let productID): return try downgrade(subscription, to: productID)
        case .priceIncrease(let price): return try increasePrice(subscription, to: price)
        case .acceptPrice: return try acceptPrice(subscription)
        case .expire: return try expireNow(subscription)
        case .extend(let days): return try extend(subscription, days: days)
        case .share, .unshare: return nil
        }
    }

    // MARK: Renewal

    private mutating func renewNow(_ subscription: BoxSubscription) throws(BoxError) -> BoxNotification {
        try requireActive(subscription)
        try requireRoom(subscription)
        guard subscription.willRenew else { throw .conflict("its renewal is turned off; use turn_on first") }
        guard subscription.failsWithGrace == nil else { throw .conflict("its renewals fail; use recover first") }
        guard subscription.priceIncrease?.isAccepted != false else {
            throw .conflict("a price increase waits for accept_price")
        }
        let period = try period(of: subscription.nextProductID)
        return renew(subscription, from: subscription.expiresAt, period, told: (.renewed, nil), at: now)
    }

    private mutating func failRenewal(_ subscription: BoxSubscription, grace: Int64) throws(BoxError) {
        try requireActive(subscription)
        guard subscription.willRenew else { throw .conflict("its renewal is turned off; use turn_on first") }
        var failing = subscription
        failing.failsWithGrace = grace
        // The renewal information says nothing of it before the renewal, so the signed facts stay as they are.
        store(failing)
    }

    private mutating func recover(_ subscription: BoxSubscription) throws(BoxError) -> BoxNotification? {
        guard subscription.failsWithGrace != nil else { throw .conflict("its renewals do not fail") }
        guard subscription.state != .active else {
            var healthy = subscription
            healthy.failsWithGrace = nil
            store(healthy)
            return nil
        }
        guard subscription.willRenew else { throw .conflict("its renewal is turned off; use turn_on first") }
        let period = try period(of: subscription.nextProductID)
        let start = subscription.state == .grace ? subscription.expiresAt : now
        return renew(subscription, from: start, period, told: (.renewed, .billingRecovery), at: now)
    }

    private mutating func setRenewal(
        _ subscription: BoxSubscription, _ willRenew: Bool
    ) throws(BoxError) -> BoxNotification {
        guard subscription.willRenew != willRenew else {
            throw .conflict("its renewal is \(willRenew ? "on" : "off") already")
        }
        var changed = subscription
        changed.willRenew = willRenew
        changed.expirationIntent = willRenew ? nil : .cancelled
        return self.changed(
            changed, .renewalStatus, willRenew ? .autoRenewEnabled : .autoRenewDisabled, at: now)
    }

    // MARK: Product and price

    private mutating func upgrade(
        _ subscription: BoxSubscription, to productID: String
    ) throws(BoxError) -> BoxNotification {
        try requireActive(subscription)
        let (product, period) = try other(productID, than: subscription)
        guard productID != subscription.productID else { throw .conflict("it has \(productID) already") }
        if var replaced = transactions[subscription.currentTransactionID] {
            replaced.isUpgraded = true
            replaced.signedAt = sign(at: now)
            store(replaced)
        }
        var upgraded = subscription
        take(product, into: &upgraded)
        upgraded.productID = productID
        upgraded.willRenew = true
        upgraded.expirationIntent = nil
        upgraded.anchor = now
        upgraded.periods = 1
        upgraded.expiresAt = BoxCalendar.end(of: 1, period, after: now)
        let made = nextTransaction(of: upgraded, from: now, .purchase, price: upgraded.renewalPrice, at: now)
        upgraded.currentTransactionID = made.transactionID
        return changed(upgraded, .renewalPreference, .upgrade, at: now)
    }

    private mutating func downgrade(
        _ subscription: BoxSubscription, to productID: String
    ) throws(BoxError) -> BoxNotification {
        let (product, _) = try other(productID, than: subscription)
        guard productID != subscription.nextProductID else {
            throw .conflict("its next renewal is of \(productID) already")
        }
        var preferring = subscription
        take(product, into: &preferring)
        // Choosing the running product again takes a downgrade back, which Apple tells without a subtype.
        return changed(
            preferring, .renewalPreference, productID == subscription.productID ? nil : .downgrade, at: now)
    }

    /// Makes a product that of the next renewal, at its price; an increase of the former's price is gone.
    private func take(_ product: BoxProduct, into subscription: inout BoxSubscription) {
        subscription.nextProductID = product.productID
        subscription.priceIncrease = nil
        guard let price = product.price(currency: subscription.currency) ?? product.prices.first else { return }
        (subscription.currency, subscription.renewalPrice) = (price.currency, price.milliunits)
    }

    private mutating func increasePrice(
        _ subscription: BoxSubscription, to price: Int64
    ) throws(BoxError) -> BoxNotification {
        try requireActive(subscription)
        guard subscription.willRenew else { throw .conflict("its renewal is turned off; use turn_on first") }
        guard subscription.priceIncrease == nil else { throw .conflict("a price increase is under way already") }
        guard price > subscription.renewalPrice else {
            throw .invalidRequest(field: "price", "must be above \(subscription.renewalPrice), the present price")
        }
        var asking = subscription
        asking.priceIncrease = BoxSubscription.PriceIncrease(price: price, isAccepted: false)
        return changed(asking, .priceIncrease, .pending, at: now)
    }

    private mutating func acceptPrice(_ subscription: BoxSubscription) throws(BoxError) -> BoxNotification {
        guard let increase = subscription.priceIncrease, !increase.isAccepted else {
            throw .conflict("no price increase waits for consent")
        }
        var agreed = subscription
        agreed.priceIncrease?.isAccepted = true
        return changed(agreed, .priceIncrease, .accepted, at: now)
    }

    // MARK: Ends

    private mutating func expireNow(_ subscription: BoxSubscription) throws(BoxError) -> BoxNotification {
        var ending = subscription
        if var current = transactions[subscription.currentTransactionID], subscription.expiresAt > now {
            guard current.purchasedAt <= now else {
                throw .conflict(
                    "transaction \(current.transactionID) pays for a later period; refund it instead")
            }
            current.expiresAt = now
            current.signedAt = sign(at: now)
            store(current)
            ending.expiresAt = now
        }
        return end(ending, .cancelled, at: now)
    }

    private mutating func extend(
        _ subscription: BoxSubscription, days: Int64
    ) throws(BoxError) -> BoxNotification {
        try requireActive(subscription)
        try requireRoom(subscription)
        var extended = subscription
        extended.expiresAt += days * 86_400_000
        // The next period is counted from the new end.
        extended.anchor = extended.expiresAt
        extended.periods = 0
        if var current = transactions[subscription.currentTransactionID] {
            current.expiresAt = extended.expiresAt
            current.signedAt = sign(at: now)
            store(current)
        }
        return changed(extended, .renewalExtended, nil, at: now)
    }

    // MARK: Rules

    /// Requires that the customer pays for it.
    func requireOwn(_ subscription: BoxSubscription) throws(BoxError) {
        guard let payer = subscription.sharedFrom else { return }
        throw .conflict("a family shares it; act on \(payer)")
    }

    /// Requires that no renewal of it has failed.
    func requireActive(_ subscription: BoxSubscription) throws(BoxError) {
        guard subscription.state != .active else { return }
        throw .conflict(
            subscription.isRunning ? "its renewal failed; use recover first" : "it has ended; buy it again")
    }

    /// Requires that it is not paid for more than ten years ahead, so that every certificate outlives it.
    func requireRoom(_ subscription: BoxSubscription) throws(BoxError) {
        guard subscription.expiresAt - now <= 3_653 * 86_400_000 else {
            throw .conflict("it is paid for ten years ahead already")
        }
    }

    private func period(of productID: String) throws(BoxError) -> StoreKitPeriod {
        guard let period = product(productID)?.period else {
            throw .conflict("\(productID) is not for sale any more")
        }
        return period
    }

    /// A product of the same group.
    private func other(
        _ productID: String, than subscription: BoxSubscription
    ) throws(BoxError) -> (BoxProduct, StoreKitPeriod) {
        guard let product = product(productID) else { throw .notFound("no product \(productID) is for sale") }
        guard let period = product.period, product.group == subscription.group else {
            throw .invalidRequest(field: "product_id", "must be a subscription of the group \(subscription.group)")
        }
        return (product, period)
    }
}
