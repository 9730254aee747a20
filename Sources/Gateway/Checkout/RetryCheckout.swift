package import Domain
import ProviderKit
import Store

/// Another attempt to pay an open order.
package struct RetryRequest: Sendable {
    package var platform: Platform
    package var currency: Currency?
    package var provider: String?
    package var accept: Set<ContractType>
    package var returnURL: String?

    package init(
        platform: Platform, currency: Currency?, provider: String?, accept: Set<ContractType>, returnURL: String?
    ) {
        self.platform = platform
        self.currency = currency
        self.provider = provider
        self.accept = accept
        self.returnURL = returnURL
    }
}

extension Gateway {
    /// Opens another attempt for an open order, the attempts before it being fenced first.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen` (also when fencing finds that it was paid), `invalidRequest`,
    ///   `noProviderAvailable`, and those of opening a payment.
    package func retryCheckout(
        _ order: String, _ request: RetryRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        let cause = Cause(actor: context.actor, requestID: context.requestID)
        if let payment = context.resumed.flatMap(ID<Payment>.init) {
            return try await openPayment(payment, accepts: request.accept, cause: cause)
        }
        try check(returnURL: request.returnURL)
        let found = try await ownOrder(order, user: user)
        guard found.state == .open, let amount = found.amount else { throw .orderNotOpen }
        guard request.currency == nil || request.currency == amount.currency else {
            throw .invalidRequest(field: "currency", reason: "the order's currency is \(amount.currency)")
        }
        let account = try await choose(found, amount, request, user: user)
        try await fence(found.id, cause: cause)
        let payment = try await settle(cause) { settlement in
            try settlement.tx.lockUser(found.user)
            guard let current = try settlement.tx.lockOrder(found.id), current.state == .open else {
                throw GatewayError.orderNotOpen
            }
            for record in try settlement.tx.payments(of: found.id) where !record.payment.state.isFinal {
                try settlement.tx.markUnfenced(record.payment.id)
                try settlement.note(current, "payment.unfenced", record.payment.id.rawValue)
            }
            let payment = try settlement.intend(
                current, on: account, platform: request.platform, returnURL: request.returnURL ?? current.returnURL)
            try settlement.tx.bind(context, to: payment.rawValue)
            return payment
        }
        return try await openPayment(payment, accepts: request.accept, cause: cause)
    }

    private func choose(
        _ order: Order, _ amount: Money, _ request: RetryRequest, user: ExternalUserID
    ) async throws(GatewayError) -> ConfiguredAccount {
        let (sku, overrides) = try await read { db in (try db.sku(order.sku), try db.accountOverrides()) }
        guard let sku else { throw .skuNotFound(order.sku.rawValue) }
        let need = SelectionNeed(
            sku: sku.id, kind: order.terms.kind, onePeriodElsewhere: sku.onePeriodElsewhere,
            hasAppleProducts: !sku.appleOffer(days: order.days).isEmpty, quantity: order.quantity, amount: amount,
            platform: request.platform, accepts: request.accept, provider: request.provider, user: user.rawValue)
        guard let account = Selection.candidates(accounts(with: overrides), for: need).first else {
            throw .noProviderAvailable
        }
        return account
    }

    /// Cancels, or where that cannot be definite queries, every attempt of an order that may still be paid.
    ///
    /// - Returns: false when a provider did not answer.
    @discardableResult
    func fence(_ order: ID<Order>, cause: Cause) async throws(GatewayError) -> Bool {
        var allAnswered = true
        let open = try await read { db in try db.payments(of: order).map(\.payment).filter { !$0.state.isFinal } }
        for payment in open {
            guard let account = registry[payment.processor ?? payment.account] else {
                allAnswered = false
                continue
            }
            let reference = ProviderReference(payment: payment.id, reference: payment.reference, amount: payment.amount)
            let report = await calls.perform { () async -> PaymentReport? in
                if account.manifest.cancel != .none, let report = try? await account.provider.cancel(reference) {
                    return report
                }
                return try? await account.provider.query(reference)
            }
            guard let report, report.payment == payment.id else {
                allAnswered = false
                continue
            }
            _ = try await settle(cause) { try $0.apply(.payment(report), from: account.id) }
        }
        return allAnswered
    }
}
