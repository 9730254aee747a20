package import Domain
package import FoundationEssentials
import Logging
import ProviderKit
import Store

/// How a payment by a wallet's token stands.
package struct TokenPayment: Sendable, Encodable {
    package enum Status: String, Sendable, Encodable {
        case paid, pending, failed
    }

    package let status: Status
    package let order: OrderSnapshot
}

extension Gateway {
    /// Pays an open order with an Apple Pay token.
    ///
    /// The token is verified and, where a key is here, compared with the order; then its transaction is claimed for ever,
    /// and only then is the processor called. A token that comes again finds its payment and charges nothing.
    /// - Parameter token: JSON as the client sent it.
    /// - Throws: `orderNotFound`, `orderNotOpen`, `applePayTokenInvalid`, `amountMismatch`, `applePayTokenReused`,
    ///   `providerUnavailable` (nothing was claimed), and `conflict` for an order without an open Apple Pay contract.
    package func payWithToken(
        _ order: String, token: Data, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> TokenPayment {
        let found = try await ownOrder(order, user: user)
        if let payment = context.resumed.flatMap(ID<Payment>.init) { return try await tokenPayment(payment, found.id) }
        let wallets = try await walletPayments(found.id)
        guard found.state == .open || wallets.contains(where: { $0.payment.processor != nil }) else {
            throw .orderNotOpen
        }
        guard let newest = wallets.first else { throw .conflict(reason: Self.noWalletContract) }
        let (wallet, verified): (WalletPayment, VerifiedInstrument)
        switch try await reading(of: token, for: wallets, newest: newest) {
        case .isUsed(let payment): return try await tokenPayment(payment, found.id)
        case .pays(let answered, let says): (wallet, verified) = (answered, says)
        }
        guard let amount = found.amount, verified.amount?.equals(amount) ?? true else { throw .amountMismatch }
        // A token that is claimed is spent, so it is not claimed while nothing could be sent.
        guard let processor = registry[wallet.provider.processor], traffic.hasRoom(processor.id) else {
            throw .providerUnavailable
        }
        let cause = Cause(actor: context.actor, requestID: context.requestID)
        let isNew = try await settle(cause) { settlement in
            let isNew = try settlement.claim(verified.transactionID, for: wallet.payment.id, processor: processor.id)
            try settlement.tx.bind(context, to: wallet.payment.id.rawValue)
            return isNew
        }
        if isNew {
            let charge = InstrumentCharge(
                payment: wallet.payment.id, order: found.id, amount: amount, title: found.title,
                instrument: verified.instrument)
            let outcome = await calls.perform { () async -> Result<Void, GatewayError> in
                do throws(GatewayError) {
                    return .success(try await self.charge(charge, at: processor, cause: cause))
                } catch {
                    return .failure(error)
                }
            }
            try outcome.get()
        }
        return try await tokenPayment(wallet.payment.id, found.id)
    }

    private enum TokenReading {
        /// The payment whose contract the token answers, and what the token says.
        case pays(WalletPayment, VerifiedInstrument)
        /// It is too old, and was this payment's when it was not.
        case isUsed(ID<Payment>)
    }

    private func reading(
        of token: Data, for wallets: [WalletPayment], newest: WalletPayment
    ) async throws(GatewayError) -> TokenReading {
        var refusal: InstrumentRefusal?
        wallets: for wallet in wallets {
            guard let applicationData = Data(base64Encoded: wallet.request.applicationData) else { continue }
            let result = try await verification.run {
                Result { () throws(InstrumentRefusal) in
                    try wallet.provider.verify(token: token, applicationData: applicationData)
                }
            }
            switch result {
            case .success(let verified): return .pays(wallet, verified)
            case .failure(let error):
                refusal = refusal ?? error
                if let used = error.transactionID {
                    let owner = try await read { db in try db.payment(claiming: used) }
                    if let owner, owner == wallet.payment.id { return .isUsed(owner) }
                }
                // It may answer an earlier contract of this order, which is then said to be over.
                if ![.applicationDataMismatch, .signingTimeOutOfWindow].contains(error.reason) { break wallets }
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

    /// Calls the processor for a claimed token, and settles what it answers.
    private func charge(
        _ charge: InstrumentCharge, at processor: ConfiguredAccount, cause: Cause
    ) async throws(GatewayError) {
        let outcome: PaymentOutcome
        var reference: String?
        do throws(ProviderError) {
            let report = try await line(processor).charge(charge)
            guard report.payment == charge.payment else { throw .outcomeUnknown }
            (outcome, reference) = (report.outcome, report.reference)
        } catch {
            switch error {
            case .rejected(let reason), .unfit(let reason): outcome = .failed(reason: reason)
            case .unsupported: outcome = .failed(reason: "unsupported")
            // Nothing was charged, and the token is spent: the payer has to agree anew, by the next contract.
            case .unavailable: outcome = .failed(reason: "processor_unavailable")
            // Reconciliation asks what became of it; it is never sent again.
            case .outcomeUnknown, .unproven: return
            }
        }
        let report = PaymentReport(payment: charge.payment, outcome: outcome, reference: reference)
        _ = try await settle(cause) { try $0.apply(.payment(report), from: processor.id) }
    }

    private func tokenPayment(_ payment: ID<Payment>, _ order: ID<Order>) async throws(GatewayError) -> TokenPayment {
        guard let state = try await read({ db in try db.payment(payment)?.payment.state }) else {
            throw .unknown(.payment, payment.rawValue)
        }
        let status: TokenPayment.Status =
            switch state {
            case .succeeded: .paid
            case .failed, .cancelled: .failed
            case .created, .pending, .unknown: .pending
            }
        return TokenPayment(status: status, order: try await snapshot(order, audience: .user))
    }
}

extension Settlement {
    /// Gives a wallet's transaction to a payment and names its processor, durably before anything is charged.
    ///
    /// - Returns: false when this payment has it already.
    func claim(_ transactionID: String, for payment: ID<Payment>, processor: AccountID) throws -> Bool {
        guard let scene = try lock(payment) else { throw GatewayError.notFound }
        if let owner = try tx.payment(claiming: transactionID) {
            guard owner == payment else { throw GatewayError.applePayTokenReused }
            return false
        }
        guard scene.order.state == .open, try !tx.hasExpired(scene.order.id, at: now) else {
            throw GatewayError.orderNotOpen
        }
        let newest = try tx.payments(of: scene.order.id).last?.payment.id
        guard scene.payment.state == .pending, scene.payment.processor == nil, newest == payment else {
            let reason: LocalizedText =
                scene.payment.state.isFinal || newest != payment
                ? "the payment that this token answers has ended; make the next contract by checkout"
                : "another token is being charged for this payment"
            throw GatewayError.conflict(reason: reason)
        }
        try refuseOwned(
            scene.order.sku, scene.order.terms.kind, scene.order.user, in: scene.payment.environment)
        guard try tx.claimInstrument(transactionID, for: payment, at: now) else {
            throw GatewayError.applePayTokenReused
        }
        try tx.setProcessor(processor, of: payment)
        try note(scene.order, "payment.charging", "\(payment) \(processor.rawValue)")
        // Until the processor has answered, nobody knows.
        try settleUnknown(payment)
        return true
    }
}
