package import Domain
import ProviderKit
import Store

/// A subscription that runs elsewhere, to be renewed here from its next period on.
package struct ImportedSubscription: Sendable {
    /// The id that it has there; the same id on the account again is the same subscription.
    package var externalID: String
    package var user: ExternalUserID
    package var sku: String
    package var account: String
    package var reference: String
    package var customer: String?
    /// The start of the running period; nil for now.
    package var periodStart: Timestamp?
    package var periodEnd: Timestamp
    /// The price of a period; nil for the SKU's.
    package var price: Money?

    package init(
        externalID: String, user: ExternalUserID, sku: String, account: String, reference: String, customer: String?,
        periodStart: Timestamp?, periodEnd: Timestamp, price: Money?
    ) {
        self.externalID = externalID
        self.user = user
        self.sku = sku
        self.account = account
        self.reference = reference
        self.customer = customer
        self.periodStart = periodStart
        self.periodEnd = periodEnd
        self.price = price
    }
}

/// Takes over subscriptions whose mandates were given elsewhere.
package struct SubscriptionImport: Sendable {
    let settlements: SettlementRunner

    /// A subscription to import with what it needs here.
    private struct Checked: Sendable {
        let sku: SKU
        let code: SKUCode
        let period: BillingPeriod
        let account: ConfiguredAccount
        let price: Money
    }

    /// Imports a subscription after its provider has verified the mandate.
    ///
    /// - Parameter isDry: true to check everything and write nothing.
    /// - Throws: `invalidRequest` naming `account`, `sku`, `price`, `period_end` or `mandate`; `conflict` where another
    ///   subscription of the group runs; `providerUnavailable`.
    package func run(
        _ imported: ImportedSubscription, isDry: Bool, context: CallContext
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        if let known = try await known(imported) { return known }
        let checked = try await check(imported)
        let id: ID<Subscription> = settlements.ids.make()
        let mandate = try await verify(imported, id, at: checked.account)
        if isDry {
            return try await settlements.tryOut(context.audit) { settlement in
                try Self.write(imported, checked, id, mandate, settlement)
            }
        }
        return try await settlements.run(context.audit) { settlement in
            try Self.write(imported, checked, id, mandate, settlement)
        }
    }

    /// The subscription that was imported under the same id before, whatever has become of it since.
    private func known(_ imported: ImportedSubscription) async throws(GatewayError) -> SubscriptionSnapshot? {
        guard let account = AccountID(imported.account) else { return nil }
        let now = settlements.time.now
        return try await settlements.store.read { db in
            try db.managedSubscriptions.find(at: account, external: imported.externalID).map {
                try ManagedSnapshots.load($0, from: db, at: now)
            }
        }
    }

    private func check(_ imported: ImportedSubscription) async throws(GatewayError) -> Checked {
        func fault(_ field: String, _ reason: LocalizedText) -> GatewayError {
            .invalidRequest(field: field, reason: reason)
        }
        guard (1...255).contains(imported.externalID.utf8.count) else {
            throw fault("external_id", "must have 1 to 255 bytes")
        }
        guard let account = AccountID(imported.account).flatMap({ settlements.providers.registry[$0] }),
            account.manifest.mandates, account.provider is any MandateCharging
        else { throw fault("account", "is no account that charges mandates") }
        guard let code = SKUCode(imported.sku),
            let sku = try await settlements.store.read({ db in try db.skus.find(code) }), sku.renewal == .managed,
            let period = sku.period
        else { throw fault("sku", "is no managed SKU") }
        guard imported.periodEnd > settlements.time.now else { throw fault("period_end", "must lie ahead") }
        if let start = imported.periodStart, start >= imported.periodEnd {
            throw fault("period_start", "must come before period_end")
        }
        guard let price = imported.price ?? sku.prices.first, price.value > 0,
            account.provider.amountFault(price) == nil
        else { throw fault("price", "cannot be charged through this account") }
        return Checked(sku: sku, code: code, period: period, account: account, price: price)
    }

    private func verify(
        _ imported: ImportedSubscription, _ id: ID<Subscription>, at account: ConfiguredAccount
    ) async throws(GatewayError) -> ProviderMandate {
        let reference = MandateReference(
            subscription: id, reference: imported.reference, customer: imported.customer, ownsCustomer: false)
        let client = settlements.providers.client(of: account)
        do throws(ProviderError) {
            return try await client.withMandates { provider throws(ProviderError) in
                try await provider.verify(reference)
            }
        } catch {
            switch error {
            case .rejected, .unfit, .unsupported:
                throw .invalidRequest(field: "mandate", reason: "is not known to the provider")
            case .unavailable, .outcomeUnknown, .unproven: throw .providerUnavailable
            }
        }
    }

    private static func write(
        _ imported: ImportedSubscription, _ checked: Checked, _ id: ID<Subscription>, _ mandate: ProviderMandate,
        _ settlement: Settlement
    ) throws -> SubscriptionSnapshot {
        let (tx, managed, now) = (settlement.tx, settlement.managed, settlement.now)
        let user = try tx.users.ensure(imported.user, candidate: settlement.ids.make(), at: now)
        try tx.users.lock(user)
        let environment = checked.account.environment
        if let running = try tx.managedSubscriptions.findRunning(of: user, environment, group: checked.sku.stackGroup) {
            throw GatewayError.conflict(
                reason: "a subscription of the group runs already", resource: running.subscription.id.rawValue)
        }
        let terms = checked.sku.terms(days: nil, quantity: 1)
        let start = imported.periodStart ?? now
        var subscription = ManagedSubscription(
            id: id, user: user, environment: environment, sku: checked.code, stackGroup: checked.sku.stackGroup,
            terms: terms, account: checked.account.id, price: checked.price, period: checked.period, trialDays: 0,
            graceDays: checked.sku.graceDays, anchor: PeriodAnchor(at: imported.periodEnd, index: 1),
            periodStart: start, periodEnd: imported.periodEnd, partner: nil, createdAt: now)
        var record = ManagedSubscriptionRecord(subscription)
        record.externalID = imported.externalID
        try tx.managedSubscriptions.insert(record)
        subscription.state = .running
        record.subscription = subscription
        var order = Order(
            id: settlement.ids.make(), user: user, origin: .history, sku: checked.code, quantity: 1, terms: terms,
            days: nil, amount: checked.price, state: .paid, platform: .web, environment: environment, partner: nil,
            returnURL: nil, metadata: [:], createdAt: now, expiresAt: now, paidAt: start)
        order.period = Order.SubscriptionPeriod(subscription: id, index: 0)
        try tx.orders.insert(order)
        try tx.orders.setPeriod(from: start, to: imported.periodEnd, of: order.id)
        try settlement.log.appendTimeline(order, "order.imported", imported.externalID)
        try settlement.log.audit(order, "order.imported", before: "", after: id.rawValue, isNew: true)
        try managed.keep(mandate, for: subscription, ownsCustomer: false)
        let claims = TrialClaims(secrets: managed.billing.secrets)
        _ = try tx.managedSubscriptions.claimTrial(claims.claim(of: user, subscription))
        var standing = try ManagedSubscriptionLedger.standing(record, in: tx)
        standing.record = record
        if let overlap = try managed.overlap(of: subscription) { standing.subscription.cancellation = overlap }
        let (opening, cancellation) = (
            SubscriptionOpening(subscription, importedAs: imported.externalID), standing.subscription.cancellation
        )
        let facts = SubscriptionEntryFacts {
            $0.opening = opening
            $0.order = order.id
            $0.cancellation = cancellation
        }
        try managed.save(standing, .imported, facts)
        guard let saved = try tx.managedSubscriptions.find(id) else { throw GatewayError.internalError }
        return try ManagedSnapshots.load(saved, from: tx, at: now)
    }
}
