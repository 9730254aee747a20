import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: which order they complete")
struct PurchaseOrderTests {
    /// A purchase by seconds after the checkout, and whether it completes the waiting order.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var after: Int64 = 5
        var sku = "vip_month"
        var product = "com.example.vip.month"
        var days: Int64?
        var isRenewal = false
        var pass: Int64 = 0
        let completes: Bool
    }

    static let cases = [
        Case(testDescription: "bought after the checkout", completes: true),
        Case(testDescription: "a minute before it, by Apple's clock", after: -60, completes: true),
        Case(testDescription: "more than a minute before it", after: -61, completes: false),
        Case(testDescription: "when the order has expired", after: 90_000, pass: 90_000, completes: true),
        Case(testDescription: "a renewal", isRenewal: true, completes: false),
        Case(testDescription: "a product that was not offered", product: "com.example.vip.year", completes: false),
        Case(
            testDescription: "any of a pattern's options", sku: "basic_days", product: "merchant.example.day30",
            completes: true),
        Case(
            testDescription: "a pattern's days that are no option", sku: "basic_days",
            product: "merchant.example.day8", completes: false),
        Case(
            testDescription: "the option that was named", sku: "basic_days", product: "merchant.example.day7", days: 7,
            completes: true),
        Case(
            testDescription: "another option than was named", sku: "basic_days", product: "merchant.example.day30",
            days: 7, completes: false),
    ]

    @Test(arguments: TestEngine.allCases, cases)
    func `an order waits for what it offered`(_ engine: TestEngine, _ story: Case) async throws {
        try await withAppleDesk(on: engine) { apple in
            let start = apple.now
            let asked = try await apple.ask(story.sku, days: story.days)
            try await apple.desk.pass(seconds: story.pass)
            let sale = AppleSale(story.product, at: start.adding(seconds: story.after)) {
                $0.isRenewal = story.isRenewal
                $0.price = 1000
                $0.currency = "USD"
            }
            let attached = try await apple.attach(sale)
            #expect((attached.order_id == asked.order.rawValue) == story.completes)
            let order = try await apple.order(attached).order
            #expect(order.origin == (story.completes ? .checkout : story.isRenewal ? .renewal : .purchase))
            #expect(order.paidAt == sale.purchasedAt && order.charged == GatewayFixture.money(100, "USD"))
            let waiting = try await apple.desk.order(asked.order)
            #expect(waiting.status == (story.completes ? .paid : .open))
            #expect(
                try await apple.desk.payments(asked.order).map(\.payment.state)
                    == [story.completes ? .succeeded : .pending])
            #expect(try await apple.attach(sale) == attached)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the newest one is completed, then the one before, then a new one is made`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let older = try await apple.ask()
            let newer = try await apple.ask()
            _ = try await apple.ask("vip_year")
            let strangers = try await apple.ask(user: "bob")
            var orders: [String] = []
            for _ in 0..<3 { orders.append(try await apple.attach(apple.sale()).order_id) }
            #expect(orders.prefix(2) == [newer.order.rawValue, older.order.rawValue])
            #expect(orders[2] != strangers.order.rawValue)
            #expect(try await apple.desk.order(strangers.order).status == .open)
            #expect(try await apple.desk.count("orders") == 5)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that was cancelled is completed after all`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let asked = try await apple.ask()
            try await apple.desk.store.write { tx in
                try tx.execute("UPDATE orders SET state = 'closed', closed_at = 1")
                try tx.execute("UPDATE payments SET state = 'cancelled'")
            }
            let attached = try await apple.attach(apple.sale())
            #expect(attached.order_id == asked.order.rawValue)
            let order = try await apple.order(attached)
            #expect(order.status == .paid && order.order.closedAt == nil && order.order.anomalies.isEmpty)
            #expect(try await apple.desk.payments(asked.order).map(\.payment.state) == [.succeeded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the token names the user whose order it is, whoever brings the purchase`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let hers = try await apple.ask(user: "alice")
            let his = try await apple.ask(user: "bob")
            let token = try await apple.token("alice")
            let sale = apple.sale { $0.token = token.uppercased() }
            #expect(try await apple.refusal(sale, user: "bob") == .purchaseBelongsToAnotherUser)
            #expect(try await apple.desk.order(his.order).status == .open)
            #expect(try await apple.desk.order(hers.order).status == .paid)
            #expect(try await !apple.status("bob").active)
            #expect(try await apple.attach(sale, user: "alice").order_id == hers.order.rawValue)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that money paid is not completed again`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let paid = try await apple.desk.buyForReal()
            let attached = try await apple.attach(apple.sale())
            #expect(attached.order_id != paid.order.rawValue)
            #expect(try await apple.status().expires_at == apple.now.adding(days: 60).rawValue)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund of an apple order is apple's`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let asked = try await apple.ask()
            try await apple.attach(apple.sale { ($0.price, $0.currency) = (39_900, "CNY") })
            await #expect(throws: GatewayError.providerRejected(reason: "refund_by_apple_only")) {
                try await apple.gateway.refunds.request(asked.order.rawValue, amount: nil, reason: "", context: .test)
            }
            let own = try await apple.attach(apple.sale { ($0.price, $0.currency) = (39_900, "CNY") })
            await #expect(throws: GatewayError.providerRejected(reason: "refund_by_apple_only")) {
                try await apple.gateway.refunds.request(own.order_id, amount: nil, reason: "", context: .test)
            }
        }
    }

    @Test(arguments: TestEngine.allCases, [DuplicatePolicy.refund, .hold])
    func `money for an order that apple paid gives nothing more and goes back`(
        _ engine: TestEngine, _ policy: DuplicatePolicy
    ) async throws {
        let setup = AppStoreGatewayFixtureSetup {
            $0.desk = GatewayFixtureSetup(policies: OrderPolicies(duplicatePayment: policy))
        }
        try await withAppleDesk(on: engine, setup) { apple in
            let desk = apple.desk
            let asked = try await apple.ask("gems")
            // Nothing can close it while Apple is paid.
            let code = try await desk.retry(asked.order, provider: "scripted")
            let attached = try await apple.attach(apple.sale("com.example.gems", AppleSale.consumable))
            #expect(attached.order_id == asked.order.rawValue)
            try await desk.state(
                "late", .payment(.init(payment: try desk.payment(code), outcome: .succeeded(code.amount))))
            #expect(try await desk.snapshot().balances == ["gems": 10])
            if policy == .hold { try await desk.refund(asked.order) }
            let refunds = try await desk.refunds(asked.order)
            #expect(refunds.map(\.payment) == [try desk.payment(code)] && refunds.map(\.state) == [.succeeded])
            #expect(try await desk.snapshot().balances == ["gems": 10])
            #expect(try await desk.order(asked.order).status == .paid)
            await #expect(throws: GatewayError.providerRejected(reason: "refund_by_apple_only")) {
                try await desk.refund(asked.order)
            }
        }
    }
}
