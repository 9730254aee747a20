import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// Opens payments at their providers, each after its intent is durable.
struct PaymentOpening: Sendable {
    let settlements: SettlementRunner
    let contracts: Contracts
    let random: RandomSource
    let logger: Logger

    private var store: StoreAccess { settlements.store }
    private var providers: ProviderCalling { settlements.providers }
    private var keyRing: KeyRing { contracts.keyRing }

    /// Continues with a payment that an earlier run made: opens it again under the same key unless the provider had
    /// answered.
    ///
    /// - Parameter accepts: the contract types that the client accepts, for a payment of an earlier release.
    /// - Throws: `orderNotOpen` where its order can no longer be paid, `providerRejected`, and the errors of
    ///   ``open(_:accepts:audit:)``.
    func resume(
        _ payment: ID<Payment>, accepts: Set<ContractType>, audit: AuditContext
    ) async throws(GatewayError) -> PaymentContract {
        guard let record = try await store.read({ db in try db.payments.find(payment).value() }) else {
            throw .notFound
        }
        // The payment was paid at once, the answer was lost, and a later query found that.
        let isPaid = record.payment.state == .succeeded
        if record.instruction != nil || isPaid { return try await contracts.contract(of: payment) }
        guard !record.payment.state.isFinal else {
            throw .providerRejected(reason: "the payment has \(record.payment.state)")
        }
        let now = settlements.time.now
        let (found, isOver) = try await store.read { db in
            (try db.orders.find(record.payment.order), try db.orders.hasExpired(record.payment.order, at: now))
        }
        guard let order = found else { throw .notFound }
        guard order.state == .open, !isOver else { throw .orderNotOpen }
        let address = record.payerAddress.flatMap { PayerAddress.open($0, of: payment, by: keyRing) }
        let intent = PaymentIntent(
            order: order, payment: record.payment, payerAddress: address, wallet: record.walletPayer(by: keyRing))
        return try await open(intent, accepts: record.accepts ?? accepts, audit: audit)
    }

    /// Calls the provider for a payment whose intent is durable, records the answer, and returns the contract.
    ///
    /// - Throws: `providerRejected` (the payment has failed), `providerUnavailable` (nothing is lost: a request with
    ///   the same key, or another attempt, continues with the order).
    func open(
        _ intent: PaymentIntent, accepts: Set<ContractType>, audit: AuditContext
    ) async throws(GatewayError) -> PaymentContract {
        let result = try await tryOpening(intent, accepts: accepts, insists: true, audit: audit)
        switch result {
        case .opened(let contract): return contract
        case .unfit(let reason): throw .providerRejected(reason: reason)
        case .unanswered, .neverSent: throw .providerUnavailable
        }
    }

    /// The end of a call that opens a payment.
    enum Opening: Sendable {
        case opened(PaymentContract)
        /// The provider did not answer, or not in time.
        case unanswered
        /// The call was not made, because of the account's health or its limit of calls.
        case neverSent
        /// The account cannot take such a payment; it was not asked, and the payment has failed.
        case unfit(String)
    }

    /// Calls the provider for a payment whose intent is durable, and records the answer.
    ///
    /// - Parameters:
    ///   - insists: true to call the account whatever its health.
    ///   - call: the call whose answer the contract is; nil where the answer is something else.
    /// - Throws: `providerRejected`.
    func tryOpening(
        _ intent: PaymentIntent, accepts: Set<ContractType>, insists: Bool, audit: AuditContext,
        answering call: CallContext? = nil
    ) async throws(GatewayError) -> Opening {
        let prepared = try await prepare(intent, accepts: accepts)
        return try await providers.complete { () async throws(GatewayError) in
            try await callAndRecord(prepared, insists: insists, audit: audit, answering: call)
        }
    }

    private struct Prepared: Sendable {
        let order: Order
        let account: ConfiguredAccount
        let attempt: PaymentAttempt
        let renewal: RecurringContract?
    }

    /// Collects the provider's parameters; makes the user's app account token when it is first needed.
    private func prepare(
        _ intent: PaymentIntent, accepts: Set<ContractType>
    ) async throws(GatewayError) -> Prepared {
        let (order, payment) = (intent.order, intent.payment)
        guard let account = providers.registry[payment.account] else { throw .providerUnavailable }
        var products: [String] = []
        var token: String?
        if account.manifest.goods == .appleProducts {
            products = try await store.read { db in try db.skus.find(order.sku) }?.appleOffer(days: order.days) ?? []
            let candidate = random.uuid4()
            token = try await store.write { tx in try tx.users.appAccountToken(of: order.user, candidate: candidate) }
        }
        var renewal: RecurringContract?
        if order.period != nil {
            renewal = try await store.read { db in
                try Contracts.renewal(of: order, madeAt: payment.createdAt, in: db)
            }
        }
        let mandate = renewal.flatMap { renewal in
            order.period.map {
                MandateRequest(subscription: $0.subscription, periodIndex: $0.index, terms: renewal.terms)
            }
        }
        let end = order.payableUntil(by: payment)
        // A service that keeps the real time is given the end of the order by that time.
        let expiresAt = account.manifest.followsBusinessTime ? end : settlements.time.realTime(of: end)
        return Prepared(
            order: order, account: account,
            attempt: PaymentAttempt(
                payment: payment.id, order: order.id, amount: payment.amount, title: order.title,
                platform: payment.platform, returnURL: payment.returnURL, expiresAt: expiresAt,
                appleProductIDs: products, appAccountToken: token, accepts: accepts, payerAddress: intent.payerAddress,
                mandate: mandate, payer: intent.wallet),
            renewal: renewal)
    }

    private func callAndRecord(
        _ prepared: Prepared, insists: Bool, audit: AuditContext, answering call: CallContext?
    ) async throws(GatewayError) -> Opening {
        let payment = prepared.attempt.payment
        let account = prepared.account.id
        let kept: KeptPayment
        do throws(ProviderError) {
            // A manifest may have changed since the account was chosen.
            if let fault = prepared.account.provider.amountFault(prepared.attempt.amount) {
                throw .unfit(reason: fault.rawValue)
            }
            guard let opened = try await providers.client(of: prepared.account).open(prepared.attempt, insists: insists)
            else {
                return .neverSent
            }
            kept = try await keep(opened, of: prepared, audit: audit, answering: call)
        } catch {
            return try await recordFailure(error, payment: payment, account: account, audit: audit)
        }
        if kept.isAnswered { call?.idempotency?.progress.answered() }
        return .opened(try contract(prepared, kept.record, opened: kept.instruction))
    }

    private func contract(
        _ prepared: Prepared, _ record: PaymentRecord, opened: PaymentInstruction?
    ) throws(GatewayError) -> PaymentContract {
        try contracts.contract(prepared.order, record, opened: opened, renewal: prepared.renewal)
    }

    /// An opened payment after it was recorded.
    private struct KeptPayment: Sendable {
        let record: PaymentRecord
        /// Its instruction; nil where that of another run is stored.
        let instruction: PaymentInstruction?
        /// True where the contract was stored as the call's answer.
        var isAnswered = false
    }

    /// Records an opened payment, and its contract as the answer of the call.
    private func keep(
        _ opened: OpenedPayment, of prepared: Prepared, audit: AuditContext, answering call: CallContext?
    ) async throws(ProviderError) -> KeptPayment {
        let (payment, account) = (prepared.attempt.payment, prepared.account.id)
        guard let sealed = try? SealedInstruction.seal(opened.instruction, of: payment, by: keyRing) else {
            throw .outcomeUnknown
        }
        let report = PaymentReport(payment: payment, outcome: opened.outcome, reference: opened.reference)
        do throws(GatewayError) {
            return try await settlements.run(audit) { settlement in
                // The locks come first, in the order in which every settlement of this payment takes them.
                guard try settlement.tx.payments.lockWithOrder(payment) else { throw GatewayError.notFound }
                let isFirst = try settlement.tx.payments.setInstruction(
                    sealed, opened.instruction.type, offers: opened.instruction.offers, of: payment)
                guard let locked = try LockedPayment.read(payment, in: settlement.tx) else {
                    throw GatewayError.notFound
                }
                try settlement.apply(report, from: account, to: locked)
                guard let record = try settlement.tx.payments.find(payment).value() else { throw GatewayError.notFound }
                var kept = KeptPayment(record: record, instruction: try isFirst.value() ? opened.instruction : nil)
                // A contract that cannot be made must not undo what the provider has done; the call fails after it.
                if let call, let contract = try? contract(prepared, record, opened: kept.instruction) {
                    kept.isAnswered = try settlement.tx.finish(call, with: contract, sealedBy: keyRing)
                }
                return kept
            }
        } catch {
            logger.error("an opened payment could not be recorded", metadata: ["payment": "\(payment)"])
            throw .outcomeUnknown
        }
    }

    private func recordFailure(
        _ error: ProviderError, payment: ID<Payment>, account: AccountID, audit: AuditContext
    ) async throws(GatewayError) -> Opening {
        switch error {
        case .rejected(let reason):
            let report = PaymentReport(payment: payment, outcome: .failed(reason: reason))
            _ = try await settlements.run(audit) { try $0.apply(.payment(report), from: account) }
            throw .providerRejected(reason: reason)
        case .unfit(let reason):
            let report = PaymentReport(payment: payment, outcome: .failed(reason: reason))
            _ = try await settlements.run(audit) { try $0.apply(.payment(report), from: account) }
            return .unfit(reason)
        case .unsupported:
            let report = PaymentReport(payment: payment, outcome: .failed(reason: "unsupported"))
            _ = try await settlements.run(audit) { try $0.apply(.payment(report), from: account) }
            throw .providerRejected(reason: "unsupported")
        case .outcomeUnknown, .unproven:
            try await settlements.run(audit) { try $0.payments.markUnknown(payment) }
            return .unanswered
        case .unavailable:
            return .unanswered
        }
    }
}

extension Order {
    /// The name that the payer sees: the SKU's name at the time of the order, or its id where the name is blank.
    var title: String { terms.name.isBlank ? sku.rawValue : terms.name }
}

/// A payment whose intent is durable.
struct PaymentIntent: Sendable {
    let order: Order
    let payment: Payment
    /// The payer's address; nil where it is not known.
    let payerAddress: String?
    /// The payer as the wallet of the contract knows them; nil where it needs none.
    var wallet: WalletPayer?
}

extension PaymentInstruction {
    /// The product ids of a store's contract; nil for another contract.
    fileprivate var offers: [String]? {
        guard case .appleIAP(let productIDs, _, _) = self else { return nil }
        return productIDs
    }
}

/// The payer's address, which is stored until the provider has opened the payment.
///
/// A repetition of that call must have the same parameters, whatever the address of the repeated request; afterwards
/// the address is not needed.
enum PayerAddress {
    private static func place(_ payment: ID<Payment>) -> String { "payments.payer_address/\(payment.rawValue)" }

    static func seal(_ address: IPAddress, of payment: ID<Payment>, by keyRing: KeyRing) throws -> Data {
        try keyRing.seal(Data(address.description.utf8), context: place(payment))
    }

    /// - Returns: nil where the key ring lacks the key; the provider is then called without the address.
    static func open(_ sealed: Data, of payment: ID<Payment>, by keyRing: KeyRing) -> String? {
        guard let opened = try? keyRing.open(sealed, context: place(payment)) else { return nil }
        return String(decoding: opened, as: UTF8.self)
    }
}
