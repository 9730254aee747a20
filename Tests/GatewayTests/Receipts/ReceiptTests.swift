import Domain
import Foundation
import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

@Suite("Receipts: what they attach")
struct ReceiptTests {
    @Test(arguments: TestEngine.allCases)
    func `only the named transaction of a receipt is attached`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let pass = apple.sale()
            let gems = apple.sale("com.example.gems", AppleSale.consumable)
            let receipt = apple.receipt(gems, pass)
            let verified = try await apple.verify(receipt, pass.id)
            #expect(verified.attached.sku == "vip_month" && verified.attached.active)
            #expect(verified.attached.expires_at == apple.now.adding(days: 30).rawValue)
            #expect(verified.source == .receipt && !verified.isStale)
            #expect(try await apple.record(gems) == nil)
            #expect(try await apple.desk.count("orders") == 1)
            let order = try await apple.order(verified.attached)
            #expect(order.order.amount == nil && order.order.charged == nil)
            // The same again is the same, in whatever envelope.
            let other = apple.receipt(gems, pass) { ($0.created, $0.hasAnotherEnvelope) = (receipt.created, true) }
            try #require(other.base64 != receipt.base64)
            try await apple.verify(other, pass.id)
            #expect(try await apple.desk.count("receipts") == 1)
            let again = try await apple.verify(receipt, pass.id)
            #expect(again.attached == verified.attached)
            #expect(try await apple.desk.count("orders") == 1)
            try await apple.desk.pass(seconds: 2 * 86_400)
            try await apple.work()
            #expect(try await apple.desk.count("receipts") == 1)
            try await apple.verify(receipt, gems.id)
            #expect(try await apple.desk.snapshot().balances == ["gems": 10])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refusal is precise and keeps nothing`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine, { $0.environments = ["Production"] }) { (apple) async throws in
            let sale = apple.sale()
            let good = apple.receipt(sale)
            let cut = String(good.base64.prefix(400))
            let cases: [(String, String, String)] = [
                (good.base64, "1", "transaction_not_in_receipt"),
                (apple.receipt().base64, sale.id, "transaction_not_in_receipt"),
                (apple.receipt(sale) { $0.forged = apple.sale() }.base64, sale.id, "bad_signature"),
                (apple.receipt(sale) { $0.isUnsigned = true }.base64, sale.id, "malformed"),
                (apple.receipt(sale) { $0.bundle = "com.example.other" }.base64, sale.id, "wrong_app"),
                (apple.receipt(sale) { $0.type = "ProductionSandbox" }.base64, sale.id, "wrong_environment"),
                (apple.receipt(sale) { $0.created = 1_000 }.base64, sale.id, "certificate_expired"),
                (cut, sale.id, "malformed"), ("", sale.id, "malformed"), ("/9j/4AAQSkZJRg==", sale.id, "malformed"),
                ("MIAG" + String(repeating: "MIAw", count: 50_000), sale.id, "malformed"),
                (String(repeating: "A", count: (2 << 20) + 4), sale.id, "malformed"),
            ]
            for (text, id, reason) in cases {
                #expect(try await apple.refusal(of: text, id) == .invalidReceipt(reason), "\(reason)")
            }
            #expect(try await apple.desk.count("purchases") == 0)
            #expect(try await apple.desk.count("receipts") == 0)
        }
        try await withReceiptDesk(on: engine, { $0.trustsReceipts = false }) { (apple) async throws in
            let sale = apple.sale()
            let refusal = try await apple.refusal(of: apple.receipt(sale).base64, sale.id)
            #expect(refusal == .invalidReceipt("untrusted_chain"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a named original means its newest period`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let renewals = [apple.period("first", from: -40), apple.period("first", from: -10)]
            let receipt = apple.receipt(renewals[1], renewals[0])
            let verified = try await apple.verify(receipt, "first")
            #expect(verified.attached.transaction_id == renewals[1].id)
            #expect(verified.attached.expires_at == renewals[1].purchasedAt.adding(days: 30).rawValue)
            #expect(try await apple.record(renewals[0]) == nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what a receipt says was taken back gives nothing`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let sale = apple.sale()
            try await apple.verify(apple.receipt(sale), sale.id)
            #expect(try await apple.status().active)
            try await apple.desk.pass(seconds: 60)
            let later = apple.receipt(sale.with { $0.revoked = $0.purchased + 30_000 })
            #expect(try await apple.refusal(of: later.base64, sale.id) == .purchaseRevoked)
            #expect(try await !apple.status().active)
            // The older receipt brings nothing back.
            let older = apple.receipt(sale) { $0.created -= 60_000 }
            #expect(try await apple.refusal(of: older.base64, sale.id) == .purchaseRevoked)
            #expect(try await !apple.status().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what an upgrade ended was not refunded`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let old = apple.period("first", from: -5) {
                $0.id = "first"
                $0.revoked = apple.now.rawValue * 1_000
            }
            let new = apple.period("first", from: 0, "com.example.pro.auto")
            _ = try await apple.report(apple.receipt(old, new))
            let status = try await apple.status()
            #expect(status.active && status.tier == "Pro")
            let orders = try await apple.gateway.orders.list(
                OrderQuery(user: GatewayFixture.user("alice")), cursor: nil, limit: 9)
            #expect(orders.items.map(\.status) == [.paid, .paid])
            // Without the other product it was a refund.
            let other = old.with { ($0.id, $0.original) = ("second", "second") }
            _ = try await apple.report(apple.receipt(other), user: "bob")
            let refunded = try await apple.gateway.orders.list(
                OrderQuery(user: GatewayFixture.user("bob")), cursor: nil, limit: 9)
            #expect(refunded.items.map(\.status) == [.refunded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a receipt belongs to whoever came first`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let sale = apple.sale()
            let receipt = apple.receipt(sale)
            try await apple.verify(receipt, sale.id)
            #expect(try await apple.refusal(of: receipt.base64, sale.id, user: "bob") == .purchaseBelongsToAnotherUser)
            // A report lists the same whoever asks, and says why none of it is bob's.
            let report = try #require(try await apple.report(receipt, user: "bob"))
            #expect(report.rows.count == 1 && report.receipt.entries.count == 1)
            #expect(report.attachment?.attached == 0)
            #expect(report.attachment?.refused.map(\.reason) == [.purchaseBelongsToAnotherUser])
            #expect(report.attachment?.refused.map(\.transactionID) == [sale.id])
            #expect(try await !apple.status("bob").active)
            #expect(try await apple.report(receipt)?.rows.count == 1)
        }
    }

    /// Every order in which two receipts and two signed versions of one purchase can arrive: the later receipt says that it
    /// was taken back, and it counts unless the transaction itself was signed later still.
    @Test(arguments: TestEngine.allCases, [5, 12] as [Int64])
    func `whatever comes first, one state follows`(_ engine: TestEngine, _ signed: Int64) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let bought = apple.now
            try await apple.desk.pass(seconds: 10 * 86_400)
            var states: Set<String> = []
            for (index, order) in permutations(of: 4).enumerated() {
                let user = "user\(index)"
                let sale = AppleSale("com.example.apple.auto", AppleSale.subscription, at: bought) {
                    $0.expires = $0.purchased + 30 * 86_400_000
                    ($0.price, $0.currency) = (29_900, "CNY")
                }
                let longer = sale.signedAgain(after: signed) { $0.expires = ($0.expires ?? 0) + 86_400_000 }
                let early = AppleReceipt([sale], at: bought.adding(seconds: 3))
                let late = AppleReceipt(
                    [sale.with { $0.revoked = $0.purchased + 7_000 }], at: bought.adding(seconds: 9))
                for step in order {
                    switch step {
                    case 0: _ = try await apple.refusal(of: early.base64, sale.id, user: user)
                    case 1: _ = try await apple.refusal(of: late.base64, sale.id, user: user)
                    case 2: _ = try await apple.refusal(sale, user: user)
                    default: _ = try await apple.refusal(longer, user: user)
                    }
                }
                let status = try await apple.status(user)
                let orders = try await apple.gateway.orders.list(
                    OrderQuery(user: GatewayFixture.user(user)), cursor: nil, limit: 10
                ).items
                let order = try #require(orders.first)
                #expect(orders.count == 1)
                let record = try #require(try await apple.record(sale))
                states.insert(
                    "\(status.active) \(status.active ? status.expires_at : 0) \(order.status) \(order.order.charged?.value ?? -1) "
                        + "\(record.purchase.expiresAt ?? 0) \(record.purchase.receipt == nil)")
            }
            let end = bought.adding(days: 31).rawValue
            let expected = signed > 9 ? "true \(end) paid" : "false 0 refunded"
            #expect(states == ["\(expected) 2990 \(end * 1_000) true"])
            // Nothing refers to the receipts any more.
            #expect(try await apple.desk.count("receipts") > 0)
            try await apple.desk.pass(seconds: 2 * 86_400)
            try await apple.work()
            #expect(try await apple.desk.count("receipts") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a thousand purchases are kept, and a known receipt writes nothing`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let sales = (0..<1_000).map { _ in apple.sale("com.example.gems", AppleSale.consumable) }
            let receipt = AppleReceipt(sales, at: apple.now)
            #expect(try await apple.report(receipt)?.rows.count == 1_000)
            #expect(try await apple.desk.snapshot().balances == ["gems": 10_000])
            let events = try await apple.desk.count("events")
            #expect(try await apple.report(receipt)?.rows.count == 1_000)
            #expect(try await apple.desk.count("events") == events)
            #expect(try await apple.desk.snapshot().balances == ["gems": 10_000])
        }
    }
}

@Suite("Receipts: many of them")
struct ReceiptLoadTests {
    @Test(arguments: TestEngine.allCases)
    func `a thousand periods of one subscription are attached`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { (apple) async throws in
            let periods = (0..<1_000 as Range<Int64>).map { number in
                apple.period("first", from: number - 999, days: 1) { if number == 0 { $0.id = "first" } }
            }
            let receipt = AppleReceipt(periods, at: apple.now)
            #expect(try await apple.report(receipt)?.rows.count == 1_000)
            #expect(try await apple.desk.count("orders") == 1_000)
            #expect(try await apple.status().expires_at == apple.now.adding(days: 1).rawValue)
            #expect(try await apple.report(receipt, newestOnly: true)?.rows.count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `one receipt from many clients at once has one effect`(_ engine: TestEngine) async throws {
        let store = FakeAppStore()
        try await withReceiptDesk(on: engine, { $0.appStore = store }) { (apple) async throws in
            let period = apple.period("first", from: 0) { $0.id = "first" }
            let gems = apple.sale("com.example.gems", AppleSale.consumable)
            store.add(period, AppleRenewal(period))
            store.add(gems)
            let receipt = apple.receipt(period, gems)
            try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        if number % 4 == 3 {
                            try await apple.work()
                            return 2
                        }
                        return try await apple.report(receipt, user: number % 4 == 2 ? nil : "alice")?.rows.count
                    }
                }
                for try await rows in group { #expect(rows == 2) }
            }
            #expect(try await apple.desk.count("orders") == 2)
            #expect(try await apple.desk.snapshot().balances == ["gems": 10])
        }
    }
}

/// All orders of so many things.
func permutations(of count: Int) -> [[Int]] {
    guard count > 0 else { return [[]] }
    return permutations(of: count - 1).flatMap { order in
        (0...order.count).map { place in
            var longer = order
            longer.insert(count - 1, at: place)
            return longer
        }
    }
}
