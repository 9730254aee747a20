package import Domain
import ProviderKit
import Store

/// The person on whose behalf a subscription is acted on.
package enum SubscriptionActor: Sendable {
    case user(ExternalUserID)
    case admin
}

/// Acts of users and admins about subscriptions that Paydesk renews itself.
///
/// Every act takes effect under the lock of the user, so that it comes before or after a renewal, never within it.
package struct SubscriptionActs: Sendable {
    let settlements: SettlementRunner
    let setups: MandateSetups
    let cashier: Cashier
    let refunds: Refunds

    /// The whole refund or the share of an act that ends a subscription now.
    package enum RefundChoice: String, Sendable, CaseIterable {
        case none, prorated, full
    }

    /// The time at which an admin's cancellation ends a subscription.
    package enum CancelTime: String, Sendable, CaseIterable {
        case periodEnd = "period_end"
        case now
    }

    private static let storeRenews = "managed_by_app_store"

    // MARK: Users

    /// Ends a subscription at the end of its period; in dunning at once, unless a charge is under way.
    ///
    /// - Throws: `notFound`, `subscriptionIs` where it has ended, `providerRejected` for a store's.
    package func cancel(
        _ id: String, by actor: SubscriptionActor, context: CallContext
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        try await act(id, by: actor, context) { managed, standing in
            guard standing.subscription.cancellation != .canceled else { return }
            let isDue = managed.log.now >= standing.subscription.periodEnd
            guard isDue, !standing.facts.isCharging else {
                var changed = standing
                changed.subscription.cancellation = .canceled
                return try managed.save(changed, .cancelRequested)
            }
            let goesOn = standing.subscription.isUndecided(standing.facts)
            try managed.end(standing, .canceled, at: goesOn ? managed.log.now : standing.subscription.periodEnd)
        }
    }

    /// Takes a cancellation back before the period's end.
    ///
    /// - Throws: those of ``cancel(_:by:context:)``; `subscriptionIs` when the period has ended; `alreadyOwned` while
    ///   another subscription of the group runs.
    package func resume(
        _ id: String, by actor: SubscriptionActor, context: CallContext
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        try await act(id, by: actor, context) { managed, standing in
            var changed = standing
            guard managed.log.now < standing.subscription.periodEnd else {
                throw GatewayError.subscriptionIs(
                    standing.subscription.status(at: managed.log.now, standing.facts),
                    reason: "the period has ended")
            }
            guard standing.subscription.cancellation != nil else { return }
            try managed.refuseOther(beside: standing.subscription)
            changed.subscription.cancellation = nil
            try managed.save(changed, .resumed)
        }
    }

    /// Asks for another plan from the next period on; the present plan takes the change back.
    ///
    /// - Throws: `invalidRequest` naming `sku` or `currency`, `subscriptionIs` in dunning or where it will not renew.
    package func change(
        _ id: String, to sku: String, by actor: SubscriptionActor, context: CallContext
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        try await act(id, by: actor, context) { managed, standing in
            var changed = standing
            let subscription = standing.subscription
            guard subscription.willRenew, subscription.failedAt == nil, !standing.facts.hasOpenOrder else {
                throw GatewayError.subscriptionIs(
                    subscription.status(at: managed.log.now, standing.facts),
                    reason: "a plan is changed only while the subscription renews")
            }
            if sku == subscription.sku.rawValue {
                guard subscription.change != nil else { return }
                changed.subscription.change = nil
                return try managed.save(changed, .changeDropped)
            }
            let change = try managed.frozenPlan(sku, for: subscription)
            guard change != subscription.change else { return }
            changed.subscription.change = change
            try managed.save(changed, .changeRequested, SubscriptionEntryFacts { $0.plan = change })
        }
    }

    /// Opens a set-up that replaces the payment method; an open one with the same wishes is answered again.
    ///
    /// - Throws: those of ``cancel(_:by:context:)``; `noProviderAvailable` where the client accepts no contract type of
    ///   the subscription's account.
    package func replacePaymentMethod(
        _ id: String, _ request: RetryRequest, by actor: SubscriptionActor, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        try cashier.check(request)
        for _ in 0..<2 {
            let found = try await running(id, by: actor)
            try requireContract(for: request, at: found.subscription.account)
            guard let open = try await openSetup(of: found.subscription.id) else { break }
            let isSame =
                open.setup.platform == request.platform && open.setup.accepts == request.accept
                && open.setup.returnURL == request.returnURL
            if isSame, open.setup.instruction != nil { return try setups.contracts.contract(open) }
            // Fenced first, so that the earlier page can change nothing.
            guard try await setups.settle(open, cancels: true, audit: context.audit) else {
                throw .providerUnavailable
            }
        }
        let intent = try await settlements.run(context.audit) { settlement -> SetupIntent in
            let standing = try Self.lock(id, actor, in: settlement)
            guard standing.subscription.state == .running else { throw Self.refusal(standing, settlement.now) }
            guard try settlement.tx.setups.findOpen(of: standing.subscription.id) == nil else {
                throw GatewayError.requestInProgress
            }
            return try settlement.managed.intend(
                .replace, standing.subscription, nil, request, until: settlement.now.adding(seconds: 86_400))
        }
        return try await setups.open(intent, audit: context.audit)
    }

    /// - Throws: `noProviderAvailable` where the client accepts no contract type of an account.
    private func requireContract(for request: RetryRequest, at account: AccountID) throws(GatewayError) {
        guard let provider = settlements.providers.registry[account]?.provider else { return }
        let fitting = provider.contractTypes.intersection(request.accept).filter { $0.fits(request.platform) }
        guard fitting.isEmpty else { return }
        throw .noProvider(NoProvider(reason: .accept, accounts: []))
    }

    /// The contract of the open set-up that replaces the payment method.
    ///
    /// - Throws: `notFound` where none is open.
    package func paymentMethodContract(
        _ id: String, by actor: SubscriptionActor
    ) async throws(GatewayError) -> PaymentContract {
        let found = try await read(id, by: actor)
        guard let open = try await openSetup(of: found.subscription.id) else { throw .unknown(.contract, id) }
        return try setups.contracts.contract(open)
    }

    /// Opens a payment on session of a renewal that was refused.
    ///
    /// - Throws: `subscriptionIs` where no renewal is open, `requestInProgress` while its charge is under way.
    package func pay(
        _ id: String, _ request: RetryRequest, by actor: SubscriptionActor, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        let found = try await running(id, by: actor)
        guard let order = found.openOrder else {
            throw .subscriptionIs(
                found.subscription.status(at: settlements.time.now, found.facts), reason: "no renewal is open")
        }
        guard !found.facts.isCharging else { throw .requestInProgress }
        guard
            let user = try await settlements.store.read({ db in
                try db.users.findExternalID(found.subscription.user)
            })
        else { throw .unknown(.subscription, id) }
        return try await cashier.payRenewal(order, request, user: ExternalUserID(user), context: context)
    }

    // MARK: Reading

    /// - Throws: `notFound`, `subscriptionIs` where it has ended, `providerRejected` for a store's.
    package func requireRunning(_ id: String, by actor: SubscriptionActor) async throws(GatewayError) {
        _ = try await running(id, by: actor)
    }

    func openSetup(of id: ID<Subscription>) async throws(GatewayError) -> OpenedSetupRecord? {
        try await settlements.store.read { db in
            try db.setups.findOpen(of: id).flatMap { try OpenedSetupRecord.load($0, from: db) }
        }
    }

    func read(
        _ id: String, by actor: SubscriptionActor
    ) async throws(GatewayError) -> ManagedSubscriptionLedger.Standing {
        let found = try await settlements.store.read { db -> ManagedSubscriptionLedger.Standing? in
            guard let record = try Self.find(id, actor, in: db) else { return nil }
            return try ManagedSubscriptionLedger.standing(record, in: db)
        }
        guard let found else { throw .unknown(.subscription, id) }
        return found
    }

    private func running(
        _ id: String, by actor: SubscriptionActor
    ) async throws(GatewayError) -> ManagedSubscriptionLedger.Standing {
        let found = try await read(id, by: actor)
        guard found.subscription.state == .running else { throw Self.refusal(found, settlements.time.now) }
        return found
    }

    /// - Throws: `providerRejected` for a store's subscription.
    private static func find(
        _ text: String, _ actor: SubscriptionActor, in db: any Database
    ) throws -> ManagedSubscriptionRecord? {
        guard let id = ID<Subscription>(text) else { return nil }
        var user: ID<User>?
        if case .user(let name) = actor {
            guard let known = try db.users.findID(name) else { return nil }
            user = known
        }
        guard let record = try db.managedSubscriptions.find(id) else {
            guard let stored = try db.subscriptions.find(id),
                try user.map({ try db.subscriptions.isHolder($0, of: stored) }) ?? true
            else { return nil }
            throw GatewayError.providerRejected(reason: storeRenews)
        }
        guard record.subscription.hasBegun, user == nil || record.subscription.user == user else {
            return nil
        }
        return record
    }

    private static func refusal(_ standing: ManagedSubscriptionLedger.Standing, _ now: Timestamp) -> GatewayError {
        .subscriptionIs(standing.subscription.status(at: now, standing.facts), reason: "the subscription has ended")
    }

    /// Locks the user, then the subscription.
    static func lock(
        _ text: String, _ actor: SubscriptionActor, in settlement: Settlement
    ) throws -> ManagedSubscriptionLedger.Standing {
        guard let record = try find(text, actor, in: settlement.tx) else {
            throw GatewayError.unknown(.subscription, text)
        }
        try settlement.tx.users.lock(record.subscription.user)
        guard let standing = try settlement.managed.lock(record.subscription.id) else {
            throw GatewayError.unknown(.subscription, text)
        }
        return standing
    }

    /// Runs an act on a running subscription, and answers its snapshot.
    func act(
        _ id: String, by actor: SubscriptionActor, _ context: CallContext,
        _ body: @escaping @Sendable (ManagedSubscriptionLedger, ManagedSubscriptionLedger.Standing) throws -> Void
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        try await settlements.run(context.audit) { settlement in
            let standing = try Self.lock(id, actor, in: settlement)
            let resumed = context.resumed == standing.subscription.id.rawValue
            guard standing.subscription.state == .running || resumed else {
                throw Self.refusal(standing, settlement.now)
            }
            if !resumed {
                try settlement.tx.bind(context, to: standing.subscription.id.rawValue)
                try body(settlement.managed, standing)
            }
            guard let record = try settlement.tx.managedSubscriptions.find(standing.subscription.id) else {
                throw GatewayError.unknown(.subscription, id)
            }
            return try ManagedSnapshots.load(record, from: settlement.tx, at: settlement.now)
        }
    }
}

extension ManagedSubscriptionLedger {
    /// Refuses to go on beside another running subscription of the group.
    func refuseOther(beside subscription: ManagedSubscription) throws {
        let holdings = try GroupHoldings(of: subscription.user, subscription.environment, in: tx)
        guard let grant = try holdings.storeSubscription(of: subscription.stackGroup, at: log.now) else { return }
        let stored = try tx.subscriptions.find(subscription.environment, original: grant.source.id, holder: nil)
        guard let stored else { throw GatewayError.alreadyOwned }
        throw GatewayError.subscriptionRuns(stored.id, .appStore)
    }

    /// Freezes the price and the terms of another plan of the group.
    ///
    /// - Throws: `invalidRequest` naming `sku` or `currency`.
    func frozenPlan(_ id: String, for subscription: ManagedSubscription) throws -> ManagedSubscription.Change {
        guard let code = SKUCode(id), let sku = try tx.skus.find(code), sku.active, sku.renewal == .managed,
            sku.stackGroup == subscription.stackGroup, let period = sku.period
        else {
            throw GatewayError.invalidRequest(
                field: "sku", reason: "must be an active, managed SKU of the subscription's group")
        }
        guard let price = sku.prices.first(where: { $0.currency == subscription.price.currency }) else {
            throw GatewayError.invalidRequest(
                field: "currency", reason: "\(id) has no price in the subscription's currency")
        }
        guard entitlements.registry[subscription.account]?.provider.amountFault(price) == nil else {
            throw GatewayError.invalidRequest(field: "sku", reason: "cannot be charged through this account")
        }
        var terms = sku.terms(days: nil, quantity: 1)
        if let locale = subscription.locale { terms.name = sku.localized(for: [locale]).name }
        return ManagedSubscription.Change(
            sku: code, terms: terms, price: price, period: period, graceDays: sku.graceDays)
    }
}
