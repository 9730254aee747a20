import Domain
import ProviderKit
import Store

/// Work that follows from a transaction and happens after its commit, outside of the database.
final class FollowUps {
    /// The refunds that a policy decided; their intents are in the transaction.
    private(set) var refunds: [ID<Refund>] = []
    /// True where a job was made that should not wait for the next search for work.
    private(set) var wakesWorkers = false

    func send(_ refund: ID<Refund>) { refunds.append(refund) }

    func wakeWorkers() { wakesWorkers = true }
}

/// A transaction that applies facts to payments, orders, purchases and entitlements, through a ledger for each subject.
///
/// Locks are taken in this order: original transactions of a store, users, order, payment. A duplicate changes nothing; a
/// fact that contradicts a stored state is recorded as an anomaly and overwrites nothing. Every change writes its event
/// and its audit entry.
struct Settlement {
    var log: ChangeLog
    let followUps = FollowUps()
    private let policies: OrderPolicies
    private let registry: ProviderRegistry
    private let ownershipRules: OwnershipRules
    private let billing: Billing

    init(
        tx: any Transaction, ids: IDSource, now: Timestamp, policies: OrderPolicies, registry: ProviderRegistry,
        context: AuditContext, ownership: OwnershipRules = OwnershipRules(), billing: Billing
    ) {
        log = ChangeLog(tx: tx, ids: ids, now: now, context: context)
        self.policies = policies
        self.registry = registry
        ownershipRules = ownership
        self.billing = billing
    }

    var tx: any Transaction { log.tx }
    var ids: IDSource { log.ids }
    var now: Timestamp { log.now }

    var entitlements: EntitlementLedger {
        EntitlementLedger(log: log, registry: registry, billing: billing, followUps: followUps)
    }
    /// The subscriptions that Paydesk renews itself.
    var managed: ManagedSubscriptionLedger { entitlements.managed }
    var refunds: RefundLedger { RefundLedger(log: log, entitlements: entitlements) }
    var disputes: DisputeLedger { DisputeLedger(log: log, refunds: refunds, entitlements: entitlements) }
    var payments: PaymentLedger {
        PaymentLedger(
            log: log, policies: policies, followUps: followUps, refunds: refunds, entitlements: entitlements)
    }
    var subscriptions: SubscriptionLedger { SubscriptionLedger(log: log, entitlements: entitlements) }
    var ownership: PurchaseOwnership {
        PurchaseOwnership(log: log, rules: ownershipRules, entitlements: entitlements)
    }
    var purchases: PurchaseLedger {
        let (entitlements, subscriptions) = (entitlements, subscriptions)
        let orders = PurchaseOrders(log: log, payments: payments)
        return PurchaseLedger(
            log: log, registry: registry, ownership: ownership, orders: orders,
            grants: PurchaseGrants(
                log: log, orders: orders, entitlements: entitlements, subscriptions: subscriptions),
            subscriptions: subscriptions, entitlements: entitlements)
    }

    /// The tokens of purchases outside of the App Store.
    var external: ExternalPurchaseLedger {
        ExternalPurchaseLedger(log: log, registry: registry, followUps: followUps)
    }

    /// Applies a provider's fact about a payment, refund or dispute; a store's statement is left to ``PurchaseLedger``.
    ///
    /// - Parameter isStored: true for a fact of a stored notification. Other facts are stored here, so that a rebuild
    ///   has all of them.
    /// - Returns: false where the payment is unknown; then nothing is changed.
    func apply(_ fact: ProviderFact, from account: AccountID, isStored: Bool = false) throws -> Bool {
        switch fact {
        case .setup(let report): return try managed.apply(report, from: account)
        case .mandate(let report): return try managed.apply(report, from: account)
        case .externalToken(let notice):
            try external.apply(notice, from: account)
            return true
        case .consent(let rescission): return try RescindedConsents(log: log).apply(rescission)
        default: break
        }
        guard let payment = fact.payment, let locked = try LockedPayment.lock(payment, in: tx) else { return false }
        if !isStored { try store(fact, from: account, locked) }
        switch fact {
        case .payment(let report): try payments.apply(report, from: account, to: locked)
        case .refund(let report): try refunds.apply(report, from: account, to: locked)
        case .dispute(let report): try disputes.apply(report, from: account, to: locked)
        case .store, .setup, .mandate, .consent, .externalToken: return false
        }
        return true
    }

    /// Applies an account's answer about a locked payment.
    func apply(_ answer: PaymentReport, from account: AccountID, to locked: LockedPayment) throws {
        try store(.payment(answer), from: account, locked)
        try payments.apply(answer, from: account, to: locked)
    }

    private func store(_ fact: ProviderFact, from account: AccountID, _ locked: LockedPayment) throws {
        guard fact.isFinal else { return }
        try tx.payments.insertFact(
            ids.make(), account: account, payment: locked.payment.id, fact: try fact.withoutMandate.storedJSON(),
            at: now)
    }

    /// Locks the users of several facts in a fixed order, so that two notifications about the same users cannot
    /// deadlock.
    func lockUsers(of facts: [ProviderFact]) throws {
        guard facts.count > 1 else { return }
        try ownership.lock(
            facts.compactMap { fact -> StoreSubject? in
                if case .store(let statement) = fact { StoreSubject(statement) } else { nil }
            })
        var users: Set<ID<User>> = []
        for fact in facts {
            if case .store(let statement) = fact {
                users.formUnion(try ownership.users(of: statement))
            } else if let payment = try fact.payment.flatMap({ try tx.payments.find($0).value() }),
                let order = try tx.orders.find(payment.payment.order)
            {
                users.insert(order.user)
            }
        }
        for user in users.sorted() { try tx.users.lock(user) }
    }
}

extension ProviderFact {
    /// False for a fact without a result, after which the provider is queried again.
    fileprivate var isFinal: Bool {
        switch self {
        case .payment(let report):
            switch report.outcome {
            case .succeeded, .failed, .cancelled: true
            case .accepted, .pending, .tryFailed: false
            }
        case .refund(let report): report.outcome != .pending
        case .dispute, .store, .setup, .mandate, .consent, .externalToken: true
        }
    }

    /// This fact without the provider's ids of a mandate, which are stored sealed and nowhere else.
    fileprivate var withoutMandate: ProviderFact {
        guard case .payment(let report) = self, report.mandate != nil else { return self }
        return .payment(
            PaymentReport(
                payment: report.payment, outcome: report.outcome, reference: report.reference, refusal: report.refusal))
    }
}
