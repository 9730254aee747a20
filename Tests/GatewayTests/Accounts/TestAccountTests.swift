import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// Accounts in a provider's test mode: the fixture's sandbox accounts are in it, `scripted` plays a live one.
@Suite("Test accounts")
struct TestAccountTests {
    /// Returns the sums over the days for a currency: opened and paid orders, charged and refunded minor units.
    private func sums(_ desk: GatewayFixture, _ currency: String = "CNY") async throws -> [Int64] {
        let now = desk.clock.now
        let days = try await desk.gateway.reports.sumOrders(
            StatsQuery(from: now.adding(days: -2), to: now.adding(days: 2))
        )
        .filter { $0.currency?.code == currency }
        return days.reduce([0, 0, 0, 0]) { sum, day in
            zip(sum, [day.orders_opened, day.orders_paid, day.charged?.value ?? 0, day.refunded?.value ?? 0]).map(+)
        }
    }

    private func environment(_ desk: GatewayFixture, _ order: ID<Order>) async throws -> Environment {
        try await desk.order(order).order.environment
    }

    @Test(arguments: TestEngine.allCases)
    func `what they sell is Sandbox everywhere and no revenue, through refund and dispute`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (pass, coins) = (try await desk.buy(), try await desk.buy("coins"))
            for contract in [pass, coins] {
                #expect(try await environment(desk, contract.order) == .sandbox)
                let told = try await desk.eventData(contract.order.rawValue).map { event -> JSONValue? in
                    guard case .object(let members) = event else { return nil }
                    return members["environment"]
                }
                #expect(!told.isEmpty && told.allSatisfy { $0 == .string("Sandbox") })
            }
            let shown = try await desk.snapshot()
            #expect(shown.active && shown.tier == "VIP" && shown.entitlements.map(\.environment) == [.sandbox])
            // The limit for Apple's Sandbox does not apply.
            #expect(shown.expires_at == desk.clock.now.adding(days: 30))
            #expect(shown.balances == [:] && shown.sandbox_balances == ["coins": 100, "stars": 1])
            let usage = try await desk.gateway.meters.usage(of: "messages", user: GatewayFixture.user("alice"))
            #expect(usage.limit == nil)
            #expect(try await sums(desk) == [0, 0, 0, 0])
            let history = try await desk.gateway.reports.explain(
                user: GatewayFixture.user("alice"), sku: nil, reader: .user, languages: ["en"])
            #expect(history.facts.contains { $0.type == "order.paid" && $0.text.contains("test purchase (Sandbox)") })

            try await desk.refund(coins.order)
            try await desk.notify("dispute.opened", pass)
            let disputed = try await desk.snapshot()
            #expect(disputed.entitlements.map(\.status) == [.suspended])
            #expect(disputed.balances == [:] && disputed.sandbox_balances == ["coins": 0, "stars": 0])
            try await desk.notify("dispute.lost", pass)
            #expect(try await desk.grants(pass.order).map(\.revocation?.reason) == [.dispute])
            #expect(try await sums(desk) == [0, 0, 0, 0])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is owned for test money hinders no purchase for real money`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy("walkie")
            await #expect(throws: GatewayError.alreadyOwned) { try await desk.checkout("walkie") }
            let real = try await desk.checkout("walkie", provider: "scripted")
            await #expect(throws: GatewayError.alreadyOwned) { try await desk.retry(real.order, provider: "box-qr") }
            try await desk.succeed(real)
            #expect(try await desk.order(real.order).order.anomalies.isEmpty)
            #expect(try await desk.grants(real.order).map(\.environment) == [.production])
            await #expect(throws: GatewayError.alreadyOwned) { try await desk.checkout("walkie", provider: "scripted") }
            #expect(try await sums(desk, "USD") == [1, 1, 99, 0])
            // A refund in one environment makes the SKU available only there.
            try await desk.refund(real.order, currency: "USD")
            _ = try await desk.checkout("walkie", provider: "scripted")
            await #expect(throws: GatewayError.alreadyOwned) { try await desk.checkout("walkie") }
        }
    }

    /// The accounts of an order's attempts, the index of the paid one, and the order's environment while open and after
    /// it.
    static let attempts: [(accounts: [String], paid: Int, open: Environment, then: Environment)] = [
        (["box-url", "scripted"], 1, .production, .production), (["box-url", "scripted"], 0, .production, .sandbox),
        (["scripted", "box-url"], 1, .sandbox, .sandbox), (["scripted", "box-url"], 0, .sandbox, .production),
        (["scripted", "box-url", "scripted"], 1, .production, .sandbox),
    ]

    @Test(arguments: TestEngine.allCases, attempts)
    func `an order is of its newest attempt's environment, and of that of the money that paid it`(
        _ engine: TestEngine, _ row: (accounts: [String], paid: Int, open: Environment, then: Environment)
    ) async throws {
        try await withDesk(on: engine) { desk in
            var contracts = [try await desk.checkout("coins", provider: row.accounts[0])]
            for account in row.accounts.dropFirst() {
                contracts.append(try await desk.retry(contracts[0].order, provider: account))
            }
            let (order, paid) = (contracts[0].order, contracts[row.paid])
            #expect(try await environment(desk, order) == row.open)
            if row.accounts[row.paid] == "scripted" {
                try await desk.succeed(paid)
            } else {
                try await desk.notify("payment.succeeded", paid)
            }
            #expect(try await desk.order(order).status == .paid)
            #expect(try await environment(desk, order) == row.then)
            let shown = try await desk.snapshot()
            let units = ["coins": Int64(100), "stars": 1]
            #expect(shown.balances == (row.then == .production ? units : [:]))
            #expect(shown.sandbox_balances == (row.then == .sandbox ? units : [:]))
            #expect(try await sums(desk) == (row.then == .production ? [1, 1, 600, 0] : [0, 0, 0, 0]))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a test pass does not keep a free thing from who may have it while none runs`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let json = """
                {"id":"gift","name":"Gift","kind":"non_renewing","tier":"Basic","rank":5,"duration_days":2,
                 "once":"running","prices":[{"currency":"CNY","value":0},{"currency":"USD","value":100}]}
                """
            let sku = try JSONDecoder().decode(SKU.self, from: Data(json.utf8))
            _ = try await desk.gateway.catalogue.create(sku, context: .test)
            try await desk.notify("payment.succeeded", try await desk.checkout("gift", currency: "USD"))
            let free = try await desk.checkout("gift", provider: nil)
            #expect(try await environment(desk, free.order) == .production)
            await #expect(throws: GatewayError.alreadyOwned) { try await desk.checkout("gift", provider: nil) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another amount that an admin takes counts as its payment does`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let first = try await desk.checkout("coins")
            _ = try await desk.retry(first.order, provider: "scripted")
            try await desk.notify("payment.succeeded", first, amount: GatewayFixture.money(500))
            #expect(try await environment(desk, first.order) == .production)
            _ = try await desk.gateway.mismatches.settle(
                first.order.rawValue, 1, .accept, reason: "it is enough", context: .test)
            #expect(try await environment(desk, first.order) == .sandbox)
            #expect(try await desk.snapshot().sandbox_balances["coins"] == 100)
            #expect(try await sums(desk) == [0, 0, 0, 0])
        }
    }

    @Test func `accounts say it, and a wallet's is what the account that charges for it is`() async throws {
        try await withDesk(on: .sqlite) { desk in
            let tests = try await desk.gateway.accounts.list().filter(\.account.isTest).map(\.account.id.rawValue)
            #expect(tests == ["box-none", "box-qr", "box-stripe", "box-url"])
            let wallet = try ApplePayGatewayFixture(desk, ApplePayGatewayFixtureSetup())
            #expect(wallet.gateway.registry[try .test(ApplePayGatewayFixture.account)]?.isTest == true)
            let changed = try await desk.gateway.accounts.change(
                "box-qr", AccountChange(enabled: false), context: .test)
            #expect(changed.account.isTest)
        }
    }
}
