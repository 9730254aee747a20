package import Domain
package import FoundationEssentials
import Logging
import ProviderKit
import Store

/// The state of a payment by a wallet's token.
package struct TokenPayment: Sendable, Encodable {
    package enum Status: String, Sendable, Encodable {
        case paid, pending, failed
    }

    package let status: Status
    package let order: OrderSnapshot

    package init(status: Status, order: OrderSnapshot) {
        self.status = status
        self.order = order
    }
}

/// Payments by a wallet's token.
package struct TokenPayments: Sendable {
    let settlements: SettlementRunner
    let orders: Orders
    let wallets: WalletPayments
    let lines: RepeatedLines
    let logger: Logger

    private var store: StoreAccess { settlements.store }
    private var providers: ProviderCalling { settlements.providers }

    /// Pays an open order with an Apple Pay token.
    ///
    /// The token is verified and, where it can be decrypted here, compared with the order. Then its transaction is
    /// claimed permanently, and only then is the processor called. A repeated token finds its payment and is not
    /// charged again.
    /// - Parameter token: the client's JSON, unchanged.
    /// - Throws: `orderNotFound`, `orderNotOpen`, `applePayTokenInvalid`, `amountMismatch`, `applePayTokenReused`,
    ///   `providerUnavailable` (nothing was claimed), and `conflict` for an order without an open Apple Pay contract.
    package func pay(
        _ order: String, token: Data, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> TokenPayment {
        let found = try await orders.own(order, user: user)
        if let payment = context.resumed.flatMap(ID<Payment>.init) { return try await tokenPayment(payment, found.id) }
        let payments = try await wallets.payments(of: found.id)
        guard found.state == .open || payments.contains(where: { $0.payment.processor != nil }) else {
            throw .orderNotOpen
        }
        guard let newest = payments.first else { throw .conflict(reason: WalletPayments.noContract) }
        let (wallet, verified): (WalletPayment, VerifiedInstrument)
        switch try await reading(of: token, for: payments, newest: newest) {
        case .isUsed(let payment): return try await tokenPayment(payment, found.id)
        case .pays(let answered, let says): (wallet, verified) = (answered, says)
        }
        guard let amount = found.amount, verified.amount?.equals(amount) ?? true else { throw .amountMismatch }
        // A claimed token cannot be used again, so none is claimed while the processor cannot be called.
        guard let processor = providers.registry[wallet.provider.processor], providers.load.hasRoom(processor.id) else {
            throw .providerUnavailable
        }
        let isNew = try await settlements.run(context.audit) { settlement in
            let isNew = try TokenClaim(settlement).claim(
                verified.transactionID, for: wallet.payment.id, processor: processor.id)
            try settlement.tx.bind(context, to: wallet.payment.id.rawValue)
            return isNew
        }
        if isNew {
            let charge = InstrumentCharge(
                payment: wallet.payment.id, order: found.id, amount: amount, title: found.title,
                instrument: verified.instrument)
            try await providers.complete { () async throws(GatewayError) in
                try await self.charge(charge, at: processor, audit: context.audit)
            }
        }
        return try await tokenPayment(wallet.payment.id, found.id)
    }

    private enum TokenReading {
        /// The payment for whose contract the token was made, and the token's content.
        case pays(WalletPayment, VerifiedInstrument)
        /// The payment for which the token was claimed before it expired.
        case isUsed(ID<Payment>)
    }

    private func reading(
        of token: Data, for payments: [WalletPayment], newest: WalletPayment
    ) async throws(GatewayError) -> TokenReading {
        var refusal: InstrumentRefusal?
        payments: for wallet in payments {
            guard let applicationData = Data(base64Encoded: wallet.request.applicationData) else { continue }
            let result = try await BackgroundThreads.verification.run {
                Result { () throws(InstrumentRefusal) in
                    try wallet.provider.verify(token: token, applicationData: applicationData)
                }
            }
            switch result {
            case .success(let verified): return .pays(wallet, verified)
            case .failure(let error):
                refusal = refusal ?? error
                if let used = error.transactionID {
                    let owner = try await store.read { db in try db.payments.findID(claiming: used) }
                    if let owner, owner == wallet.payment.id { return .isUsed(owner) }
                }
                // The token may be for an earlier contract of this order, which is then reported as closed.
                if ![.applicationDataMismatch, .signingTimeOutOfWindow].contains(error.reason) { break payments }
            }
        }
        guard let refusal else { throw .internalError }
        let metadata: Logger.Metadata = [
            "account": "\(newest.account.id.rawValue)", "order": "\(newest.payment.order)",
            "reason": "\(refusal.reason.rawValue)", "detail": "\(refusal.detail)",
        ]
        lines.write("an Apple Pay token was refused", metadata) {
            logger.notice("an Apple Pay token was refused", metadata: $0)
        }
        throw .applePayTokenInvalid(refusal.reason)
    }

    /// Charges a claimed token at the processor, and applies the answer.
    private func charge(
        _ charge: InstrumentCharge, at processor: ConfiguredAccount, audit: AuditContext
    ) async throws(GatewayError) {
        let outcome: PaymentOutcome
        var reference: String?
        do throws(ProviderError) {
            let report = try await providers.client(of: processor).charge(charge)
            guard report.payment == charge.payment else { throw .outcomeUnknown }
            (outcome, reference) = (report.outcome, report.reference)
        } catch {
            switch error {
            case .rejected(let reason), .unfit(let reason): outcome = .failed(reason: reason)
            case .unsupported: outcome = .failed(reason: "unsupported")
            // Nothing was charged, and the token cannot be used again: the payer has to authorize the next contract.
            case .unavailable: outcome = .failed(reason: "processor_unavailable")
            // Reconciliation queries the outcome; the charge is never repeated.
            case .outcomeUnknown, .unproven: return
            }
        }
        let report = PaymentReport(payment: charge.payment, outcome: outcome, reference: reference)
        _ = try await settlements.run(audit) { try $0.apply(.payment(report), from: processor.id) }
    }

    private func tokenPayment(_ payment: ID<Payment>, _ order: ID<Order>) async throws(GatewayError) -> TokenPayment {
        guard let state = try await store.read({ db in try db.payments.find(payment).value()?.payment.state }) else {
            throw .unknown(.payment, payment.rawValue)
        }
        let status: TokenPayment.Status =
            switch state {
            case .succeeded: .paid
            case .failed, .cancelled: .failed
            case .created, .pending, .unknown: .pending
            }
        return TokenPayment(status: status, order: try await orders.snapshot(order, audience: .user))
    }
}

/// Claims a token inside a settlement's transaction.
struct TokenClaim {
    private let settlement: Settlement

    init(_ settlement: Settlement) { self.settlement = settlement }

    /// Binds a wallet's transaction and the processor to a payment, durably before the charge.
    ///
    /// - Returns: false where this payment has it already.
    func claim(_ transactionID: String, for payment: ID<Payment>, processor: AccountID) throws -> Bool {
        let tx = settlement.tx
        guard let locked = try LockedPayment.lock(payment, in: tx) else { throw GatewayError.notFound }
        if let owner = try tx.payments.findID(claiming: transactionID) {
            guard owner == payment else { throw GatewayError.applePayTokenReused }
            return false
        }
        guard locked.order.state == .open, try !tx.orders.hasExpired(locked.order.id, at: settlement.now) else {
            throw GatewayError.orderNotOpen
        }
        let newest = try tx.payments.list(of: locked.order.id).value().last?.payment.id
        guard locked.payment.state == .pending, locked.payment.processor == nil, newest == payment else {
            let reason: LocalizedText =
                locked.payment.state.isFinal || newest != payment
                ? "the payment that this token answers has ended; make the next contract by checkout"
                : "another token is being charged for this payment"
            throw GatewayError.conflict(reason: reason)
        }
        try OrderWriter(settlement).refuseOwned(
            locked.order.sku, locked.order.terms.kind, locked.order.user, in: locked.payment.environment)
        guard try tx.payments.claimInstrument(transactionID, for: payment, at: settlement.now) else {
            throw GatewayError.applePayTokenReused
        }
        try tx.payments.setProcessor(processor, of: payment)
        try settlement.log.appendTimeline(locked.order, "payment.charging", "\(payment) \(processor.rawValue)")
        // Until the processor has answered, the outcome is unknown.
        try settlement.payments.markUnknown(payment)
        return true
    }
}
