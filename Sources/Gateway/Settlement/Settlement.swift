import Domain
import ProviderKit
import Store
import Synchronization

/// What must happen after the commit of a settlement, outside the database.
enum FollowUp: Sendable, Equatable {
    /// A refund that a policy decided; its intent is durable.
    case refund(ID<Refund>)
}

/// The one path by which anything that can say "money moved" changes payments, orders and grants.
///
/// It lives inside one transaction and locks a store's original transactions, users, order and payment in that order. A
/// duplicate is a no-op; a fact that does not fit is a recorded anomaly, never an overwrite. Every change writes its event
/// and its audit row.
struct Settlement {
    let tx: any Transaction
    let ids: IDSource
    let now: Timestamp
    var policies: OrderPolicies
    let registry: ProviderRegistry
    var cause: AuditContext
    var ownership = OwnershipRules()
    var followUps: [FollowUp] = []
    /// Whether a job was made that should not wait for the workers' next look.
    let wakeUp = WakeUp()

    /// Applies what an account's provider stated about a payment; what a store states by itself is not settled here.
    ///
    /// - Parameter isStored: whether it came by a stored notification; what was learned by asking is kept here, so that
    ///   everything can be rebuilt from what was stated.
    /// - Returns: false when the payment is not one of ours; nothing is changed then.
    mutating func apply(_ fact: ProviderFact, from account: AccountID, isStored: Bool = false) throws -> Bool {
        guard let payment = fact.payment, let scene = try lock(payment) else { return false }
        if !isStored { try learn(fact, from: account, scene) }
        switch fact {
        case .payment(let report): try settle(report, from: account, scene)
        case .refund(let report): try settle(report, from: account, scene)
        case .dispute(let report): try settle(report, from: account, scene)
        case .store: return false
        }
        return true
    }

    /// Applies what an account's provider answered about the payment of this scene.
    mutating func apply(_ answer: PaymentReport, from account: AccountID, _ scene: Scene) throws {
        try learn(.payment(answer), from: account, scene)
        try settle(answer, from: account, scene)
    }

    private func learn(_ fact: ProviderFact, from account: AccountID, _ scene: Scene) throws {
        guard fact.isFinal else { return }
        try tx.payments.insertFact(
            ids.make(), account: account, payment: scene.payment.id, fact: try fact.storedJSON(), at: now)
    }

    /// Locks the users of several facts in one order, so that two notifications about the same users cannot deadlock.
    func lockUsers(of facts: [ProviderFact]) throws {
        guard facts.count > 1 else { return }
        try lock(
            facts.compactMap { fact in
                if case .store(let statement) = fact { StoreSubject(statement) } else { nil }
            })
        var users: Set<ID<User>> = []
        for fact in facts {
            if case .store(let statement) = fact {
                users.formUnion(try self.users(of: statement))
            } else if let payment = try fact.payment.flatMap({ try tx.payments.find($0).value() }),
                let order = try tx.orders.find(payment.payment.order)
            {
                users.insert(order.user)
            }
        }
        for user in users.sorted() { try tx.users.lock(user) }
    }

    /// A payment and its order, both locked.
    struct Scene {
        let order: Order
        let record: PaymentRecord

        var payment: Payment { record.payment }

        /// The facts of the account that made the contract count, and those of the account that moves the money.
        func belongs(to account: AccountID) -> Bool { payment.account == account || payment.processor == account }
    }

    /// Locks a payment and its order; nil when there is no such payment.
    func lock(_ id: ID<Payment>) throws -> Scene? {
        guard try tx.payments.lockWithOrder(id) else { return nil }
        return try scene(of: id)
    }

    /// A payment whose rows the caller has locked.
    func scene(of id: ID<Payment>) throws -> Scene? {
        let (record, order) = (try tx.payments.find(id), try tx.orders.find(of: id))
        guard let order = try order.value(), let record = try record.value() else { return nil }
        return Scene(order: order, record: record)
    }
}

/// A mark that a settlement sets, and that whoever ran it reads after the commit.
final class WakeUp: Sendable {
    private let state = Mutex(false)

    var isMarked: Bool { state.withLock { $0 } }

    func mark() { state.withLock { $0 = true } }
}

extension ProviderFact {
    /// Whether it settles something; what only says "not yet" is asked for again.
    fileprivate var isFinal: Bool {
        switch self {
        case .payment(let report):
            switch report.outcome {
            case .succeeded, .failed, .cancelled: true
            case .accepted, .pending, .tryFailed: false
            }
        case .refund(let report): report.outcome != .pending
        case .dispute, .store: true
        }
    }
}
