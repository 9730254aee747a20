import Domain
import Foundation
import TestSupport

/// A client: buys, pays, cancels and attaches until the server dies, and records the answers.
struct Client {
    let journal: Journal
    let service: PaymentService
    /// The user who buys; replaced after some checkouts, because a user has at most 20 open orders.
    private(set) var user: String
    /// Another user, who claims this client's purchases, too.
    let rival: String
    let adminKey: String
    /// A name that no other client of any round has, for what this client makes.
    let name: String
    /// Two, because requests at the same moment need connections of their own.
    private var connections: [HTTPConnection]
    private let port: UInt16
    var dice: Dice
    private var count = 0
    private var checkouts = 0
    private static let checkoutsOfUser = 15
    /// Notifications that will be sent once more, long after.
    private var late: [Act] = []

    init(
        _ journal: Journal, _ service: PaymentService, user: String, rival: String, adminKey: String, port: UInt16,
        dice: Dice
    ) {
        self.journal = journal
        self.service = service
        self.user = user
        self.rival = rival
        self.adminKey = adminKey
        self.dice = dice
        self.port = port
        name = user
        connections = [HTTPConnection(port: port), HTTPConnection(port: port)]
    }

    /// The error of a connection that ended: the server is dead, or dies before the outcome of the request is known.
    struct Cut: Error {}

    /// Sends requests until the server is gone or the task is cancelled.
    ///
    /// - Returns: whether the server was gone.
    mutating func run() async throws -> Bool {
        do {
            while !Task.isCancelled {
                switch Int.random(in: 0..<100, using: &dice) {
                case ..<40: try await buyInStore()
                case ..<75: try await buyAtCashier()
                case ..<90: try await buyAtService()
                default: try await buyByWallet()
                }
            }
        } catch is Cut {
            return true
        }
        return false
    }

    // MARK: App Store

    private mutating func buyInStore() async throws {
        let (sale, jws) = makeSale()
        let own = try attachment(sale, jws, by: user)
        if dice.chance(30) {
            try await both(own, try attachment(sale, jws, by: rival))
        } else {
            try await ask(own)
        }
        if dice.chance(40) { try await ask(try attachment(sale, jws, by: user)) }
    }

    mutating func makeSale() -> (sale: Sale, jws: String) {
        let isConsumable = dice.chance(50)
        let goods = isConsumable ? Configuration.coins : Configuration.pass
        let quantity: Int64 = isConsumable ? .random(in: 1...5, using: &dice) : 1
        let now = Timestamp(Int64(Date().timeIntervalSince1970) - 10)
        let minted = AppleSale(goods.product, isConsumable ? AppleSale.consumable : AppleSale.pass, at: now) {
            $0.quantity = isConsumable ? quantity : nil
            $0.price = goods.price * quantity * 10
            $0.currency = "CNY"
        }
        return (Sale(id: minted.id, isConsumable: isConsumable, quantity: quantity), minted.jws)
    }

    mutating func attachment(_ sale: Sale, _ jws: String, by user: String) throws -> Act {
        let key = dice.chance(40) ? nextKey() : nil
        let request = try Request.post(
            "/v1/public/iap/apple/transactions/attach", bearer: UserToken.make(user), key: key,
            ["signed_transaction_jws": jws])
        return Act(purpose: .attach(sale, user: user), request: request)
    }

    // MARK: Cashier

    private struct Checkout: Encodable {
        let sku: String
        let quantity: Int64
        let platform = "web"
        let currency = "CNY"
        let provider: String
        let accept: [String]
        let metadata: [String: String]
    }

    private mutating func buyAtCashier() async throws {
        let (cart, act) = try checkout(
            at: dice.chance(25) ? Configuration.noneAccount : Configuration.urlAccount)
        let told = dice.chance(20) ? try await both(act, act) : try await ask(act)
        if dice.chance(20) { try await ask(act) }
        // The second of two equal requests at the same time may be answered "try again".
        guard case .opened(let order, let payment, let amount, _) = told else { return }
        try await end(OpenedOrder(id: order, payment: payment, cart: cart, amount: amount))
    }

    mutating func checkout(at account: String) throws -> (cart: Cart, act: Act) {
        checkouts += 1
        if checkouts.isMultiple(of: Self.checkoutsOfUser) { user = "\(name)-\(checkouts / Self.checkoutsOfUser)" }
        let isConsumable = dice.chance(50)
        let cart = Cart(
            key: nextKey(), user: user, isConsumable: isConsumable,
            quantity: isConsumable ? .random(in: 1...5, using: &dice) : 1, account: account)
        let body = Checkout(
            sku: (isConsumable ? Configuration.coins : Configuration.pass).sku, quantity: cart.quantity,
            provider: cart.account, accept: [cart.contractType], metadata: [Cart.label: cart.key])
        let request = try Request.post("/v1/public/checkout", bearer: UserToken.make(user), key: cart.key, body)
        return (cart, Act(purpose: .checkout(cart), request: request))
    }

    private mutating func end(_ order: OpenedOrder) async throws {
        guard !order.cart.isPaidAtOnce else { return try await refundSome(order) }
        switch Int.random(in: 0..<100, using: &dice) {
        case ..<65:
            if try await pay(order) { try await refundSome(order) }
        case ..<75:
            try await ask(try cancellation(order, key: optionalKey()))
        case ..<82:
            try await both(try cancellation(order, key: optionalKey()), try notification(order, event: nextKey()))
        case ..<88:
            // A payment that arrives after the cancellation.
            try await ask(try cancellation(order, key: optionalKey()))
            try await pay(order)
        default:
            break
        }
    }

    /// Notifies of the payment: sometimes twice, sometimes under two event ids, and sometimes beside false
    /// notifications.
    ///
    /// - Returns: whether the payment was acknowledged.
    @discardableResult
    private mutating func pay(_ order: OpenedOrder) async throws -> Bool {
        if dice.chance(20) { try await ask(try rumour(order)) }
        if dice.chance(20) { try await ask(try forgery(order)) }
        let act = try notification(order, event: nextKey())
        let told = dice.chance(30) ? try await both(act, act) : try await ask(act)
        if dice.chance(20) { try await ask(act) }
        if dice.chance(10) { try await ask(try notification(order, event: nextKey())) }
        if dice.chance(20) { try await ask(try rumour(order)) }
        if let late = late.randomElement(using: &dice), dice.chance(20) { try await ask(late) }
        if told != nil, dice.chance(20) { late.append(act) }
        return told != nil
    }

    func notification(_ order: OpenedOrder, event: String) throws -> Act {
        let body = SandboxNotification(event_id: event, payment: order)
        return Act(purpose: .notify(event: event, order), request: try Request.notification(body))
    }

    /// Makes a genuine notification that comes too early or too late, and pays nothing.
    private mutating func rumour(_ order: OpenedOrder) throws -> Act {
        let event = nextKey()
        let types = ["payment.pending", "payment.authorised"]
        let body = SandboxNotification(
            event_id: event, payment: order, type: types[Int.random(in: 0..<types.count, using: &dice)])
        return Act(purpose: .rumour(event: event, order), request: try Request.notification(body))
    }

    /// Makes a notification that was changed after it was signed.
    private mutating func forgery(_ order: OpenedOrder) throws -> Act {
        let event = nextKey()
        let genuine = SandboxNotification(event_id: event, payment: order, type: "payment.pending")
        let changed = SandboxNotification(event_id: event, payment: order)
        return Act(
            purpose: .forge(event: event), request: try Request.notification(changed, signedAs: genuine))
    }

    func cancellation(_ order: OpenedOrder, key: String? = nil) throws -> Act {
        let request = try Request.post(
            "/v1/public/orders/\(order.id)/cancel", bearer: UserToken.make(order.cart.user), key: key,
            [String: String]())
        return Act(purpose: .cancel(order), request: request)
    }

    private struct RefundBody: Encodable {
        let amount: Price?
        let reason = "fault test"
    }

    mutating func refundSome(_ order: OpenedOrder) async throws {
        guard dice.chance(35) else { return }
        let act = try refund(order, amount: dice.chance(50) ? nil : order.amount / 2)
        if dice.chance(30) { try await both(act, act) } else { try await ask(act) }
    }

    mutating func refund(_ order: OpenedOrder, amount: Int64?) throws -> Act {
        let request = try Request.post(
            "/v1/admin/orders/\(order.id)/refunds", bearer: adminKey, key: nextKey(),
            RefundBody(amount: amount.map { Price(value: $0, currency: "CNY") }))
        return Act(purpose: .refund(order, amount: amount), request: request)
    }

    // MARK: Payment service

    /// Buys at the payment service: it notifies the server of the payment, or the client asks the server to query it;
    /// sometimes the order is cancelled at that moment.
    private mutating func buyAtService() async throws {
        let (cart, act) = try checkout(at: Configuration.serviceAccount)
        let told = dice.chance(20) ? try await both(act, act) : try await ask(act)
        guard case .opened(let order, let payment, let amount, _) = told, dice.chance(90) else { return }
        let opened = OpenedOrder(id: order, payment: payment, cart: cart, amount: amount)
        let (isCancelled, isTold) = (dice.chance(15), dice.chance(50))
        let cancellation = try cancellation(opened, key: optionalKey())
        if isCancelled && dice.chance(50) { try await ask(cancellation) }
        guard service.book.pay(payment) else { return }
        let report = isTold ? try notice(opened, event: nextKey()) : try question(opened)
        let paid = isCancelled ? try await both(report, cancellation) : try await ask(report)
        if isTold, dice.chance(20) { try await ask(report) }
        if paid != nil { try await refundSome(opened) }
    }

    private func notice(_ order: OpenedOrder, event: String) throws -> Act {
        Act(purpose: .notify(event: event, order), request: try service.notification(event, order))
    }

    private func question(_ order: OpenedOrder) throws -> Act {
        let request = try Request.post(
            "/v1/public/orders/\(order.id)/refresh", bearer: UserToken.make(user), [String: String]())
        return Act(purpose: .refresh(order), request: request)
    }

    // MARK: Asking

    struct Act: Sendable {
        let purpose: Purpose
        let request: Request
    }

    mutating func reconnect() { connections = [HTTPConnection(port: port), HTTPConnection(port: port)] }

    mutating func nextKey() -> String {
        count += 1
        return "\(name)-\(count)"
    }

    private mutating func optionalKey() -> String? { dice.chance(50) ? nextKey() : nil }

    @discardableResult
    func ask(_ act: Act, on connection: Int = 0) async throws -> Told? {
        let number = journal.begin(act.purpose, act.request)
        guard let reply = await connections[connection].send(act.request) else { throw Cut() }
        let reading = Reading(reply, to: act.purpose)
        // A client that is told to try again waits a moment.
        if case .later = reading { try? await Task.sleep(for: .milliseconds(20)) }
        return journal.end(number, reading, retryAt: nil)
    }

    /// Sends two requests at the same moment.
    ///
    /// - Returns: the answer to the first, or else that to the second.
    @discardableResult
    func both(_ first: Act, _ second: Act) async throws -> Told? {
        async let one = ask(first)
        async let other = ask(second, on: 1)
        let (told, alsoTold) = (try await one, try await other)
        return told ?? alsoTold
    }
}

extension Cart {
    /// The metadata by which the checker finds an order.
    static let label = "journal"

    /// The order's metadata as they are stored.
    var metadata: String { #"{"\#(Self.label)":"\#(key)"}"# }
}
