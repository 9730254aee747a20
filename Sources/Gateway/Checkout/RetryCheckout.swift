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
    /// Where the payer is; nil where nobody knows.
    package var payerAddress: IPAddress?

    package init(
        platform: Platform, currency: Currency?, provider: String?, accept: Set<ContractType>, returnURL: String?,
        payerAddress: IPAddress? = nil
    ) {
        self.platform = platform
        self.currency = currency
        self.provider = provider
        self.accept = accept
        self.returnURL = returnURL
        self.payerAddress = payerAddress
    }

    /// What a checkout asked for, for the attempts after its first.
    init(_ request: CheckoutRequest) {
        self.init(
            platform: request.platform, currency: request.currency, provider: request.provider, accept: request.accept,
            returnURL: request.returnURL, payerAddress: request.payerAddress)
    }
}

extension Gateway {
    private static let attemptLimit = 20
    static let fenceRounds = 3

    /// Opens another attempt for an open order, the attempts before it being fenced first.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen` (also when fencing finds that it was paid, or its time is over),
    ///   `invalidRequest`, `alreadyOwned`, `noProviderAvailable`, `conflict` after 20 attempts, and those of opening a payment.
    package func retryCheckout(
        _ order: String, _ request: RetryRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        let cause = Cause(actor: context.actor, requestID: context.requestID)
        if let payment = context.resumed.flatMap(ID<Payment>.init), let order = ID<Order>(order) {
            let passage = Passage(order: order, request: request, context: context, isCheckout: false)
            return try await resume(payment, passage, user: user)
        }
        try check(returnURL: request.returnURL)
        let found = try await ownOrder(order, user: user)
        guard found.state == .open, let amount = found.amount else { throw .orderNotOpen }
        guard request.currency == nil || request.currency == amount.currency else {
            throw .invalidRequest(field: "currency", reason: .orderCurrency(amount.currency))
        }
        let route = try await route(of: found, amount, request, user: user)
        guard let account = route.accounts.first else { throw noProvider(route, context) }
        var fenced = Fence()
        for _ in 0..<Self.fenceRounds {
            fenced = try await fence(found.id, cause: cause, after: fenced)
            let (fence, keyRing) = (fenced, keyRing)
            let intent = try await settle(cause) { settlement in
                try settlement.attempt(found, on: account, request, fence, sealedBy: keyRing) { tx, payment in
                    try tx.bind(context, to: payment.rawValue)
                }
            }
            if let intent {
                let passage = Passage(order: found.id, request: request, context: context, isCheckout: false)
                return try await openPayment(intent, passage, along: route)
            }
        }
        throw .requestInProgress
    }

    /// Who can take another payment of an order.
    func route(
        of order: Order, _ amount: Money, _ request: RetryRequest, user: ExternalUserID
    ) async throws(GatewayError) -> Route {
        let (found, overrides) = try await skuAndOverrides(order.sku)
        guard let sku = found else { throw .skuNotFound(order.sku.rawValue) }
        // An order that named no option can only be completed by what Apple sells.
        let needsApple = order.days == nil && !sku.options.isEmpty
        let need = SelectionNeed(
            sku, days: order.days, quantity: order.quantity, amount: amount, platform: request.platform,
            accepts: needsApple ? request.accept.intersection([.appleIAP]) : request.accept, provider: request.provider,
            user: user.rawValue)
        return route(need, with: overrides)
    }

    /// What became of an order's attempts when they were to be closed.
    struct Fence: Sendable {
        /// Every attempt that was cancelled or asked about.
        var asked: Set<ID<Payment>> = []
        /// Those that may still be paid all the same.
        var uncertain: Set<ID<Payment>> = []
        var allAnswered = true
    }

    /// Cancels, or where that cannot be definite queries, every attempt of an order that may still be paid.
    @discardableResult
    func fence(_ order: ID<Order>, cause: Cause, after earlier: Fence = Fence()) async throws(GatewayError) -> Fence {
        var fence = earlier
        let open = try await read { db in try db.payments(of: order).map(\.payment).filter { !$0.state.isFinal } }
        for payment in open where !fence.asked.contains(payment.id) {
            fence.asked.insert(payment.id)
            let account = registry[payment.processor ?? payment.account]
            let report = try await ask(payment, cause: cause) { line, reference in
                if account?.manifest.cancel != ProviderManifest.Cancellation.none,
                    let report = try? await line.cancel(reference)
                {
                    return report
                }
                return try? await line.query(reference)
            }
            // A service may have said only now what its cancelling is worth.
            let manifest = account?.manifest
            if report == nil, try await hasMoved(payment) {
                // A token is being charged by now: its processor is asked in the next round.
                fence.asked.remove(payment.id)
                continue
            }
            // What a provider can close for certain, and neither closed nor saw ended, may still be paid.
            if !(report?.isAnswer(from: manifest) ?? false) { fence.allAnswered = false }
            if report?.outcome != .cancelled || manifest?.cancel != .definite { fence.uncertain.insert(payment.id) }
        }
        return fence
    }

    /// Whether another account moves the money of a payment than when it was read.
    private func hasMoved(_ payment: Payment) async throws(GatewayError) -> Bool {
        try await read { db in try db.payment(payment.id)?.payment.processor } != payment.processor
    }

    /// Asks a payment's provider something and settles the answer.
    ///
    /// - Returns: nil when the provider did not answer, or spoke of another payment.
    @discardableResult
    func ask(
        _ payment: Payment, cause: Cause,
        _ question: @escaping @Sendable (AccountLine, ProviderReference) async -> PaymentReport?
    ) async throws(GatewayError) -> PaymentReport? {
        guard let account = registry[payment.processor ?? payment.account] else { return nil }
        let reference = ProviderReference(
            payment: payment.number, reference: payment.reference, amount: payment.amount)
        let report = await calls.perform { await question(self.line(account), reference) }
        guard let report, report.payment == payment.number else { return nil }
        let counts = try await settle(cause) { settlement in
            // A token was charged meanwhile, so that another account knows what became of the payment.
            guard let scene = try settlement.lock(payment.id), scene.payment.processor == payment.processor else {
                return false
            }
            try settlement.apply(report, from: account.id, scene)
            return true
        }
        return counts ? report : nil
    }

    /// The intent of one more attempt.
    fileprivate static func mayAttempt(_ payments: [PaymentRecord]) throws(GatewayError) {
        guard payments.count < attemptLimit else {
            throw .conflict(reason: "the order has had \(attemptLimit) attempts; make a new one")
        }
    }
}

extension PaymentReport {
    /// Whether it says how a payment stands that was to be closed.
    fileprivate func isAnswer(from manifest: ProviderManifest?) -> Bool {
        switch outcome {
        case .cancelled, .failed, .succeeded: true
        case .accepted, .pending, .tryFailed: manifest?.cancel != .definite
        }
    }
}

extension Settlement {
    /// Writes the intent of another attempt under the order's lock.
    ///
    /// - Parameter bind: binds the run's key to the attempt.
    /// - Returns: nil when an attempt was made since the fence, so that it must be fenced too.
    func attempt(
        _ order: Order, on account: ConfiguredAccount, _ request: RetryRequest, _ fence: Gateway.Fence,
        sealedBy keyRing: KeyRing, bind: (any Transaction, ID<Payment>) throws -> Void
    ) throws -> PaymentIntent? {
        try tx.lockUser(order.user)
        guard let current = try tx.lockOrder(order.id), current.state == .open, current.amount != nil,
            try !tx.hasExpired(order.id, at: now)
        else { throw GatewayError.orderNotOpen }
        try refuseOwned(current.sku, current.terms.kind, current.user, in: account.environment)
        let payments = try tx.payments(of: order.id)
        try Gateway.mayAttempt(payments)
        let open = payments.map(\.payment).filter { !$0.state.isFinal || fence.uncertain.contains($0.id) }
        guard open.allSatisfy({ fence.asked.contains($0.id) }) else { return nil }
        for payment in open where payment.state != .succeeded && payment.state != .failed && !payment.unfenced {
            try tx.markUnfenced(payment.id)
            try note(current, "payment.unfenced", payment.id.rawValue)
            try audit(
                current, "payment.unfenced", before: payment.state.rawValue, after: "\(payment.id) may still be paid")
        }
        let intent = try intend(current, on: account, for: request, sealedBy: keyRing).intent
        try bind(tx, intent.payment.id)
        return intent
    }
}
