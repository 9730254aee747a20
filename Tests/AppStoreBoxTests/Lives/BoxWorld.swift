import Domain
import Foundation
import Testing

@testable import AppStoreBox

/// An App Store in a box in memory: reads the rows of a need as storage does, and checks every change that is stored.
final class BoxWorld {
    private(set) var meta: BoxMeta
    private(set) var subscriptions: [String: BoxSubscription] = [:]
    private(set) var transactions: [String: BoxTransaction] = [:]
    private(set) var notifications: [String: BoxNotification] = [:]
    /// The notifications that were sent, in this order.
    private(set) var sent: [String] = []
    /// The most rows that one change read or wrote.
    private(set) var largestScope = 0
    private(set) var largestChange = 0
    /// Business milliseconds.
    var now: Int64

    let products: [BoxProduct]
    private let random: RandomSource

    init(now: Int64, products: [BoxProduct] = BoxWorld.products, seed: UInt64 = 1) {
        self.now = now
        self.products = products
        let generator = SeededBytes(seed)
        random = RandomSource { generator.next($0) }
        meta = BoxMeta(random: random)
    }

    static let day: Int64 = 86_400_000
    static let products =
        ["P1W", "P1M", "P1Y"].enumerated().map { index, period in
            BoxProduct(
                productID: "pro.\(period)", name: period, kind: .subscription, group: "pro", level: Int64(index),
                period: StoreKitPeriod(period), prices: [.init(currency: "USD", milliunits: 9990 * Int64(index + 1))])
        } + [
            BoxProduct(
                productID: "other", name: "Other", kind: .subscription, group: "other", level: 0,
                period: StoreKitPeriod("P3M"), prices: [.init(currency: "USD", milliunits: 4990)]),
            BoxProduct(
                productID: "coins", name: "Coins", kind: .consumable, group: nil, level: 0, period: nil,
                prices: [.init(currency: "USD", milliunits: 990)]),
            BoxProduct(
                productID: "forever", name: "Forever", kind: .nonConsumable, group: nil, level: 0, period: nil,
                prices: [.init(currency: "USD", milliunits: 29990)]),
        ]

    // MARK: - Calls

    @discardableResult
    func purchase(_ body: String) throws -> BoxPurchase {
        let request = try BoxPurchaseRequest(body: Array(body.utf8))
        return try update(request.need(products)) { try $0.purchase(request) }
    }

    @discardableResult
    func act(_ name: String, on original: String, _ body: String = "{}") throws -> BoxDone {
        let act = try BoxSubscriptionAct(name: name, body: Array(body.utf8))
        return try update(act.need(original)) {
            try $0.act(on: original, act)
        }
    }

    @discardableResult
    func act(_ name: String, onTransaction id: String, _ body: String = "{}") throws -> BoxDone {
        let act = try BoxTransactionAct(name: name, body: Array(body.utf8))
        return try update(.transaction(transactionID: id)) { try $0.act(onTransaction: id, act) }
    }

    func deliver(_ delivery: BoxMeta.Delivery) throws {
        try update(.due(at: now)) { $0.deliver(delivery) }
    }

    /// Empties the box, as `reset` does.
    func reset() {
        (subscriptions, transactions, notifications) = ([:], [:], [:])
        meta = meta.reset()
    }

    /// Moves the time from due time to due time, in whole seconds as the business clock does.
    func advance(to target: Int64) throws {
        while let due = nextDue, (due + 999) / 1000 * 1000 <= target {
            now = max(now, (due + 999) / 1000 * 1000)
            try runDue()
        }
        now = target
    }

    func runDue() throws {
        for _ in 0..<1_000 {
            guard try update(.due(at: now), { $0.runDue() }) else { return }
        }
        Issue.record("what is due at \(now) does not end")
    }

    var nextDue: Int64? {
        (subscriptions.values.compactMap(\.nextAt) + notifications.values.compactMap(\.dueAt)).min()
    }

    // MARK: - Storage

    @discardableResult
    private func update<Result>(_ need: BoxNeed, _ change: (inout BoxMachine) throws -> Result) throws -> Result {
        let scope = scope(need)
        var box = BoxMachine(scope, products: products, now: now, random: random)
        let result = try change(&box)
        check(box.changes)
        largestScope = max(
            largestScope, scope.subscriptions.count + scope.transactions.count + scope.waiting.count)
        largestChange = max(
            largestChange,
            box.changes.subscriptions.count + box.changes.transactions.count + box.changes.notifications.count)
        store(box.changes)
        return result
    }

    private func scope(_ need: BoxNeed) -> BoxScope {
        var found: [BoxSubscription] = []
        var read: [BoxTransaction] = []
        var waiting = notifications.values.filter { $0.isShuffled && $0.dueAt != nil }
        switch need {
        case .purchase(let customer, let group?, _):
            found = subscriptions.values.filter { $0.customer == customer && $0.group == group }
        case .purchase(let customer, nil, let product):
            read = transactions.values.filter {
                $0.customer == customer && $0.productID == product && $0.kind == .nonConsumable
            }
        case .subscription(let original, let customer):
            let group = subscriptions[original]?.group
            found = subscriptions.values.filter {
                $0.originalTransactionID == original || $0.sharedFrom == original
                    || (customer != nil && $0.customer == customer && $0.group == group)
            }
        case .transaction(let id):
            read = transactions[id].map { [$0] } ?? []
            if let original = read.first?.originalTransactionID {
                found = subscriptions.values.filter {
                    $0.originalTransactionID == original || $0.sharedFrom == original
                }
            }
        case .due(let time):
            found = Array(
                subscriptions.values.filter { $0.nextAt.map { $0 <= time } ?? false }
                    .sorted { ($0.nextAt ?? 0, $0.originalTransactionID) < ($1.nextAt ?? 0, $1.originalTransactionID) }
                    .prefix(100))
            let due = notifications.values.filter { $0.dueAt.map { $0 <= time } ?? false && !$0.isShuffled }
            waiting += due.sorted { ($0.dueAt ?? 0, $0.number) < ($1.dueAt ?? 0, $1.number) }.prefix(100)
        }
        let current = found.compactMap { transactions[$0.currentTransactionID] }
        read += current.filter { one in !read.contains { $0.transactionID == one.transactionID } }
        return BoxScope(
            meta: meta, subscriptions: found.sorted { $0.originalTransactionID < $1.originalTransactionID },
            transactions: read.sorted { $0.transactionID < $1.transactionID },
            waiting: waiting.sorted { $0.number < $1.number })
    }

    /// Records what no change may do.
    private func check(_ changes: BoxChanges) {
        let newest = String(900_000_000_000_000_000 + meta.lastNumber)
        for row in changes.transactions {
            #expect(row.transactionID.count == 18 && row.transactionID.hasPrefix("9"))
            if transactions[row.transactionID] == nil { #expect(row.transactionID > newest) }
            #expect((row.expiresAt ?? .max) >= row.purchasedAt)
        }
        for row in changes.subscriptions {
            let current =
                changes.transactions.first { $0.transactionID == row.currentTransactionID }
                ?? transactions[row.currentTransactionID]
            #expect(current?.expiresAt == row.expiresAt && current?.productID == row.productID)
            #expect(row.state != .grace || row.graceEndsAt != nil)
            #expect(row.isRunning || !row.willRenew)
        }
        var last = meta.lastSignedAt
        for row in changes.notifications where notifications[row.uuid] == nil {
            #expect(row.signedAt > last)
            last = row.signedAt
            if let inner = row.transaction { #expect(inner.signedAt <= row.signedAt) }
        }
        #expect(changes.meta.lastSignedAt >= last && changes.meta.lastNumber >= meta.lastNumber)
        var after = subscriptions
        for row in changes.subscriptions { after[row.originalTransactionID] = row }
        let running = after.values.filter(\.isRunning).map { "\($0.customer) \($0.group)" }
        #expect(Set(running).count == running.count)
    }

    private func store(_ changes: BoxChanges) {
        meta = changes.meta
        for row in changes.subscriptions { subscriptions[row.originalTransactionID] = row }
        for row in changes.transactions { transactions[row.transactionID] = row }
        for row in changes.notifications { notifications[row.uuid] = row }
        for uuid in changes.send {
            sent.append(uuid)
            guard let row = notifications[uuid] else {
                Issue.record("\(uuid) is to be sent and is not stored")
                continue
            }
            notifications[uuid] = row.trying(.init(at: now, status: 200))
        }
    }
}

/// Bytes that a seed decides (SplitMix64).
final class SeededBytes: @unchecked Sendable, RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    func next(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next() as UInt64) } }
}
