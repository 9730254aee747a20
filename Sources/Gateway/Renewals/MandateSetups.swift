import Domain
import Logging
import ProviderKit
import Store

/// A set-up with what its contract says.
struct OpenedSetupRecord: Sendable {
    let setup: SetupRecord
    let subscription: ManagedSubscription
    /// The order of a trial, or the newest of the subscription's.
    let order: ID<Order>?
    let nextAmount: Money

    static func load(_ setup: SetupRecord, from db: any Database) throws -> OpenedSetupRecord? {
        guard let record = try db.managedSubscriptions.find(setup.subscription) else { return nil }
        let change = try ManagedSnapshots.announced(record, from: db)
        return OpenedSetupRecord(
            setup: setup, subscription: record.subscription,
            order: try setup.order ?? db.managedSubscriptions.orders(of: setup.subscription, limit: 1).last,
            nextAmount: ManagedSnapshots.nextAmount(record.subscription, change))
    }

    /// Loads the set-up of a trial's order that is not final.
    static func waiting(for order: Order, from db: any Database) throws -> OpenedSetupRecord? {
        guard order.mayHaveSetup, let setup = try db.setups.find(of: order.id), !setup.state.isFinal else { return nil }
        return try load(setup, from: db)
    }
}

/// Opens, asks about and revokes mandates at their providers.
struct MandateSetups: Sendable {
    let settlements: SettlementRunner
    let contracts: Contracts
    let logger: Logger

    /// The seconds between two queries about a set-up that waits for its payer.
    private static let interval: Int64 = 3_600

    private var store: StoreAccess { settlements.store }
    private var providers: ProviderCalling { settlements.providers }

    // MARK: Opening

    /// Opens a set-up whose intent is durable, and returns its contract.
    ///
    /// - Throws: `providerRejected`, `providerUnavailable`.
    func open(_ intent: SetupIntent, audit: AuditContext) async throws(GatewayError) -> PaymentContract {
        guard let account = providers.registry[intent.setup.account] else { throw .providerUnavailable }
        let attempt = try await attempt(intent, account)
        return try await providers.complete { () async throws(GatewayError) in
            try await callAndRecord(attempt, account, audit: audit)
        }
    }

    /// Continues with the set-up of a trial's order that an earlier run made; nil where there is none.
    func resume(of order: ID<Order>, audit: AuditContext) async throws(GatewayError) -> PaymentContract? {
        let found = try await store.read { db in
            try db.setups.find(of: order).flatMap { try OpenedSetupRecord.load($0, from: db) }
        }
        guard let found else { return nil }
        if found.setup.instruction != nil || found.setup.state.isFinal { return try contracts.contract(found) }
        return try await open(SetupIntent(setup: found.setup, subscription: found.subscription), audit: audit)
    }

    private func attempt(
        _ intent: SetupIntent, _ account: ConfiguredAccount
    ) async throws(GatewayError) -> SetupAttempt {
        let (setup, subscription) = (intent.setup, intent.subscription)
        let (opened, active) = try await store.read { db in
            (try OpenedSetupRecord.load(setup, from: db), try db.mandates.findActive(of: subscription.id))
        }
        guard let opened else { throw .notFound }
        let terms = RecurringContract(
            subscription, setup: setup.id, nextAmount: opened.nextAmount, madeAt: setup.createdAt
        ).terms
        let customer = active.flatMap { try? settlements.billing.secrets.open($0).customer }
        return SetupAttempt(
            setup: setup.id, subscription: subscription.id, customer: customer, currency: subscription.price.currency,
            title: subscription.terms.name.isBlank ? subscription.sku.rawValue : subscription.terms.name, terms: terms,
            platform: setup.platform, returnURL: setup.returnURL,
            expiresAt: account.manifest.followsBusinessTime
                ? setup.expiresAt : settlements.time.realTime(of: setup.expiresAt),
            accepts: setup.accepts)
    }

    private func callAndRecord(
        _ attempt: SetupAttempt, _ account: ConfiguredAccount, audit: AuditContext
    ) async throws(GatewayError) -> PaymentContract {
        let opened: OpenedSetup
        do throws(ProviderError) {
            opened = try await providers.client(of: account).withMandates { provider throws(ProviderError) in
                try await provider.setUp(attempt)
            }
        } catch {
            switch error {
            case .rejected(let reason), .unfit(let reason):
                try await record(.failed(reason: reason), of: attempt.setup, at: account.id, audit)
                throw .providerRejected(reason: reason)
            case .unsupported:
                try await record(.failed(reason: "unsupported"), of: attempt.setup, at: account.id, audit)
                throw .providerRejected(reason: "unsupported")
            case .outcomeUnknown, .unproven:
                try await settlements.run(audit) { try $0.managed.markUnknown(attempt.setup) }
                throw .providerUnavailable
            case .unavailable: throw .providerUnavailable
            }
        }
        let keyRing = contracts.keyRing
        let found = try await settlements.run(audit) { settlement -> OpenedSetupRecord? in
            let sealed = try SealedInstruction.seal(opened.instruction, ofSetup: attempt.setup, by: keyRing)
            try settlement.tx.setups.setInstruction(sealed, reference: opened.reference, of: attempt.setup)
            let report = SetupReport(setup: attempt.setup, outcome: .pending, reference: opened.reference)
            _ = try settlement.managed.apply(report, from: account.id)
            return try settlement.tx.setups.find(attempt.setup).flatMap {
                try OpenedSetupRecord.load($0, from: settlement.tx)
            }
        }
        guard let found else { throw .notFound }
        return try contracts.contract(found)
    }

    private func record(
        _ outcome: SetupOutcome, of setup: ID<Setup>, at account: AccountID, _ audit: AuditContext
    ) async throws(GatewayError) {
        _ = try await settlements.run(audit) {
            try $0.managed.apply(SetupReport(setup: setup, outcome: outcome), from: account)
        }
    }

    // MARK: Jobs

    /// Queries a set-up that is not final, or cancels it where it has expired, its order is closed or its subscription
    /// has ended.
    func reconcile(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        let now = settlements.time.now
        guard let id = ID<Setup>(job.subject),
            let (found, isClosed) = try await store.read({ db -> (OpenedSetupRecord, Bool)? in
                guard let setup = try db.setups.find(id), !setup.state.isFinal,
                    let found = try OpenedSetupRecord.load(setup, from: db)
                else { return nil }
                let order = try setup.order.flatMap { try db.orders.find($0) }
                return (found, order?.state == .closed)
            })
        else { return .done }
        let isOver = isClosed || found.subscription.state == .ended || found.setup.expiresAt <= now
        guard try await settle(found, cancels: isOver, audit: job.audit) else { return .pending }
        try await store.write { tx in
            try tx.setups.setNextLook(now.adding(seconds: Self.interval), of: id)
        }
        return .done
    }

    /// Cancels the set-up of a subscription that is not final, where there is one.
    ///
    /// - Returns: false where its provider did not answer.
    func cancelOpen(of subscription: ID<Subscription>, audit: AuditContext) async throws(GatewayError) -> Bool {
        let open = try await store.read { db in
            try db.setups.findOpen(of: subscription).flatMap { try OpenedSetupRecord.load($0, from: db) }
        }
        guard let open else { return true }
        return try await settle(open, cancels: true, audit: audit)
    }

    /// Queries or cancels a set-up and records the answer.
    ///
    /// - Returns: false where its provider did not answer.
    func settle(
        _ found: OpenedSetupRecord, cancels: Bool, audit: AuditContext
    ) async throws(GatewayError) -> Bool {
        guard let account = providers.registry[found.setup.account] else { return false }
        let reference = SetupReference(
            setup: found.setup.id, subscription: found.subscription.id, reference: found.setup.reference)
        let report = await providers.perform { () async -> SetupReport? in
            let client = providers.client(of: account)
            return try? await client.withMandates { provider throws(ProviderError) in
                cancels
                    ? try await provider.cancel(setup: reference) : try await provider.query(setup: reference)
            }
        }
        guard let report, report.setup == found.setup.id else { return false }
        _ = try await settlements.run(audit) { try $0.managed.apply(report, from: account.id) }
        return true
    }

    /// Revokes a mandate at its provider.
    func revoke(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Mandate>(job.subject),
            let mandate = try await store.read({ db in try db.mandates.find(id) }), mandate.state == .revoking
        else { return .done }
        guard let account = providers.registry[mandate.account],
            let opened = try? settlements.billing.secrets.open(mandate)
        else { return .pending }
        let others = try await store.read { db in
            try db.mandates.list(of: mandate.subscription).filter { $0.id != id && $0.state == .active }
        }
        let reference = MandateReference(
            subscription: opened.subscription, reference: opened.reference, customer: opened.customer,
            ownsCustomer: opened.ownsCustomer && others.isEmpty)
        // The payer may have given the same means of payment again.
        let isInUse = others.contains {
            (try? settlements.billing.secrets.open($0).reference) == opened.reference
        }
        let isRevoked =
            isInUse
            ? true
            : await providers.perform { () async -> Bool in
                let client = providers.client(of: account)
                do throws(ProviderError) {
                    try await client.withMandates { provider throws(ProviderError) in
                        try await provider.revoke(reference)
                    }
                    return true
                } catch {
                    return error == .unsupported
                }
            }
        guard isRevoked else { return .pending }
        try await store.write { tx in _ = try tx.mandates.move(id, from: .revoking, to: .revoked) }
        return .done
    }
}
