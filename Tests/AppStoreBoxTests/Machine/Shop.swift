import Domain
import Synchronization

@testable import AppStoreBox

/// An App Store in a box whose rows are kept in memory, read by need as the database reads them.
struct Shop {
    static let day: Int64 = 86_400_000
    static let month = "com.example.month"
    static let year = "com.example.year"
    static let other = "com.example.other"
    static let coins = "com.example.coins"
    static let device = "com.example.device"

    /// 2026-01-31T10:00:00.123Z.
    static let january31: Int64 = 1_769_853_600_123

    var meta = BoxMeta(lastNumber: 41)
    var transactions: [String: BoxTransaction] = [:]
    var subscriptions: [String: BoxSubscription] = [:]
    var notifications: [BoxNotification] = []
    var sent: [String] = []
    var now = Shop.january31
    var products = Shop.products
    private let random: RandomSource

    init() {
        let generator = Mutex<UInt64>(7)
        random = RandomSource { count in
            (0..<count).map { _ in
                generator.withLock { state in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return UInt8(truncatingIfNeeded: state >> 33)
                }
            }
        }
    }

    static let products = [
        product(month, .subscription, group: "Pro", period: "P1M", 10_000),
        product(year, .subscription, group: "Pro", period: "P1Y", 100_000),
        product(other, .subscription, group: "Other", period: "P1W", 3_000),
        product(coins, .consumable, 1_000), product(device, .nonConsumable, 50_000),
    ]

    private static func product(
        _ id: String, _ kind: SKU.Kind, group: String? = nil, period: String? = nil, _ price: Int64
    ) -> BoxProduct {
        BoxProduct(
            productID: id, name: id, kind: kind, group: group, level: 1, period: period.flatMap(StoreKitPeriod.init),
            prices: [
                BoxProduct.Price(currency: "CNY", milliunits: price * 7),
                BoxProduct.Price(currency: "USD", milliunits: price),
            ])
    }

    // MARK: Calls

    mutating func buy(
        _ productID: String = Shop.month, customer: String = "default", quantity: Int64 = 1,
        offer: BoxPurchaseRequest.Offer? = nil, token: String? = nil
    ) throws -> BoxPurchase {
        guard let usa = Storefront("USA") else { throw BoxError.notFound("storefront") }
        let request = BoxPurchaseRequest(
            productID: productID, appAccountToken: token, quantity: quantity, offer: offer, storefront: usa,
            customer: customer)
        return try update(try request.need(products)) { try $0.purchase(request) }
    }

    @discardableResult
    mutating func act(_ original: String, _ act: BoxSubscriptionAct) throws -> BoxDone {
        try update(act.need(original)) { try $0.act(on: original, act) }
    }

    @discardableResult
    mutating func act(transaction: String, _ act: BoxTransactionAct) throws -> BoxDone {
        try update(.transaction(transactionID: transaction)) { try $0.act(onTransaction: transaction, act) }
    }

    mutating func deliver(_ mode: BoxMeta.Delivery.Mode, seconds: Int64 = 60) {
        meta = meta.delivering(BoxMeta.Delivery(mode: mode, seconds: seconds))
    }

    /// Moves the clock as Paydesk does: to each time at which something is due, and at last to the goal.
    mutating func advance(to goal: Int64) throws {
        while let due = nextDue, due <= goal {
            now = max(now, due)
            while try update(.due(at: now), { $0.runDue() }) {}
        }
        now = max(now, goal)
    }

    mutating func advance(days: Int64) throws { try advance(to: now + days * Self.day) }

    var nextDue: Int64? {
        (subscriptions.values.compactMap(\.nextAt) + notifications.compactMap(\.dueAt)).min()
    }

    /// Types and subtypes of all notifications, oldest first.
    var told: [String] {
        notifications.sorted { $0.number < $1.number }.map {
            [$0.type.rawValue, $0.subtype?.rawValue].compactMap { $0 }.joined(separator: " ")
        }
    }

    // MARK: Storage

    private mutating func update<Result>(
        _ need: BoxNeed, _ change: (inout BoxMachine) throws -> Result
    ) throws -> Result {
        var machine = BoxMachine(scope(need), products: products, now: now, random: random)
        let result = try change(&machine)
        let changes = machine.changes
        meta = changes.meta
        for row in changes.transactions { transactions[row.transactionID] = row }
        for row in changes.subscriptions { subscriptions[row.originalTransactionID] = row }
        for row in changes.notifications {
            notifications.removeAll { $0.uuid == row.uuid }
            notifications.append(row)
        }
        for uuid in changes.send {
            guard let index = notifications.firstIndex(where: { $0.uuid == uuid }) else { continue }
            notifications[index] = notifications[index].trying(BoxNotification.Attempt(at: now, status: 200))
            sent.append(uuid)
        }
        return result
    }

    private func scope(_ need: BoxNeed) -> BoxScope {
        var found: [BoxSubscription] = []
        var purchases: [BoxTransaction] = []
        var waiting = notifications.filter { $0.isShuffled }
        func family(_ original: String) -> [BoxSubscription] {
            subscriptions.values.filter { $0.originalTransactionID == original || $0.sharedFrom == original }
        }
        switch need {
        case .purchase(let customer, .some(let group), _):
            found = subscriptions.values.filter { $0.customer == customer && $0.group == group }
        case .purchase(let customer, .none, let productID):
            purchases = transactions.values.filter { $0.customer == customer && $0.productID == productID }
        case .subscription(let original, let customer):
            found = family(original)
            let group = subscriptions[original]?.group
            found += subscriptions.values.filter { $0.customer == customer && $0.group == group }
        case .transaction(let id):
            purchases = [transactions[id]].compactMap { $0 }
            found = purchases.flatMap { family($0.originalTransactionID) }
        case .due(let time):
            found = subscriptions.values.filter { ($0.nextAt ?? .max) <= time }
            waiting += notifications.filter { ($0.dueAt ?? .max) <= time && !$0.isShuffled }
        }
        purchases += found.compactMap { transactions[$0.currentTransactionID] }
        return BoxScope(meta: meta, subscriptions: found, transactions: purchases, waiting: waiting)
    }
}
