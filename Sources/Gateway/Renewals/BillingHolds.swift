package import Domain
import Logging
import ProviderKit
import Store

/// The state of the hold of renewals, as admins see it.
package struct BillingState: Encodable, Sendable {
    package struct Hold: Encodable, Sendable {
        let since: Timestamp
        package let reason: String
        /// The renewals that wait for its end.
        package let due: Int64
        /// The subscriptions whose provider was not asked yet what it charged.
        let unchecked: Int64
    }

    @Nullable package var hold: Hold?
}

/// Holds every charge of a mandate, after a database was restored that does not know what the last days charged.
package struct BillingHolds: Sendable {
    let settlements: SettlementRunner
    let meter: RenewalMeter
    let logger: Logger

    private static let page: Int64 = 100

    private var store: StoreAccess { settlements.store }

    package func read() async throws(GatewayError) -> BillingState {
        let now = settlements.time.now
        return try await store.report { db in try Self.state(in: db, at: now) }
    }

    private static func state(in db: any Database, at now: Timestamp) throws -> BillingState {
        guard let hold = try db.billingHold.find() else { return BillingState(hold: nil) }
        return BillingState(
            hold: BillingState.Hold(
                since: hold.since, reason: hold.reason, due: try db.billingHold.countDue(at: now),
                unchecked: try db.billingHold.countUnchecked(since: hold.since)))
    }

    /// Begins a hold; one that is there keeps its beginning.
    package func begin(reason: String, context: CallContext) async throws(GatewayError) -> BillingState {
        let state = try await settlements.run(context.audit) { settlement in
            try settlement.tx.billingHold.begin(at: settlement.now, reason: reason)
            try settlement.tx.jobs.ensure(
                settlement.ids.make(), kind: JobKind.checkHeldCharges.rawValue, subject: "", at: settlement.now)
            settlement.followUps.wakeWorkers()
            try settlement.log.audit(subject: "billing", "billing.held", before: "", after: "held", reason: reason)
            return try Self.state(in: settlement.tx, at: settlement.now)
        }
        meter.setHeld(true)
        return state
    }

    /// Ends a hold.
    ///
    /// - Parameter acceptsUnchecked: true to end it although some providers were not asked.
    /// - Throws: `chargesUnchecked`.
    package func end(acceptsUnchecked: Bool, context: CallContext) async throws(GatewayError) -> BillingState {
        let state = try await settlements.run(context.audit) { settlement -> BillingState in
            guard let hold = try settlement.tx.billingHold.find() else { return BillingState(hold: nil) }
            let unchecked = try settlement.tx.billingHold.countUnchecked(since: hold.since)
            guard unchecked == 0 || acceptsUnchecked else { throw GatewayError.chargesUnchecked(unchecked) }
            try settlement.tx.billingHold.release(hold, at: settlement.now)
            try settlement.log.audit(subject: "billing", "billing.released", before: "held", after: "")
            return BillingState(hold: nil)
        }
        meter.setHeld(false)
        return state
    }

    /// Asks the providers of the running subscriptions for charges that the database does not know, and adopts them.
    func check(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        var last = ""
        var isComplete = true
        while true {
            let cursor = last
            let page = try await store.read { db -> (BillingHold, Timestamp?, [ManagedSubscriptionRecord])? in
                guard let hold = try db.billingHold.find() else { return nil }
                return (
                    hold, try db.billingHold.newestFact(),
                    try db.billingHold.listUnchecked(since: hold.since, after: cursor, limit: Self.page)
                )
            }
            guard let (hold, newest, records) = page else { return .done }
            guard let end = records.last else { return isComplete ? .done : .pending }
            last = end.subscription.id.rawValue
            for record in records {
                try JobLease.requireRunning()
                let since = min(newest ?? record.subscription.createdAt, hold.since)
                if try await !ask(record, since: since, audit: job.audit) { isComplete = false }
            }
        }
    }

    /// - Returns: false where the provider did not answer; a subscription whose account cannot list stays unchecked.
    private func ask(
        _ record: ManagedSubscriptionRecord, since: Timestamp, audit: AuditContext
    ) async throws(GatewayError) -> Bool {
        let id = record.subscription.id
        guard let account = settlements.providers.registry[record.subscription.account] else { return true }
        let mandate = try await store.read { db in try db.mandates.list(of: id).last }
        guard let opened = mandate.flatMap({ try? settlements.billing.secrets.open($0) }) else { return true }
        let client = settlements.providers.client(of: account)
        let listed = await settlements.providers.perform { () async -> Result<[MandateChargeReport]?, ProviderError> in
            do throws(ProviderError) {
                return .success(
                    try await client.withMandates { provider throws(ProviderError) in
                        try await provider.charges(of: opened, since: since)
                    })
            } catch {
                return .failure(error)
            }
        }
        guard case .success(let charges) = listed else { return false }
        guard let charges else { return true }
        try await settlements.run(audit) { settlement in
            for charge in charges { try settlement.managed.adopt(charge, of: id, settlement.payments) }
            try settlement.tx.billingHold.markChecked(id, at: settlement.now)
        }
        return true
    }
}

extension ManagedSubscriptionLedger {
    /// Adopts a charge that a provider made for a period that is not paid here, under the ids in its metadata.
    func adopt(_ charge: MandateChargeReport, of id: ID<Subscription>, _ payments: PaymentLedger) throws {
        guard let user = try tx.managedSubscriptions.find(id)?.subscription.user else { return }
        try tx.users.lock(user)
        guard let standing = try lock(id), standing.subscription.state == .running,
            charge.periodIndex == standing.subscription.periodIndex + 1,
            try tx.payments.find(charge.payment).value() == nil
        else { return }
        let subscription = standing.subscription
        let order: Order
        if let open = try standing.openOrder.flatMap({ try tx.orders.lock($0) }) {
            order = open
        } else {
            guard try tx.orders.find(charge.order) == nil else { return }
            order = try renewalOrder(charge.order, of: subscription, amount: charge.amount)
            try tx.orders.insert(order)
            try log.appendTimeline(order, "order.adopted", charge.payment.rawValue)
            try log.audit(order, "order.adopted", before: "", after: charge.payment.rawValue, isNew: true)
        }
        let payment = Payment(
            id: charge.payment, order: order.id, account: subscription.account, amount: charge.amount,
            platform: order.platform, returnURL: nil, environment: subscription.environment, createdAt: log.now)
        try tx.payments.insert(payment, recurring: true, accepts: [])
        try log.appendTimeline(order, "payment.created", "\(payment.id) \(subscription.account.rawValue)")
        guard let locked = try LockedPayment.lock(payment.id, in: tx) else { return }
        try payments.apply(
            PaymentReport(payment: payment.id, outcome: .succeeded(charge.amount), reference: charge.reference),
            from: subscription.account, to: locked)
    }
}
