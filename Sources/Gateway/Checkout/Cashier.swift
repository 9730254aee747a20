package import Domain
import ProviderKit
import Store

/// Opens checkouts: an order and a contract to pay it, further attempts, and the failover between accounts.
package struct Cashier: Sendable {
    let settlements: SettlementRunner
    let orders: Orders
    let offers: Offers
    let contracts: Contracts
    let attempts: PaymentAttempts
    let opening: PaymentOpening
    let setups: MandateSetups
    let settings: GatewaySettings

    var store: StoreAccess { settlements.store }

    /// Makes an order and the contract to pay it.
    ///
    /// The order and the payment's intent are durable before the provider is called. A run under an idempotency key that
    /// was cut short continues with the order that it made.
    /// - Throws: `invalidRequest`, `skuNotFound`, `noProviderAvailable`, `alreadyOwned`, and those of
    ///   ``openPayment(_:_:at:)``.
    package func open(
        _ request: CheckoutRequest, user: ExternalUserID, partner: String? = nil, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        if let order = context.resumed.flatMap(ID<Order>.init) {
            return try await continueCheckout(order, request, user: user, context: context)
        }
        if request.session == nil { try check(returnURL: request.returnURL) }
        let offer = try await offers.offer(request, user: user)
        let isFree = offer.quote.amount.isZero
        var request = request
        request.accept = request.accept.filter(offer.candidates.need.leaves)
        let candidates =
            isFree ? offer.candidates : try offer.candidates.fitting(request.wallet, accepts: request.accept)
        let account = isFree ? nil : candidates.accounts.first
        guard isFree || account != nil else { throw refusal(candidates, context) }
        let (minutes, keyRing) = (settlements.policies.expireAfterMinutes, contracts.keyRing)
        let (placed, holder) = try await settlements.run(context.audit) { [request] settlement in
            try OrderWriter(settlement).place(
                request, offer, on: account, user: user, partner: partner, context: context, expiresAfter: minutes,
                sealedBy: keyRing)
        }
        if let holder { context.idempotency?.progress.claimed(by: holder) }
        switch placed {
        case .free(let order): return try await contracts.contract(of: order)
        case .setup(_, let intent): return try await setups.open(intent, audit: context.audit)
        case .payment(let order, let intent):
            let attempt = CheckoutAttempt(
                order: order, request: RetryRequest(request), context: context, isCheckout: true)
            return try await openPayment(intent, attempt, at: candidates.renewingAlike)
        }
    }

    /// Continues with the newest payment of an order that an earlier run made.
    private func continueCheckout(
        _ order: ID<Order>, _ request: CheckoutRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        let newest = try await store.read { db in
            try db.payments.list(of: order).value().last { $0.payment.original == nil }?.payment.id
        }
        guard let newest else {
            if let contract = try await setups.resume(of: order, audit: context.audit) { return contract }
            return try await contracts.contract(of: order)
        }
        let attempt = CheckoutAttempt(
            order: order, request: RetryRequest(request), context: context, isCheckout: true)
        return try await resume(newest, attempt, user: user)
    }

    /// Opens another attempt for an open order, after the earlier attempts were cancelled.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen` (also where the order has expired, or cancelling finds that it was
    ///   paid), `invalidRequest`, `alreadyOwned`, `noProviderAvailable`, `conflict` after 20 attempts, and the errors
    ///   of opening a payment.
    package func retry(
        _ order: String, _ request: RetryRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        if let payment = context.resumed.flatMap(ID<Payment>.init), let order = ID<Order>(order) {
            let attempt = CheckoutAttempt(order: order, request: request, context: context, isCheckout: false)
            return try await resume(payment, attempt, user: user)
        }
        if request.session == nil { try check(returnURL: request.returnURL) }
        let found = try await orders.own(order, user: user)
        if found.origin == .renewal, let period = found.period { throw .belongsToSubscription(period.subscription) }
        return try await attempt(found, request, user: user, context: context)
    }

    private func attempt(
        _ found: Order, _ request: RetryRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        guard found.state == .open, let amount = found.amount else { throw .orderNotOpen }
        guard request.currency == nil || request.currency == amount.currency else {
            throw .invalidRequest(field: "currency", reason: .orderCurrency(amount.currency))
        }
        if found.mayHaveSetup { return try await openTrial(found, request, user: user, context: context) }
        let all = try await offers.candidates(for: found, amount, request, user: user)
        var request = request
        request.accept = request.accept.filter(all.need.leaves)
        let candidates = try all.fitting(request.wallet, accepts: request.accept)
        guard let account = candidates.accounts.first else { throw refusal(candidates, context) }
        var cancelled = AttemptCancellation()
        for _ in 0..<PaymentAttempts.cancellationRounds {
            cancelled = try await attempts.cancel(of: found.id, audit: context.audit, after: cancelled)
            let (earlier, keyRing) = (cancelled, contracts.keyRing)
            let intent = try await settlements.run(context.audit) { [request] settlement in
                try OrderWriter(settlement).addAttempt(
                    found, on: account, request, earlier, sealedBy: keyRing
                ) { tx, payment in
                    try tx.bind(context, to: payment.rawValue)
                }
            }
            if let intent {
                let attempt = CheckoutAttempt(
                    order: found.id, request: request, context: context, isCheckout: false)
                return try await openPayment(intent, attempt, at: candidates)
            }
        }
        throw .requestInProgress
    }

    /// Opens a payment on session for the open order of a renewal, at the subscription's own account.
    func payRenewal(
        _ order: ID<Order>, _ request: RetryRequest, user: ExternalUserID?, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        try check(request)
        guard let user, let found = try await store.read({ db in try db.orders.find(order) }), found.state == .open
        else { throw .orderNotOpen }
        return try await attempt(found, request, user: user, context: context)
    }

    /// - Throws: `invalidRequest` for an address that is neither allowed nor the caller's own page.
    func check(_ request: RetryRequest) throws(GatewayError) {
        if let page = request.page, request.returnURL == page { return }
        try check(returnURL: request.returnURL)
    }

    /// - Throws: `invalidRequest` for an address that the configuration does not allow.
    func check(returnURL: String?) throws(GatewayError) {
        guard let returnURL else { return }
        guard settings.returnURLs.allows(returnURL) else {
            throw .invalidRequest(field: "return_url", reason: "this address is not one of the allowed return_urls")
        }
    }

    /// The currency of a checkout that names none.
    ///
    /// - Throws: `invalidRequest` where there is no default.
    package func currency(_ asked: Currency?) throws(GatewayError) -> Currency {
        guard let currency = asked ?? settings.defaultCurrency else {
            throw .invalidRequest(field: "currency", reason: "is missing")
        }
        return currency
    }

    /// The accounts that a checkout would try, in its order.
    ///
    /// - Throws: `skuNotFound`, `invalidRequest`.
    package func paymentMethods(
        _ request: CheckoutRequest, user: ExternalUserID
    ) async throws(GatewayError) -> [PaymentMethodView] {
        let offer = try await offers.offer(request, user: user)
        guard !offer.quote.amount.isZero else { return [] }
        return offer.candidates.accounts.flatMap { account in
            Selection.contractTypes(of: account, for: offer.candidates.need).map { PaymentMethodView(account, $0) }
        }
    }

    func refusal(_ candidates: CandidateAccounts, _ context: CallContext) -> GatewayError {
        candidates.refusal(showsAccounts: settings.isDevelopment || context.showsAccounts)
    }
}

// The failover: where an account does not answer, the next one is tried.
extension Cashier {
    /// The number of further accounts that a request tries where its first does not answer; an account that finds the
    /// payment unfit does not count.
    private static let furtherAccounts = 2

    /// Opens a payment that this request has made; where its account does not answer, opens another one at the next
    /// account.
    ///
    /// The first payment is cancelled before that, as in another attempt of the client, so that nobody is charged
    /// twice.
    /// - Throws: the errors of ``PaymentOpening/open(_:accepts:audit:)``.
    func openPayment(
        _ intent: PaymentIntent, _ attempt: CheckoutAttempt, at candidates: CandidateAccounts
    ) async throws(GatewayError) -> PaymentContract {
        var further = candidates.accounts.dropFirst()
        var current = intent
        var unanswered = 0
        while true {
            let isLast = further.isEmpty || unanswered == Self.furtherAccounts
            let result = try await opening.tryOpening(
                current, accepts: attempt.request.accept, insists: candidates.insists || isLast,
                audit: attempt.context.audit, answering: attempt.context)
            switch result {
            case .opened(let contract): return contract
            case .unfit(let reason): if further.isEmpty { throw .providerRejected(reason: reason) }
            case .unanswered, .neverSent:
                guard !isLast else { throw .providerUnavailable }
                unanswered += 1
                if case .neverSent = result { try await withdraw(current.payment.id, attempt) }
            }
            guard let next = further.popFirst() else { throw .providerUnavailable }
            current = try await replace(attempt, on: next)
        }
    }

    /// Continues with a payment that an earlier run under the same key made.
    ///
    /// Continues with the best account that was not tried, if that run ended between cancelling the payment and trying
    /// the next account.
    ///
    /// - Throws: the errors of ``PaymentOpening/resume(_:accepts:audit:)``; `noProviderAvailable` where no other
    ///   account can take the payment.
    func resume(
        _ payment: ID<Payment>, _ attempt: CheckoutAttempt, user: ExternalUserID
    ) async throws(GatewayError) -> PaymentContract {
        let (order, payments) = try await store.read { db in
            (try db.orders.find(attempt.order), try db.payments.list(of: attempt.order).value())
        }
        // The cancelled attempts without a contract, from the newest back to the first that has one: these were the
        // failovers.
        let left = payments.filter { $0.payment.original == nil }.reversed().prefix {
            $0.instruction == nil && $0.payment.state == .cancelled
        }
        guard let order, order.state == .open, let amount = order.amount, left.first?.payment.id == payment,
            left.count <= Self.furtherAccounts
        else {
            return try await opening.resume(payment, accepts: attempt.request.accept, audit: attempt.context.audit)
        }
        var attempt = attempt
        let all = try await offers.candidates(for: order, amount, attempt.request, user: user)
        attempt.request.accept = attempt.request.accept.filter(all.need.leaves)
        var candidates = try all.fitting(attempt.request.wallet, accepts: attempt.request.accept)
        let tried = Set(left.map(\.payment.account))
        // Only one more account, because the limit counts the accounts of all runs of this request.
        candidates.accounts = Array(candidates.accounts.filter { !tried.contains($0.id) }.prefix(1))
        guard let next = candidates.accounts.first else { throw .noProviderAvailable }
        return try await openPayment(try await replace(attempt, on: next), attempt, at: candidates)
    }

    /// Cancels a payment that was not sent to its provider.
    private func withdraw(_ payment: ID<Payment>, _ attempt: CheckoutAttempt) async throws(GatewayError) {
        let real = settlements.time.real.now
        try await settlements.run(attempt.context.audit) { settlement in
            guard let found = try settlement.tx.payments.find(payment).value()?.payment else { return }
            // While this run holds the key, no other run has called the provider.
            try attempt.keepKey(for: payment, in: settlement.tx, at: real)
            let report = PaymentReport(payment: payment, outcome: .cancelled)
            _ = try settlement.apply(.payment(report), from: found.account)
        }
    }

    /// Cancels the order's payments, and writes the intent of one at another account.
    private func replace(
        _ attempt: CheckoutAttempt, on account: ConfiguredAccount
    ) async throws(GatewayError) -> PaymentIntent {
        guard let order = try await store.read({ db in try db.orders.find(attempt.order) }) else {
            throw .providerUnavailable
        }
        var cancelled = AttemptCancellation()
        let audit = attempt.context.audit
        do throws(GatewayError) {
            for _ in 0..<PaymentAttempts.cancellationRounds {
                cancelled = try await attempts.cancel(of: order.id, audit: audit, after: cancelled)
                let (earlier, keyRing, real) = (cancelled, contracts.keyRing, settlements.time.real.now)
                let next = try await settlements.run(audit) { settlement in
                    try OrderWriter(settlement).addAttempt(
                        order, on: account, attempt.request, earlier, sealedBy: keyRing
                    ) { tx, next in
                        try attempt.keepKey(for: next, in: tx, at: real)
                    }
                }
                if let next { return next }
            }
        } catch {
            // The payment turned out to be paid, and the order shows it; this request asked for a contract, and there
            // is none.
            throw error == .orderNotOpen ? .providerUnavailable : error
        }
        throw .requestInProgress
    }
}

/// A way to pay, as a frontend sees it.
package struct PaymentMethodView: Encodable, Sendable {
    let account: String
    let kind: String
    let display_name: String
    let type: ContractType
}
