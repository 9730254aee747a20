import Domain
import ProviderKit
import Store

extension Cashier {
    /// Opens another set-up for the open order of a trial, after the earlier one was cancelled.
    ///
    /// - Throws: `orderNotOpen` (also where the earlier set-up has succeeded meanwhile), `noProviderAvailable`,
    ///   `conflict` after 20 set-ups, `providerUnavailable`, `requestInProgress`, and the errors of
    ///   ``MandateSetups/open(_:audit:)``.
    func openTrial(
        _ order: Order, _ request: RetryRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        guard let period = order.period,
            let subscription = try await store.read({ db in
                try db.managedSubscriptions.find(period.subscription)?.subscription
            })
        else { throw .orderNotOpen }
        let candidates = try await offers.candidates(for: order, subscription.price, request, user: user)
        guard let account = candidates.accounts.first(where: { !$0.manifest.recurring }) else {
            throw refusal(candidates, context)
        }
        for _ in 0..<PaymentAttempts.cancellationRounds {
            guard try await setups.cancelOpen(of: subscription.id, audit: context.audit) else {
                throw .providerUnavailable
            }
            let intent = try await settlements.run(context.audit) { settlement in
                try OrderWriter(settlement).addTrialSetup(order, on: account, request)
            }
            if let intent { return try await setups.open(intent, audit: context.audit) }
        }
        throw .requestInProgress
    }
}

extension OrderWriter {
    /// Writes the intent of another set-up under the order's lock.
    ///
    /// - Returns: nil where a set-up was made since the earlier one was cancelled.
    /// - Throws: `orderNotOpen`, `conflict` after 20 set-ups.
    fileprivate func addTrialSetup(
        _ order: Order, on account: ConfiguredAccount, _ request: RetryRequest
    ) throws -> SetupIntent? {
        let tx = settlement.tx
        try tx.users.lock(order.user)
        guard let current = try tx.orders.lock(order.id), current.state == .open,
            try !tx.orders.hasExpired(order.id, at: settlement.now)
        else { throw GatewayError.orderNotOpen }
        guard let period = current.period, try tx.setups.findOpen(of: period.subscription) == nil else { return nil }
        guard try tx.setups.count(of: order.id) < Self.attemptLimit else {
            throw GatewayError.conflict(reason: "the order has had \(Self.attemptLimit) attempts; make a new one")
        }
        if current.environment != account.environment {
            try tx.orders.setEnvironment(account.environment, of: order.id)
        }
        try settlement.managed.move(current, to: account)
        return try settlement.managed.intendTrial(current, request)
    }
}
