import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

extension Gateway {
    /// Goes on with a payment that an earlier run made: unless it was answered, it is opened again under the same key.
    ///
    /// - Throws: `orderNotOpen` where nobody should pay its order any more, `providerRejected`, and those of
    ///   ``openPayment(_:accepts:cause:)``.
    func continuePayment(
        _ payment: ID<Payment>, accepts: Set<ContractType>, cause: Cause
    ) async throws(GatewayError) -> PaymentContract {
        guard let record = try await read({ db in try db.payments.find(payment).value() }) else { throw .notFound }
        // The opening itself paid it, or whoever was told of it elsewhere: its answer was lost, and a question found out.
        let isPaid = record.payment.state == .succeeded
        if record.instruction != nil || isPaid { return try await contract(of: payment) }
        guard !record.payment.state.isFinal else {
            throw .providerRejected(reason: "the payment has \(record.payment.state)")
        }
        let now = time.now
        let (found, isOver) = try await read { db in
            (try db.orders.find(record.payment.order), try db.orders.hasExpired(record.payment.order, at: now))
        }
        guard let order = found else { throw .notFound }
        guard order.state == .open, !isOver else { throw .orderNotOpen }
        let address = record.payerAddress.flatMap { PayerAddress.open($0, of: payment, by: keyRing) }
        let intent = PaymentIntent(order: order, payment: record.payment, payerAddress: address)
        return try await openPayment(intent, accepts: accepts, cause: cause)
    }

    /// Calls the provider for a payment whose intent is durable, records what it answers, and returns the contract.
    ///
    /// - Throws: `providerRejected` (the payment has failed), `providerUnavailable` (nothing is lost: the same key, or another
    ///   attempt, goes on with the order).
    func openPayment(
        _ intent: PaymentIntent, accepts: Set<ContractType>, cause: Cause
    ) async throws(GatewayError) -> PaymentContract {
        let opening = try await tryOpening(intent, accepts: accepts, insists: true, cause: cause)
        switch opening {
        case .opened(let contract): return contract
        case .unfit(let reason): throw .providerRejected(reason: reason)
        case .unanswered, .neverSent: throw .providerUnavailable
        }
    }

    /// How the call that opens a payment ended, where that was not final.
    enum Opening: Sendable {
        case opened(PaymentContract)
        /// The provider did not answer, or not in time.
        case unanswered
        /// The account's health, or the calls that it has already, forbade the call.
        case neverSent
        /// The account cannot take such a payment; nobody was asked, and the payment has failed.
        case unfit(String)
    }

    /// Calls the provider for a payment whose intent is durable, and records what it answers.
    ///
    /// - Parameter insists: whether the account is called although its health is doubted.
    /// - Throws: `providerRejected`.
    func tryOpening(
        _ intent: PaymentIntent, accepts: Set<ContractType>, insists: Bool, cause: Cause
    ) async throws(GatewayError) -> Opening {
        let prepared = try await prepare(intent, accepts: accepts)
        let outcome = await calls.perform { () async -> Result<Opening, GatewayError> in
            do throws(GatewayError) {
                return .success(try await self.callAndRecord(prepared, insists: insists, cause: cause))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private struct Prepared: Sendable {
        let order: Order
        let account: ConfiguredAccount
        let attempt: PaymentAttempt
    }

    /// Gathers what the provider must know; Apple's buyers get their token here, when it is first needed.
    private func prepare(
        _ intent: PaymentIntent, accepts: Set<ContractType>
    ) async throws(GatewayError) -> Prepared {
        let (order, payment) = (intent.order, intent.payment)
        guard let account = registry[payment.account] else { throw .providerUnavailable }
        var products: [String] = []
        var token: String?
        if account.manifest.goods == .appleProducts {
            products = try await read { db in try db.skus.find(order.sku) }?.appleOffer(days: order.days) ?? []
            let candidate = Self.uuid4(random)
            token = try await write { tx in try tx.users.appAccountToken(of: order.user, candidate: candidate) }
        }
        return Prepared(
            order: order, account: account,
            attempt: PaymentAttempt(
                payment: payment.id, order: order.id, amount: payment.amount, title: order.title,
                platform: payment.platform, returnURL: payment.returnURL, expiresAt: order.expiresAt,
                appleProductIDs: products, appAccountToken: token, accepts: accepts, payerAddress: intent.payerAddress))
    }

    private func callAndRecord(
        _ prepared: Prepared, insists: Bool, cause: Cause
    ) async throws(GatewayError) -> Opening {
        let payment = prepared.attempt.payment
        let account = prepared.account.id
        let (record, known): (PaymentRecord, PaymentInstruction?)
        do throws(ProviderError) {
            // A manifest may have changed since the account was chosen.
            if let fault = prepared.account.provider.amountFault(prepared.attempt.amount) {
                throw .unfit(reason: fault.rawValue)
            }
            guard let opened = try await line(prepared.account).open(prepared.attempt, insists: insists) else {
                return .neverSent
            }
            (record, known) = try await keep(opened, of: payment, at: account, cause: cause)
        } catch {
            return try await recordFailure(error, payment: payment, account: account, cause: cause)
        }
        return .opened(try contract(prepared.order, record, opened: known))
    }

    /// Records what a provider has opened.
    ///
    /// - Returns: the payment as it stands then, and its instruction unless another run's is kept.
    private func keep(
        _ opened: OpenedPayment, of payment: ID<Payment>, at account: AccountID, cause: Cause
    ) async throws(ProviderError) -> (PaymentRecord, PaymentInstruction?) {
        let sealed = try seal(opened.instruction, payment)
        let report = PaymentReport(payment: payment, outcome: opened.outcome, reference: opened.reference)
        do throws(GatewayError) {
            return try await settle(cause) { settlement in
                // First of all the locks, in the order of whoever else settles this payment.
                guard try settlement.tx.payments.lockWithOrder(payment) else { throw GatewayError.notFound }
                let isFirst = try settlement.tx.payments.setInstruction(sealed, offers: opened.instruction.offers, of: payment)
                guard let locked = try LockedPayment.read(payment, in: settlement.tx) else {
                    throw GatewayError.notFound
                }
                try settlement.apply(report, from: account, to: locked)
                guard let record = try settlement.tx.payments.find(payment).value() else { throw GatewayError.notFound }
                return (record, try isFirst.value() ? opened.instruction : nil)
            }
        } catch {
            logger.error("an opened payment could not be recorded", metadata: ["payment": "\(payment)"])
            throw .outcomeUnknown
        }
    }

    private func recordFailure(
        _ error: ProviderError, payment: ID<Payment>, account: AccountID, cause: Cause
    ) async throws(GatewayError) -> Opening {
        switch error {
        case .rejected(let reason):
            let report = PaymentReport(payment: payment, outcome: .failed(reason: reason))
            _ = try await settle(cause) { try $0.apply(.payment(report), from: account) }
            throw .providerRejected(reason: reason)
        case .unfit(let reason):
            let report = PaymentReport(payment: payment, outcome: .failed(reason: reason))
            _ = try await settle(cause) { try $0.apply(.payment(report), from: account) }
            return .unfit(reason)
        case .unsupported:
            let report = PaymentReport(payment: payment, outcome: .failed(reason: "unsupported"))
            _ = try await settle(cause) { try $0.apply(.payment(report), from: account) }
            throw .providerRejected(reason: "unsupported")
        case .outcomeUnknown, .unproven:
            try await settle(cause) { try $0.payments.markUnknown(payment) }
            return .unanswered
        case .unavailable:
            return .unanswered
        }
    }

    private func seal(_ instruction: PaymentInstruction, _ payment: ID<Payment>) throws(ProviderError) -> Data {
        guard let json = try? JSONEncoder().encode(instruction),
            let sealed = try? keyRing.seal(json, context: Self.instructionPlace(payment))
        else { throw .outcomeUnknown }
        return sealed
    }

    static func instructionPlace(_ payment: ID<Payment>) -> String { "payments.instruction/\(payment.rawValue)" }

    /// A random UUID (RFC 9562 section 5.4) in lower case, as StoreKit takes it.
    static func uuid4(_ random: RandomSource) -> String {
        var bytes = random.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array("0123456789abcdef")
        let hex = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return [hex[0..<8], hex[8..<12], hex[12..<16], hex[16..<20], hex[20..<32]].map { String($0) }.joined(
            separator: "-")
    }
}

extension Order {
    /// What is bought, for the payer's eyes: the SKU's name of its moment, or its id where the name is blank.
    var title: String { terms.name.isBlank ? sku.rawValue : terms.name }
}

/// A payment whose intent is durable, with what its provider must know of it.
struct PaymentIntent: Sendable {
    let order: Order
    let payment: Payment
    /// Where the payer is; nil where nobody knows.
    let payerAddress: String?
}

extension PaymentInstruction {
    /// The product ids of a store's contract.
    fileprivate var offers: [String]? {
        guard case .appleIAP(let productIDs, _, _) = self else { return nil }
        return productIDs
    }
}
