import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: environments")
struct PurchaseEnvironmentTests {
    @Test(arguments: TestEngine.allCases)
    func `what is bought in the sandbox stays apart`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let start = apple.now
            let real = apple.sale()
            // The same ids in another environment belong to another purchase.
            let test = real.with { $0.environment = "Sandbox" }
            let first = try await apple.attach(real)
            let second = try await apple.attach(test)
            #expect(first.order_id != second.order_id && second.environment == "Sandbox")
            // A Sandbox pass is not stacked on a real one.
            #expect(second.expires_at == start.adding(days: 30).rawValue)
            #expect(try await apple.status().expires_at == start.adding(days: 30).rawValue)
            let more = try await apple.attach(apple.sale { $0.environment = "Sandbox" })
            #expect(more.expires_at == start.adding(days: 60).rawValue)
            let gems = apple.sale("com.example.gems", AppleSale.consumable) { $0.environment = "Sandbox" }
            #expect(try await apple.attach(gems).credited == ["gems": 10])
            try await apple.attach(gems.with { ($0.environment, $0.quantity) = ("Production", 2) })
            let snapshot = try await apple.desk.snapshot()
            #expect(snapshot.balances == ["gems": 20] && snapshot.sandbox_balances == ["gems": 10])
            #expect(try await apple.order(second).order.environment == .sandbox)
            // Another user may own the same id in another environment.
            let elsewhere = apple.sale()
            try await apple.attach(elsewhere, user: "alice")
            try await apple.attach(elsewhere.with { $0.environment = "Sandbox" }, user: "bob")
        }
    }

    /// The `sandbox` rules, and the hours of a purchase that each user gets.
    struct Rules: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let setup: AppStoreGatewayFixtureSetup
        let alice: Int64
        let bob: Int64
    }

    static let day: Int64 = 24
    static let rules = [
        Rules(testDescription: "all, unbounded", setup: .init { $0.entitles = "all" }, alice: 720, bob: 720),
        Rules(testDescription: "none", setup: .init { $0.entitles = "none" }, alice: 0, bob: 0),
        Rules(
            testDescription: "users",
            setup: .init { ($0.entitles, $0.users) = ("users", ["alice"]) }, alice: 720, bob: 0),
        Rules(
            testDescription: "at most two hours", setup: .init { $0.maxHours = 2 }, alice: 2, bob: 2),
        Rules(
            testDescription: "production's default",
            setup: .init { ($0.isDevelopment, $0.maxHours) = (false, nil) }, alice: 24, bob: 24),
        Rules(
            testDescription: "longer than what was bought", setup: .init { $0.maxHours = 87_600 }, alice: 720,
            bob: 720),
    ]

    @Test(arguments: TestEngine.allCases, rules)
    func `a sandbox purchase gives what the rules allow, however often it is signed`(
        _ engine: TestEngine, _ rules: Rules
    ) async throws {
        try await withAppleDesk(on: engine, rules.setup) { apple in
            let start = apple.now
            for (user, hours) in [("alice", rules.alice), ("bob", rules.bob)] {
                let pass = apple.sale { $0.environment = "Sandbox" }
                let renewed = apple.period("sub-\(user)", from: 0) { $0.environment = "Sandbox" }
                for sale in [pass, renewed] {
                    for again in 0..<3 as Range<Int64> {
                        let attached = try await apple.attach(sale.signedAgain(after: again), user: user)
                        let end = start.adding(seconds: hours * 3_600).rawValue
                        #expect(attached.expires_at == end && attached.active == (hours > 0), "\(sale.kind) \(again)")
                    }
                }
                let reversed = apple.period("sub2-\(user)", from: 0) { $0.environment = "Sandbox" }
                try await apple.attach(reversed, user: user)
                _ = try await apple.refusal(reversed.signedAgain(after: 5) { $0.revoked = $0.signed }, user: user)
                let back = try await apple.attach(reversed.signedAgain(after: 9), user: user)
                #expect(back.expires_at == start.adding(seconds: hours * 3_600).rawValue)
                let gems = apple.sale("com.example.gems", AppleSale.consumable) { $0.environment = "Sandbox" }
                try await apple.attach(gems, user: user)
                _ = try await apple.refusal(gems.signedAgain(after: 5) { $0.revoked = $0.signed }, user: user)
                try await apple.attach(gems.signedAgain(after: 9), user: user)
                #expect(try await apple.desk.snapshot(user).sandbox_balances["gems"] ?? 0 == (hours > 0 ? 10 : 0))
                // Real purchases have no limit.
                let real = try await apple.attach(apple.sale("com.example.vip.year"), user: user)
                #expect(real.expires_at == start.adding(days: 365).rawValue)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a bounded non-consumable of the sandbox ends`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, AppStoreGatewayFixtureSetup { $0.maxHours = 2 }) { apple in
            let sale = apple.sale("com.example.life", AppleSale.nonConsumable) { $0.environment = "Sandbox" }
            let attached = try await apple.attach(sale)
            #expect(!attached.perpetual && attached.expires_at == apple.now.adding(seconds: 7_200).rawValue)
            apple.desk.clock.advance(seconds: 7_200)
            #expect(try await !apple.status().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an environment that is not configured is refused`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, AppStoreGatewayFixtureSetup { $0.environments = ["Production"] }) { apple in
            let refused = GatewayError.invalidTransaction(.wrongEnvironment)
            #expect(try await apple.refusal(apple.sale { $0.environment = "Sandbox" }) == refused)
            // If Xcode is not allowed, its single certificate is just not Apple's chain.
            let xcode = try await apple.refusal(apple.sale { $0.environment = "Xcode" })
            guard case .invalidTransaction = xcode else {
                Issue.record("\(String(describing: xcode))")
                return
            }
            #expect(try await apple.desk.count("purchases") == 0)
        }
    }

    private static let xcode = AppStoreGatewayFixtureSetup { $0.environments = ["Production", "Sandbox", "Xcode"] }

    @Test(arguments: TestEngine.allCases)
    func `in xcode ids repeat and nobody owns them`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, Self.xcode) { apple in
            let start = apple.now
            let sale = apple.sale { ($0.environment, $0.id) = ("Xcode", "0") }
            let hers = try await apple.attach(sale, user: "alice")
            let his = try await apple.attach(sale, user: "bob")
            #expect(hers.order_id != his.order_id && hers.environment == "Xcode")
            #expect(try await apple.attach(sale, user: "alice") == hers)
            let later = sale.with { $0.purchased += 86_400_000 }
            let other = sale.with { $0.product = "com.example.vip.year" }
            var orders = [hers.order_id]
            for next in [later, other] { orders.append(try await apple.attach(next, user: "alice").order_id) }
            #expect(Set(orders).count == 3)
            #expect(try await apple.grants("alice").count == 3)
            #expect(try await apple.grants("bob").count == 1)
            #expect(try await apple.desk.count("purchase_owners") == 0)
            let gems = apple.sale("com.example.gems", AppleSale.consumable) { ($0.environment, $0.id) = ("Xcode", "1") }
            for user in ["alice", "bob", "alice"] { try await apple.attach(gems, user: user) }
            #expect(try await apple.desk.snapshot("alice").sandbox_balances == ["gems": 10])
            #expect(try await apple.desk.snapshot("bob").balances.isEmpty)
            #expect(start == apple.now)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `in xcode a subscription is each user's own`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, Self.xcode) { apple in
            let start = apple.now
            let long = apple.period("0", from: 0, days: 300) { ($0.environment, $0.id) = ("Xcode", "0") }
            let short = apple.period("0", from: 0, days: 3, "com.example.pro.auto") {
                ($0.environment, $0.id) = ("Xcode", "0")
            }
            let hers = try await apple.attach(long, user: "alice")
            #expect(hers.expires_at == start.adding(days: 300).rawValue)
            let his = try await apple.attach(short, user: "bob")
            #expect(his.expires_at == start.adding(days: 3).rawValue && his.tier == "Pro")
            #expect(try await apple.grants("bob").map(\.order?.rawValue) == [his.order_id])
            #expect(try await apple.status("alice").tier == "VIP")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a simulator's receipt gives what its SKU sells`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, Self.xcode) { apple in
            let end = apple.now.adding(days: 30).rawValue
            for (product, expires, perpetual) in [
                ("com.example.vip.month", end, false), ("com.example.apple.auto", end, false),
                ("com.example.ring", 253_402_300_799, true), ("merchant.example.day30", end, false),
            ] as [(String, Int64, Bool)] {
                let sale = apple.sale(product)
                let attached = try await apple.gateway.receipts.verify(
                    sale.simulatorReceipt, transactionID: sale.id, user: GatewayFixture.user(product), context: .test
                ).attached
                #expect(attached.environment == "Xcode" && attached.active, "\(product)")
                #expect(attached.expires_at == expires && attached.perpetual == perpetual, "\(product)")
                let again = try await apple.gateway.receipts.verify(
                    sale.simulatorReceipt, transactionID: sale.id, user: GatewayFixture.user(product), context: .test
                ).attached
                #expect(again == attached)
            }
            let gems = apple.sale("com.example.gems")
            let units = try await apple.gateway.receipts.verify(
                gems.simulatorReceipt, transactionID: gems.id, user: GatewayFixture.user("gems"), context: .test
            ).attached
            #expect(units.credited == ["gems": 10] && !units.active && units.expires_at == 0)
        }
        let production = AppStoreGatewayFixtureSetup {
            ($0.environments, $0.isDevelopment) = (["Production", "Xcode"], false)
        }
        for setup in [AppStoreGatewayFixtureSetup(), production] {
            try await withAppleDesk(on: engine, setup) { apple in
                let sale = apple.sale()
                await #expect(throws: GatewayError.invalidReceipt("wrong_environment")) {
                    try await apple.gateway.receipts.verify(
                        sale.simulatorReceipt, transactionID: sale.id, user: GatewayFixture.user("alice"),
                        context: .test)
                }
            }
        }
    }
}
