import Domain

/// An act on a transaction.
package enum BoxTransactionAct: Sendable, Equatable {
    /// The share of the price in percent, 1–100.
    case refund(percentage: Int64)
    case refundDeclined, refundReversed, consumptionRequest
}

// Refunds, and the sharing of a subscription with the family.

extension BoxMachine {
    /// Does an act on a transaction.
    ///
    /// - Throws: `notFound` for an unknown transaction, `conflict` where its state does not allow the act.
    package mutating func act(
        onTransaction transactionID: String, _ act: BoxTransactionAct
    ) throws(BoxError) -> BoxDone {
        settle()
        guard let transaction = transactions[transactionID] else {
            throw .notFound("no transaction \(transactionID)")
        }
        guard !transaction.isFamilyShared else {
            throw .conflict("a family shares transaction \(transactionID); act on its payer's, or use unshare")
        }
        if case .refundReversed = act {
            guard transaction.revocation != nil else { throw .conflict("it was not refunded") }
        } else {
            guard transaction.revocation == nil else { throw .conflict("it was refunded already") }
        }
        let told =
            switch act {
            case .refund(let percentage): refund(transaction, percentage)
            case .refundReversed: reverse(transaction)
            case .refundDeclined: tell(transaction, .refundDeclined)
            case .consumptionRequest: tell(transaction, .consumptionRequest)
            }
        return BoxDone(
            transaction: transactions[transactionID], subscription: subscriptions[transaction.originalTransactionID],
            notification: told)
    }

    /// Notifies of a transaction, signed anew.
    private mutating func tell(
        _ transaction: BoxTransaction, _ type: BoxNotification.Kind,
        changing change: (inout BoxSubscription) -> Void = { _ in }
    ) -> BoxNotification {
        var told = transaction
        told.signedAt = sign(at: now)
        store(told)
        var subscription = subscriptions[transaction.originalTransactionID]
        if var changed = subscription {
            change(&changed)
            changed.signedAt = told.signedAt
            store(changed)
            subscription = changed
        }
        return notify(type, nil, transaction: told, subscription: subscription, signedAt: told.signedAt)
    }

    private mutating func refund(_ transaction: BoxTransaction, _ percentage: Int64) -> BoxNotification {
        var refunded = transaction
        refunded.revocation = BoxTransaction.Revocation(
            at: now, kind: percentage == 100 ? .full : .prorated, percentage: percentage * 1_000)
        let id = transaction.transactionID
        let endsNow = percentage == 100 && subscriptions[transaction.originalTransactionID]?.currentTransactionID == id
        let told = tell(refunded, .refund) { subscription in
            if endsNow { subscription.revoke() }
        }
        if endsNow {
            for member in shares(of: transaction.originalTransactionID) { revokeShare(member) }
        }
        return told
    }

    private mutating func reverse(_ transaction: BoxTransaction) -> BoxNotification {
        var restored = transaction
        restored.revocation = nil
        let time = now
        return tell(restored, .refundReversed) { subscription in
            guard subscription.state == .revoked, subscription.currentTransactionID == transaction.transactionID
            else { return }
            // The refund turned the renewal off, and the reversal does not turn it on again.
            subscription.state = subscription.expiresAt > time ? .active : .expired
            subscription.expirationIntent = .cancelled
        }
    }

    // MARK: The family

    mutating func share(
        _ subscription: BoxSubscription, appAccountToken: String?, customer: String
    ) throws(BoxError) -> BoxDone {
        try requireOwn(subscription)
        // In grace and billing retry the paid period is over, and a member's transaction would end before it began.
        try requireActive(subscription)
        guard let current = transactions[subscription.currentTransactionID] else {
            throw .conflict("subscription \(subscription.originalTransactionID) has ended; buy it again")
        }
        guard customer != subscription.customer else {
            throw .invalidRequest(field: "customer", "must be another customer than \(customer), who pays")
        }
        let running = orderedSubscriptions.first {
            $0.customer == customer && $0.group == subscription.group && $0.isRunning
        }
        if let running {
            throw .conflict("\(customer) has subscription \(running.originalTransactionID) of this group already")
        }
        let family = shares(of: subscription.originalTransactionID).count
        guard family < Self.familySize else {
            throw .conflict("\(Self.familySize) members share it already, as many as a family has")
        }
        let id = nextID()
        let member = subscription.shared(
            with: customer, appAccountToken: appAccountToken, as: id, at: now, signedAt: sign(at: now))
        let made = BoxTransaction(
            transactionID: id, originalTransactionID: id, webOrderLineItemID: nextID(), customer: customer,
            appTransactionID: member.appTransactionID, productID: member.productID, kind: .subscription,
            group: member.group, purchasedAt: now, originalPurchasedAt: now, expiresAt: member.expiresAt, quantity: 1,
            appAccountToken: appAccountToken, isFamilyShared: true, reason: .purchase, isUpgraded: false, offer: nil,
            storefront: member.storefront, currency: current.currency, price: current.price, revocation: nil,
            signedAt: member.signedAt)
        store(made)
        store(member)
        let told = notify(
            .subscribed, .initialBuy, transaction: made, subscription: member, signedAt: member.signedAt)
        return BoxDone(transaction: made, subscription: member, notification: told)
    }

    /// The members with whom a payer can share; a family of Apple's has six people.
    private static let familySize = 5

    mutating func unshare(_ subscription: BoxSubscription) throws(BoxError) -> BoxDone {
        guard subscription.isFamilyShared else {
            throw .conflict("it is not shared; name the original transaction id of a family member's")
        }
        guard subscription.isRunning else { throw .conflict("the sharing has ended already") }
        let told = revokeShare(subscription)
        return done(subscription.originalTransactionID, told)
    }

    @discardableResult
    private mutating func revokeShare(_ member: BoxSubscription) -> BoxNotification {
        if var current = transactions[member.currentTransactionID] {
            current.revocation = BoxTransaction.Revocation(at: now, kind: .family, percentage: nil)
            current.signedAt = sign(at: now)
            store(current)
        }
        var revoked = member
        revoked.revoke()
        return changed(revoked, .revoke, nil, at: now)
    }
}

extension BoxSubscription {
    /// Takes it back: nothing of it runs or renews any more.
    fileprivate mutating func revoke() {
        state = .revoked
        willRenew = false
        expirationIntent = nil
        failsWithGrace = nil
        graceEndsAt = nil
        priceIncrease = nil
    }

    /// A member's share of it: the same product, periods and state under an id of its own.
    fileprivate func shared(
        with customer: String, appAccountToken: String?, as id: String, at now: Int64, signedAt: Int64
    ) -> BoxSubscription {
        BoxSubscription(
            originalTransactionID: id, customer: customer,
            appTransactionID: BoxMachine.appTransactionID(of: customer), group: group,
            sharedFrom: originalTransactionID, appAccountToken: appAccountToken, storefront: storefront,
            originalPurchasedAt: now, startedAt: now, productID: productID, nextProductID: nextProductID,
            currentTransactionID: id, currency: currency, renewalPrice: renewalPrice, priceIncrease: priceIncrease,
            anchor: anchor, periods: periods, expiresAt: expiresAt, state: state, willRenew: willRenew,
            failsWithGrace: failsWithGrace, graceEndsAt: graceEndsAt, expirationIntent: expirationIntent,
            signedAt: signedAt)
    }
}
