/// The state that follows from the journal: what must, may and must not be in the database.
struct Expectation: Sendable {
    /// A transaction of the App Store and the users who claimed it.
    struct Purchase: Sendable {
        let sale: Sale
        var claimants: Set<String> = []
        /// The orders that each user was told.
        var attached: [String: Set<String>] = [:]
        var refused: Set<String> = []

        /// The users who may own it, judged by the answers.
        var candidates: Set<String> {
            attached.isEmpty ? claimants.subtracting(refused) : Set(attached.keys)
        }
    }

    /// A checkout, by its key.
    struct Checkout: Sendable {
        let cart: Cart
        /// The orders that the client was told; more than one is a violation, because one key makes one order.
        var told: Set<OpenedOrder> = []
    }

    /// The requests about an order that a client knows, with their answers.
    struct Ending: Sendable {
        let order: OpenedOrder
        /// The events that were sent, and those of them that were acknowledged.
        var events: Set<String> = []
        var acknowledged: Set<String> = []
        /// Requests with a token, or about a payment at the payment service.
        var tokens = 0
        var isPaidByToken = false
        var isNotCharged = false
        var cancellations = 0
        var cancelled = false
        var paidAlready = false
        /// The amount of the requested refund; at most one is requested, under one key.
        var refund: Int64?
        /// Refunds by their ids: true where the money went back.
        var refunds: [String: Bool] = [:]
        /// True for a failed refund that was sent only once, which cannot fail.
        var failedAtOnce = false
        var isNotRefunded = false
    }

    private(set) var purchases: [String: Purchase] = [:]
    private(set) var checkouts: [String: Checkout] = [:]
    /// The endings by order id.
    private(set) var endings: [String: Ending] = [:]
    /// Events that report no payment.
    private(set) var rumours: Set<String> = []
    private(set) var acknowledgedRumours: Set<String> = []
    private(set) var forgeries = 0

    init(_ calls: [Call]) {
        for call in calls {
            switch call.purpose {
            case .attach(let sale, let user): attach(sale, user, call.told)
            case .checkout(let cart): open(cart, call.told)
            case .notify(let event, let order):
                endings[order.id, default: Ending(order: order)].events.insert(event)
                if call.told != nil { endings[order.id]?.acknowledged.insert(event) }
            case .pay(let order), .refresh(let order):
                endings[order.id, default: Ending(order: order)].tokens += 1
                if call.told == .paid { endings[order.id]?.isPaidByToken = true }
                if call.told == .notCharged { endings[order.id]?.isNotCharged = true }
            case .rumour(let event, _):
                rumours.insert(event)
                if call.told != nil { acknowledgedRumours.insert(event) }
            case .forge:
                forgeries += call.sends
            case .cancel(let order):
                endings[order.id, default: Ending(order: order)].cancellations += 1
                if call.told == .cancelled { endings[order.id]?.cancelled = true }
                if call.told == .paidAlready { endings[order.id]?.paidAlready = true }
            case .refund(let order, let amount):
                endings[order.id, default: Ending(order: order)].refund = amount ?? order.amount
                if case .refunded(let id) = call.told { endings[order.id]?.refunds[id] = true }
                if case .refundFailed(let id) = call.told {
                    endings[order.id]?.refunds[id] = false
                    if call.sends == 1 { endings[order.id]?.failedAtOnce = true }
                }
                if call.told == .notRefunded { endings[order.id]?.isNotRefunded = true }
            }
        }
    }

    private mutating func attach(_ sale: Sale, _ user: String, _ told: Told?) {
        var purchase = purchases[sale.id] ?? Purchase(sale: sale)
        purchase.claimants.insert(user)
        if case .attached(let order) = told { purchase.attached[user, default: []].insert(order) }
        if told == .ownedByAnother { purchase.refused.insert(user) }
        purchases[sale.id] = purchase
    }

    private mutating func open(_ cart: Cart, _ told: Told?) {
        var checkout = checkouts[cart.key] ?? Checkout(cart: cart)
        if case .opened(let order, let payment, let amount, _) = told {
            let opened = OpenedOrder(id: order, payment: payment, cart: cart, amount: amount)
            checkout.told.insert(opened)
            if endings[order] == nil { endings[order] = Ending(order: opened) }
        }
        checkouts[cart.key] = checkout
    }
}

extension Expectation.Ending {
    /// True where a client was told that the order is paid.
    var mustBePaid: Bool { order.cart.isPaidAtOnce || !acknowledged.isEmpty || paidAlready || isPaidByToken }
    var mayBePaid: Bool { order.cart.isPaidAtOnce || !events.isEmpty || tokens > 0 }
    var isRefundWhole: Bool { refund == order.amount }
}
