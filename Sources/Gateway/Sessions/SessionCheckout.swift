package import Domain
import ProviderKit
import Store

/// Checkouts of a session: one order at a time, and the rules for the second one (`docs/api.md` section 13).
package struct SessionCheckout: Sendable {
    let settlements: SettlementRunner
    let cashier: Cashier
    let closing: OrderClosing
    let offers: SessionOffers
    /// The real clock.
    let time: TimeSource

    /// The seconds after which a checkout that was cut short no longer blocks the session's next.
    private static let lease: Int64 = 60
    /// The number of orders that one call may close before it makes its own.
    private static let rounds = 3

    private var store: StoreAccess { settlements.store }
    private var contracts: Contracts { cashier.contracts }

    /// Makes the session's order, or continues with the one that it has.
    ///
    /// - Throws: `sessionOver`, `invalidRequest` for a field that contradicts the session, `orderIsPaid`,
    ///   `requestInProgress` while another checkout of the session runs, `providerUnavailable` also where an order for
    ///   another SKU cannot be closed, and the errors of ``Cashier/open(_:user:partner:context:)`` and
    ///   ``Cashier/retry(_:_:user:context:)``.
    package func open(
        _ fields: SessionFields, _ caller: AuthenticatedSession, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        if let resumed = context.resumed {
            return try await exclusively(caller) { () async throws(GatewayError) in
                try await resume(resumed, fields, caller, context)
            }
        }
        try requireRunning(caller)
        let terms = try await terms(of: caller)
        let request = try terms.checkout(fields)
        if let newest = try await newestOrder(of: caller),
            let running = try await runningContract(newest.order, request)
        {
            return running
        }
        return try await exclusively(caller) { () async throws(GatewayError) in
            try await openNow(request, caller, context)
        }
    }

    /// Makes another attempt for an order that the session has made.
    ///
    /// - Throws: `sessionOver`, `orderNotFound`, and the errors of ``Cashier/retry(_:_:user:context:)``.
    package func retry(
        _ order: String, _ fields: SessionFields, _ caller: AuthenticatedSession, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        if context.resumed == nil { try requireRunning(caller) }
        let request = try await terms(of: caller).retry(fields)
        return try await exclusively(caller) { () async throws(GatewayError) in
            try await cashier.retry(order, request, user: caller.user, context: context)
        }
    }

    /// Lists the accounts that a checkout of the session would try, in its order.
    ///
    /// - Throws: `skuNotFound`, `invalidRequest`.
    package func paymentMethods(
        _ fields: SessionFields, _ caller: AuthenticatedSession
    ) async throws(GatewayError) -> [PaymentMethodView] {
        let request = try await terms(of: caller).checkout(fields)
        return try await cashier.paymentMethods(request, user: caller.user).filter { method in
            guard method.type == .wechatJSAPI else { return true }
            let account = settlements.providers.registry.accounts.first { $0.id.rawValue == method.account }
            return account?.fault(of: request.wallet, accepts: [.wechatJSAPI]) == nil
        }
    }

    /// Keeps the plan that the payer chose on the page.
    ///
    /// - Throws: `sessionOver`; `invalidRequest` for a SKU that the session does not offer, or for `days` that are no
    ///   option of it.
    package func choose(
        _ sku: String, days: Int64?, in caller: AuthenticatedSession
    ) async throws(GatewayError) {
        try requireRunning(caller)
        let plans = try await offers.plans(of: caller).plans
        guard let plan = plans.first(where: { $0.sku.id == sku }) else {
            throw .invalidRequest(field: "sku", reason: "is not offered by this session")
        }
        let options = plan.sku.options.map(\.days)
        let isOption = days.map { options.contains($0) && [nil, $0].contains(caller.session.sale.days) } ?? true
        guard isOption, days != nil || !plan.needsDays else {
            let reason: LocalizedText = "must be one of the SKU's options"
            throw .invalidRequest(
                field: "days", reason: reason.with("allowed", .array(options.map { .integer($0) })))
        }
        let chosen = Session.Plan(sku: plan.code, days: days ?? caller.session.sale.days)
        try await store.write { tx in try tx.sessions.choose(chosen, in: caller.id) }
    }

    /// Lists the ids of the SKUs that the session offers at this moment.
    package func skus(of caller: AuthenticatedSession) async throws(GatewayError) -> [String] {
        try await offers.plans(of: caller).codes.map(\.rawValue)
    }

    private func requireRunning(_ caller: AuthenticatedSession) throws(GatewayError) {
        guard caller.session.mayBuy(at: time.now) else { throw .sessionOver }
    }

    private func terms(of caller: AuthenticatedSession) async throws(GatewayError) -> SessionTerms {
        let registry = settlements.providers.registry
        return SessionTerms(
            caller: caller, plans: try await offers.plans(of: caller), publicURL: cashier.settings.publicURL,
            payer: try await payer(of: caller)
        ) { name in AccountID(name).flatMap { registry[$0]?.manifest.kind } }
    }

    /// Reads the payer whom WeChat named to the session.
    private func payer(of caller: AuthenticatedSession) async throws(GatewayError) -> WalletPayer? {
        guard let appID = caller.session.wechatAppID,
            let sealed = try await store.read({ db in try db.sessions.findOpenID(of: caller.id) })
        else { return nil }
        let place = PayerOpenID.place(session: caller.id.rawValue)
        return PayerOpenID.open(sealed, at: place, by: contracts.keyRing).map { WalletPayer(appID: appID, openID: $0) }
    }

    /// Continues with the order or payment that an earlier run under the same key made.
    private func resume(
        _ resumed: String, _ fields: SessionFields, _ caller: AuthenticatedSession, _ context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        let terms = try await terms(of: caller)
        guard let payment = ID<Payment>(resumed) else {
            return try await cashier.open(try terms.checkout(fields), user: caller.user, context: context)
        }
        guard let order = try await store.read({ db in try db.payments.find(payment).value()?.payment.order }) else {
            throw .internalError
        }
        return try await cashier.retry(
            order.rawValue, RetryRequest(try terms.checkout(fields), of: caller.id), user: caller.user,
            context: context)
    }

    /// Runs a checkout while no other one of the session runs.
    ///
    /// Two at once would cancel each other's attempts.
    ///
    /// - Throws: `requestInProgress`.
    private func exclusively(
        _ caller: AuthenticatedSession, _ body: () async throws(GatewayError) -> PaymentContract
    ) async throws(GatewayError) -> PaymentContract {
        let (id, now) = (caller.id, time.now)
        let claimed = try await store.write { tx in try tx.sessions.claim(id, at: now, lease: Self.lease) }
        guard let claimed else { throw .requestInProgress }
        let result: Result<PaymentContract, GatewayError>
        do throws(GatewayError) { result = .success(try await body()) } catch { result = .failure(error) }
        // Ignoring a failure is safe: the lease ends by itself, and the answer is as good.
        try? await store.write { tx in try tx.sessions.release(id, until: claimed) }
        return try result.get()
    }

    private func openNow(
        _ request: CheckoutRequest, _ caller: AuthenticatedSession, _ context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        for _ in 0..<Self.rounds {
            guard let newest = try await newestOrder(of: caller) else {
                return try await makeOrder(1, request, caller, context)
            }
            let order = newest.order
            switch order.state {
            case .closed: return try await makeOrder(newest.n + 1, request, caller, context)
            case .paid: throw .orderIsPaid(order.id)
            case .open: break
            }
            if let running = try await runningContract(order, request) { return running }
            if order.isFor(request), !newest.hasExpired {
                return try await cashier.retry(
                    order.id.rawValue, RetryRequest(request, of: caller.id), user: caller.user, context: context)
            }
            try await close(order, reason: newest.hasExpired ? "expired" : "cancelled", context)
        }
        throw .requestInProgress
    }

    private func makeOrder(
        _ n: Int64, _ request: CheckoutRequest, _ caller: AuthenticatedSession, _ context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        var request = request
        request.session = SessionOrder(session: caller.id, n: n, at: time.now)
        let partner: String? = if case .partner(let name) = caller.session.maker { name } else { nil }
        return try await cashier.open(request, user: caller.user, partner: partner, context: context)
    }

    /// Closes the order of another plan, after its attempts were cancelled.
    private func close(_ order: Order, reason: String, _ context: CallContext) async throws(GatewayError) {
        do throws(GatewayError) {
            try await closing.close(order, reason: reason, audit: context.audit) { _ in }
        } catch {
            throw error == .orderNotOpen ? .orderIsPaid(order.id) : error
        }
    }

    private func newestOrder(
        of caller: AuthenticatedSession
    ) async throws(GatewayError) -> (n: Int64, order: Order, hasExpired: Bool)? {
        let now = settlements.time.now
        return try await store.read { db in
            guard let newest = try db.sessions.findOrder(of: caller.id), let order = try db.orders.find(newest.order)
            else { return nil }
            return (newest.n, order, try order.state == .open && db.orders.hasExpired(order.id, at: now))
        }
    }

    /// Finds the contract of an open order whose running attempt is what the request asks for.
    ///
    /// - Returns: nil where another attempt or another order is needed.
    private func runningContract(
        _ order: Order, _ request: CheckoutRequest
    ) async throws(GatewayError) -> PaymentContract? {
        let now = settlements.time.now
        guard order.state == .open, order.isFor(request) else { return nil }
        if order.mayHaveSetup { return try await runningSetup(order, request) }
        let read = try await store.read { db -> (PaymentRecord, RecurringContract?)? in
            guard try !db.orders.hasExpired(order.id, at: now),
                let last = try db.payments.list(of: order.id).value().last(where: { $0.payment.original == nil })
            else { return nil }
            return (last, try Contracts.renewal(of: order, madeAt: last.payment.createdAt, in: db))
        }
        guard let (found, renewal) = read, !found.payment.state.isFinal, found.instruction != nil else { return nil }
        guard isAsked(found.payment.account, by: request), let instruction = try contracts.instruction(found),
            request.accept.contains(instruction.type), !contracts.hasExpired(instruction)
        else { return nil }
        return try contracts.contract(order, found, opened: instruction, renewal: renewal)
    }

    /// Finds the contract of the set-up of a trial's open order that is what the request asks for.
    private func runningSetup(
        _ order: Order, _ request: CheckoutRequest
    ) async throws(GatewayError) -> PaymentContract? {
        let now = settlements.time.now
        let found = try await store.read { db -> OpenedSetupRecord? in
            guard try !db.orders.hasExpired(order.id, at: now), let setup = try db.setups.find(of: order.id) else {
                return nil
            }
            return try OpenedSetupRecord.load(setup, from: db)
        }
        guard let found, !found.setup.state.isFinal, isAsked(found.setup.account, by: request),
            let instruction = try contracts.instruction(found.setup), request.accept.contains(instruction.type)
        else { return nil }
        return try contracts.contract(found)
    }

    private func isAsked(_ account: AccountID, by request: CheckoutRequest) -> Bool {
        request.provider.map {
            $0 == account.rawValue || $0 == settlements.providers.registry[account]?.manifest.kind
        } ?? true
    }
}

extension Order {
    /// Returns whether an order is for the plan and quantity of a request.
    fileprivate func isFor(_ request: CheckoutRequest) -> Bool {
        sku.rawValue == request.sku && quantity == request.quantity && (request.days == nil || days == request.days)
    }
}

extension RetryRequest {
    /// Makes the request of another attempt from a session's checkout.
    fileprivate init(_ request: CheckoutRequest, of session: ID<Session>) {
        self.init(request)
        self.session = session
    }
}
