package import Domain
import ProviderKit
import Store

extension Gateway {
    /// Makes an order and the contract to pay it.
    ///
    /// The order and the payment's intent are durable before the provider is called. A run under an idempotency key that
    /// was cut short goes on with the order that it made.
    /// - Throws: `invalidRequest`, `skuNotFound`, `noProviderAvailable`, `alreadyOwned`, and those of
    ///   ``openPayment(_:_:along:)``.
    package func openCheckout(
        _ request: CheckoutRequest, user: ExternalUserID, partner: String? = nil, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        if let order = context.resumed.flatMap(ID<Order>.init) {
            return try await continueCheckout(order, request, user: user, context: context)
        }
        try check(returnURL: request.returnURL)
        let offer = try await offer(request, user: user)
        if offer.quote.amount.isZero {
            let order = try await placeOrder(request, offer, on: nil, user: user, partner: partner, context: context)
            return try await contract(of: order.order)
        }
        guard let account = offer.route.accounts.first else { throw noProvider(offer.route, context) }
        let placed = try await placeOrder(request, offer, on: account, user: user, partner: partner, context: context)
        guard let intent = placed.intent else { throw .internalError }
        let passage = Passage(
            order: placed.order, request: RetryRequest(request), context: context, isCheckout: true)
        return try await openPayment(intent, passage, along: offer.route)
    }

    func check(returnURL: String?) throws(GatewayError) {
        guard let returnURL else { return }
        guard settings.returnURLs.allows(returnURL) else {
            throw .invalidRequest(field: "return_url", reason: "this address is not one of the allowed return_urls")
        }
    }

    /// Writes the order and, unless it is free, the intent of its first payment; a free order is paid at once.
    private func placeOrder(
        _ request: CheckoutRequest, _ offer: Offer, on account: ConfiguredAccount?, user: ExternalUserID,
        partner: String?,
        context: CallContext
    ) async throws(GatewayError) -> (order: ID<Order>, intent: PaymentIntent?) {
        let (ids, now, keyRing) = (ids, time.now, keyRing)
        let expiry = now.adding(seconds: settings.policies.expireAfterMinutes * 60)
        return try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            let tx = settlement.tx
            let userID = try tx.ensureUser(user, candidate: ids.make(), at: now)
            try tx.lockUser(userID)
            // What costs nothing goes through no account.
            let environment = account?.environment ?? .production
            try settlement.refuseOwned(offer.code, offer.sku.kind, userID, in: environment)
            if account == nil { try settlement.refuseFreeAgain(offer.sku, offer.code, userID) }
            let waiting = try tx.askOpenOrders(of: userID, at: now, upTo: Settlement.openOrders)
            let order = Order(
                id: ids.make(), user: userID, origin: .checkout, sku: offer.code, quantity: request.quantity,
                terms: offer.terms(in: request.locale), days: offer.quote.days, amount: offer.quote.amount,
                state: .open,
                platform: request.platform, environment: environment, partner: partner, returnURL: request.returnURL,
                metadata: request.metadata, createdAt: now, expiresAt: expiry)
            try tx.insertOrder(order)
            try tx.bind(context, to: order.id.rawValue)
            let opened = try settlement.note(order, "order.opened", "\(offer.quote.amount)")
            try settlement.audit(
                order, "order.opened", before: "", after: "\(order.sku.rawValue) \(offer.quote.amount)", isNew: true)
            guard let account else {
                try settlement.emit(.orderOpened, OrderSnapshot(made: order, timeline: [opened]))
                try settlement.completeFree(order)
                return (order.id, nil)
            }
            let (intent, intended) = try settlement.intend(
                order, on: account, for: RetryRequest(request), sealedBy: keyRing)
            try settlement.emit(
                .orderOpened, OrderSnapshot(made: order, payment: intent.payment, timeline: [opened, intended]))
            // Counted before this order, and looked at only now, so that nobody waits for it alone.
            guard try waiting.value() < Settlement.openOrders else {
                throw GatewayError.conflict(
                    reason: "a user has at most \(Settlement.openOrders) open orders; pay or cancel one of them")
            }
            return (order.id, intent)
        }
    }

    /// Goes on with an order that an earlier run made, by its newest payment.
    private func continueCheckout(
        _ order: ID<Order>, _ request: CheckoutRequest, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> PaymentContract {
        let newest = try await read { db in
            try db.payments(of: order).last { $0.payment.original == nil }?.payment.id
        }
        guard let newest else { return try await contract(of: order) }
        let passage = Passage(order: order, request: RetryRequest(request), context: context, isCheckout: true)
        return try await resume(newest, passage, user: user)
    }
}

extension Settlement {
    /// The durable intent of a payment, before its provider hears of it, and what the order's history says of it.
    func intend(
        _ order: Order, on account: ConfiguredAccount, for request: RetryRequest, sealedBy keyRing: KeyRing
    ) throws -> (intent: PaymentIntent, entry: TimelineEntry) {
        guard let amount = order.amount else { throw GatewayError.orderNotOpen }
        var order = order
        if order.environment != account.environment {
            try tx.setEnvironment(account.environment, of: order.id)
            order.environment = account.environment
        }
        let payment = Payment(
            id: ids.make(), order: order.id, account: account.id, amount: amount, platform: request.platform,
            returnURL: request.returnURL ?? order.returnURL, environment: account.environment, createdAt: now)
        try tx.insertPayment(
            payment, recurring: order.terms.kind == .subscription && account.manifest.recurring,
            accepts: request.accept,
            payerAddress: try request.payerAddress.map { try PayerAddress.seal($0, of: payment.id, by: keyRing) })
        let entry = try note(order, "payment.created", "\(payment.id) \(account.id.rawValue)")
        return (PaymentIntent(order: order, payment: payment, payerAddress: request.payerAddress?.description), entry)
    }

    /// So many orders of a user wait for their payment at most.
    static let openOrders: Int64 = 20

    /// Refuses a non-consumable that the user has already in this environment.
    func refuseOwned(_ sku: SKUCode, _ kind: SKU.Kind, _ user: ID<User>, in environment: Environment) throws {
        if kind == .nonConsumable, try owns(sku, user, in: environment, besides: nil) {
            throw GatewayError.alreadyOwned
        }
    }

    /// Refuses what the user had for nothing already, as far as the SKU says so; the caller holds the user's lock.
    func refuseFreeAgain(_ sku: SKU, _ code: SKUCode, _ user: ID<User>) throws {
        switch sku.once {
        case .none: return
        case .ever: if try tx.hasFreeOrder(of: user, sku: code) { throw GatewayError.alreadyOwned }
        case .running: break
        }
        let runs = EntitlementRules.fold(try tx.grants(of: user), now: now).entitlements.contains {
            $0.grant.sku == code && $0.grant.environment == .production
                && ($0.status.holds || $0.status == .scheduled)
        }
        if runs { throw GatewayError.alreadyOwned }
    }

    /// Pays an order that costs nothing.
    mutating func completeFree(_ order: Order) throws {
        try tx.moveOrder(order.id, from: .open, to: .paid, paidBy: nil, at: now)
        try note(order, "order.paid", "free")
        try audit(order, "order.paid", before: "open", after: "paid")
        try grant(order)
        try emit(.orderPaid, order.id)
        try regrade(order.id)
    }
}
