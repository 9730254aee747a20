import Domain
import ProviderKit
import Store

/// An order that a checkout wrote, with its next step.
enum PlacedOrder: Sendable {
    case free(ID<Order>)
    case payment(ID<Order>, PaymentIntent)
    /// The set-up of a trial.
    case setup(ID<Order>, SetupIntent)

    var order: ID<Order> {
        switch self {
        case .free(let order), .payment(let order, _), .setup(let order, _): order
        }
    }
}

/// Writes orders, their changes and their attempts inside a settlement's transaction.
struct OrderWriter {
    /// The largest number of a user's orders that may wait for payment.
    static let openOrders: Int64 = 20
    static let attemptLimit = 20

    let settlement: Settlement

    init(_ settlement: Settlement) { self.settlement = settlement }

    private var tx: any Transaction { settlement.tx }
    private var now: Timestamp { settlement.now }

    /// Writes an order and, unless it is free, the intent of its first payment; a free order is paid at once.
    ///
    /// - Parameters:
    ///   - account: the account that takes the payment; nil for a free order, which goes through none.
    ///   - context: the call whose idempotency key is bound to the order.
    ///   - minutes: the time for which the order is open.
    /// - Returns: the order, and the holder of the key where it was claimed here.
    /// - Throws: `alreadyOwned`, `conflict` where the user has too many open orders.
    func place(
        _ request: CheckoutRequest, _ offer: Offer, on account: ConfiguredAccount?, user: ExternalUserID,
        partner: String?, context: CallContext, expiresAfter minutes: Int64, sealedBy keyRing: KeyRing
    ) throws -> (order: PlacedOrder, holder: String?) {
        let userID = try tx.users.ensure(user, candidate: settlement.ids.make(), at: now)
        try tx.users.lock(userID)
        let environment = account?.environment ?? .production
        let managed: ManagedPlan?
        do {
            try refuseOwned(offer.code, offer.sku.kind, userID, in: environment)
            if account == nil { try refuseFreeAgain(offer.sku, offer.code, userID) }
            managed = try settlement.managed.plan(offer, on: account, of: userID, in: request)
        } catch {
            // A repetition at the same moment is told so, and not that the user owns what its twin has made.
            try tx.requireUnused(context, by: userID)
            throw error
        }
        // Before the first write, so that a request which lost its key has changed nothing that must be undone.
        let id = settlement.ids.make(Order.self)
        let holder = try tx.bind(context, to: id.rawValue, of: userID)
        let waiting = try tx.orders.countOpen(of: userID, at: now, upTo: Self.openOrders)
        var order = Order(
            id: id, user: userID, origin: .checkout, sku: offer.code, quantity: request.quantity,
            terms: managed?.terms ?? offer.terms(in: request.locale), days: offer.quote.days,
            amount: managed?.firstAmount ?? offer.quote.amount, state: .open, platform: request.platform,
            environment: environment, partner: partner, returnURL: request.returnURL,
            metadata: request.metadata, createdAt: now, expiresAt: now.adding(seconds: minutes * 60))
        if let managed { order = try settlement.managed.open(managed, for: order) }
        if let external = offer.external {
            let token = try settlement.external.keep(
                external.token, at: external.account, for: userID, source: .checkout)
            order.external = ExternalSale(
                token: token.id, storefront: external.storefront, taxRate: external.taxRate)
        }
        try tx.orders.insert(order)
        if let next = request.session { try insert(order, as: next) }
        let opened = try settlement.log.appendTimeline(order, "order.opened", "\(offer.quote.amount)")
        try settlement.log.audit(
            order, "order.opened", before: "", after: "\(order.sku.rawValue) \(offer.quote.amount)", isNew: true)
        guard let account else {
            try settlement.log.emit(.orderOpened, OrderSnapshot(made: order, timeline: [opened]))
            try completeFree(order)
            return (.free(order.id), holder)
        }
        if let managed, managed.isTrial {
            let setup = try settlement.managed.intendTrial(order, RetryRequest(request))
            try settlement.log.emit(.orderOpened, OrderSnapshot(made: order, timeline: [opened]))
            try Self.refuseMore(than: waiting)
            return (.setup(order.id, setup), holder)
        }
        let (intent, intended) = try intend(order, on: account, for: RetryRequest(request), sealedBy: keyRing)
        try settlement.log.emit(
            .orderOpened, OrderSnapshot(made: order, payment: intent.payment, timeline: [opened, intended]))
        try Self.refuseMore(than: waiting)
        return (.payment(order.id, intent), holder)
    }

    /// Refuses an order beside too many open ones.
    ///
    /// - Parameter waiting: their count, which was requested before this order was inserted and is read last, so that it
    ///   costs no round trip of its own.
    private static func refuseMore(than waiting: DeferredResult<Int64>) throws {
        guard try waiting.value() < openOrders else {
            throw GatewayError.conflict(
                reason: "a user has at most \(openOrders) open orders; pay or cancel one of them")
        }
    }

    /// Writes the durable intent of a payment, before its provider is called.
    ///
    /// - Returns: the intent, and its entry in the order's history.
    func intend(
        _ order: Order, on account: ConfiguredAccount, for request: RetryRequest, sealedBy keyRing: KeyRing
    ) throws -> (intent: PaymentIntent, entry: TimelineEntry) {
        guard let amount = order.amount else { throw GatewayError.orderNotOpen }
        var order = order
        if order.environment != account.environment {
            try tx.orders.setEnvironment(account.environment, of: order.id)
            order.environment = account.environment
        }
        try settlement.managed.move(order, to: account)
        let payment = Payment(
            id: settlement.ids.make(), order: order.id, account: account.id, amount: amount, platform: request.platform,
            returnURL: request.returnURL ?? order.returnURL, environment: account.environment, createdAt: now)
        let wallet = account.needed(of: request.wallet, accepts: request.accept)
        try tx.payments.insert(
            payment,
            recurring: order.period != nil || (order.terms.kind == .subscription && account.manifest.recurring),
            accepts: request.accept,
            payer: SealedPayer(
                address: try request.payerAddress.map { try PayerAddress.seal($0, of: payment.id, by: keyRing) },
                appID: wallet?.appID,
                openID: try wallet?.openID.map {
                    let place = PayerOpenID.place(payment: payment.id.rawValue)
                    return try PayerOpenID.seal($0, at: place, by: keyRing)
                }))
        let entry = try settlement.log.appendTimeline(order, "payment.created", "\(payment.id) \(account.id.rawValue)")
        let intent = PaymentIntent(
            order: order, payment: payment, payerAddress: request.payerAddress?.description, wallet: wallet)
        return (intent, entry)
    }

    /// Stores a new order as its session's next; the caller holds the user's lock.
    ///
    /// - Throws: `sessionOver`; `requestInProgress` where another checkout of the session has made its next order.
    func insert(_ order: Order, as next: SessionOrder) throws {
        guard let session = try tx.sessions.lock(next.session), session.mayBuy(at: next.at) else {
            throw GatewayError.sessionOver
        }
        // A session lives in real time, and the order's end is business time.
        let orderEnd = next.at.adding(seconds: order.expiresAt.rawValue - now.rawValue)
        let until = Session.readableUntil(session.expiresAt, orderExpiresAt: orderEnd)
        let plan = Session.Plan(sku: order.sku, days: order.days)
        guard try tx.sessions.insertOrder(order.id, next.n, of: session.id, plan: plan, readableUntil: until) else {
            throw GatewayError.requestInProgress
        }
    }

    /// Refuses a non-consumable that the user owns, in this environment or for real money.
    ///
    /// Test money buys nothing that is owned anyway; what it bought hinders no purchase for real money.
    ///
    /// - Throws: `alreadyOwned`.
    func refuseOwned(_ sku: SKUCode, _ kind: SKU.Kind, _ user: ID<User>, in environment: Environment) throws {
        guard kind == .nonConsumable else { return }
        for environment in Set([environment, .production])
        where try settlement.entitlements.owns(sku, user, in: environment, besides: nil) {
            throw GatewayError.alreadyOwned
        }
    }

    /// Refuses a free SKU that the user had before, as the SKU's `once` requires; the caller holds the user's lock.
    ///
    /// - Throws: `alreadyOwned`.
    func refuseFreeAgain(_ sku: SKU, _ code: SKUCode, _ user: ID<User>) throws {
        switch sku.once {
        case .none: return
        case .ever: if try tx.orders.hasFree(of: user, sku: code) { throw GatewayError.alreadyOwned }
        case .running: break
        }
        let runs = EntitlementRules.fold(try tx.grants.list(of: user).value(), now: now).entitlements.contains {
            $0.grant.sku == code && $0.grant.environment == .production
                && ($0.status.holds || $0.status == .scheduled)
        }
        if runs { throw GatewayError.alreadyOwned }
    }

    /// Marks a free order as paid.
    func completeFree(_ order: Order) throws {
        try tx.orders.move(order.id, from: .open, to: .paid, paidBy: nil, at: now)
        try settlement.log.appendTimeline(order, "order.paid", "free")
        try settlement.log.audit(order, "order.paid", before: "open", after: "paid")
        try settlement.entitlements.grant(order)
        try settlement.log.emit(.orderPaid, order.id)
        try settlement.entitlements.recompute(order.id)
    }

    /// Writes the intent of another attempt under the order's lock.
    ///
    /// - Parameter bind: binds the run's key to the attempt.
    /// - Returns: nil where an attempt was made since the others were cancelled, which must be cancelled as well.
    /// - Throws: `orderNotOpen`, `alreadyOwned`, `conflict` after 20 attempts.
    func addAttempt(
        _ order: Order, on account: ConfiguredAccount, _ request: RetryRequest, _ cancelled: AttemptCancellation,
        sealedBy keyRing: KeyRing, bind: (any Transaction, ID<Payment>) throws -> Void
    ) throws -> PaymentIntent? {
        try tx.users.lock(order.user)
        guard let current = try tx.orders.lock(order.id), current.state == .open, current.amount != nil,
            try !tx.orders.hasExpired(order.id, at: now)
        else { throw GatewayError.orderNotOpen }
        try refuseOwned(current.sku, current.terms.kind, current.user, in: account.environment)
        let payments = try tx.payments.list(of: order.id).value()
        guard payments.count < Self.attemptLimit else {
            throw GatewayError.conflict(reason: "the order has had \(Self.attemptLimit) attempts; make a new one")
        }
        let open = payments.map(\.payment).filter { !$0.state.isFinal || cancelled.uncertain.contains($0.id) }
        guard open.allSatisfy({ cancelled.asked.contains($0.id) }) else { return nil }
        for payment in open where payment.state != .succeeded && payment.state != .failed && !payment.unfenced {
            try tx.payments.markUnfenced(payment.id)
            try settlement.log.appendTimeline(current, "payment.unfenced", payment.id.rawValue)
            try settlement.log.audit(
                current, "payment.unfenced", before: payment.state.rawValue, after: "\(payment.id) may still be paid")
        }
        let intent = try intend(current, on: account, for: request, sealedBy: keyRing).intent
        try bind(tx, intent.payment.id)
        return intent
    }

    /// Closes an order where it is open; the caller holds its lock.
    func close(_ order: Order, reason: String) throws {
        guard order.state == .open else { return }
        try tx.orders.move(order.id, from: .open, to: .closed, paidBy: nil, at: now)
        try settlement.log.appendTimeline(order, "order.closed", reason)
        try settlement.log.audit(order, "order.closed", before: "open", after: "closed: \(reason)")
        try settlement.log.emit(.orderClosed, order.id)
    }
}
