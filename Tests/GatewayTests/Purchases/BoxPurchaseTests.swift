import AppleIAPProvider
import Domain
import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

@Suite("Purchases of an App Store in a box")
struct BoxPurchaseTests {
    private static let boxed = AppStoreGatewayFixtureSetup { $0.isBox = true }

    /// Makes this desk's gateway as a server in production has it.
    private static func production(_ apple: AppStoreGatewayFixture) throws -> Gateway {
        var setup = boxed
        setup.isDevelopment = false
        let id = try AccountID.test("apple-iap")
        let base = apple.gateway
        let provider = try AppleIAPProvider(
            account: ProviderAccount(id: id, settings: setup.settings, isDevelopment: false, box: setup.box),
            context: ProviderContext(
                http: apple.desk.transport, time: base.time.real, random: base.random,
                book: StoredBook(store: apple.store, account: id), notifyURL: "", publicURL: GatewayFixture.publicURL))
        return apple.desk.node(
            replacing: ConfiguredAccount(
                id: id, provider: provider, isTest: false, enabled: true,
                routing: AccountRouting(platforms: [.ios], priority: 100), notifyToken: nil))
    }

    private static func sandbox(_ sale: AppleSale) -> AppleSale { sale.with { $0.environment = "Sandbox" } }

    @Test(arguments: TestEngine.allCases)
    func `they are told apart by their chain, and entitle in development`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, Self.boxed) { apple in
            let sale = Self.sandbox(apple.sale())
            try await apple.attach(sale)
            #expect(try await apple.record(sale)?.purchase.isFromBox == true)
            #expect(try await apple.status().active)
            let listed = try await apple.gateway.purchases.list(nil, cursor: nil, limit: 10)
            #expect(try listed.items.map { try $0.storedJSON().contains(#""box":true"#) } == [true])
            let facts = try await apple.gateway.reports.explain(
                user: GatewayFixture.user("alice"), sku: nil, reader: .staff, languages: ["en"])
            #expect(facts.facts.contains { $0.text.contains("box: true") })
            // A newer version of the same chain leaves the mark.
            try await apple.attach(sale.signedAgain(after: 60))
            #expect(try await apple.record(sale)?.purchase.isFromBox == true)
        }
        try await withAppleDesk(on: engine) { apple in
            let sale = Self.sandbox(apple.sale())
            try await apple.attach(sale)
            #expect(try await apple.record(sale)?.purchase.isFromBox == false)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `in production they entitle nobody, and the check reports them`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, Self.boxed) { apple in
            try await apple.attach(Self.sandbox(apple.sale()))
            try await apple.attach(Self.sandbox(apple.sale("com.example.ring", AppleSale.nonConsumable)))
            try await apple.attach(Self.sandbox(apple.sale("com.example.gems", AppleSale.consumable)))
            try await apple.attach(Self.sandbox(apple.period("9001", from: 0, "com.example.pro.auto")))
            let user = GatewayFixture.user("alice")
            let before = try await apple.gateway.entitlements.find(user: user).value
            #expect(try before.storedJSON().contains(#""gems":10"#))
            let strict = try Self.production(apple)
            for _ in 0..<2 { try await strict.purchaseBacklog.withdrawBox(.test) }
            #expect(try await strict.entitlements.purchaseStatus(user: user).value.active == false)
            let after = try await strict.entitlements.find(user: user).value.storedJSON()
            #expect(!after.contains(#""gems":10"#) && !after.contains(#""status":"active""#))
            let found = try await InvariantCheck(store: apple.store, isProduction: true).run()
            #expect(found.map(\.invariant) == [18] && found.first?.detail.hasPrefix("4 are ") == true)
        }
    }

    @Test func `production does not trust the box at all`() async throws {
        try await withAppleDesk(on: .sqlite, Self.boxed) { apple in
            let strict = try Self.production(apple)
            await #expect(throws: GatewayError.invalidTransaction(.untrustedChain)) {
                try await strict.purchases.attach(
                    .signedTransaction(Self.sandbox(apple.sale()).jws), fallback: nil,
                    user: GatewayFixture.user("alice"), context: .test)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `genuine test purchases are untouched by the withdrawal`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            try await apple.attach(Self.sandbox(apple.sale()))
            try await Self.production(apple).purchaseBacklog.withdrawBox(.test)
            #expect(try await apple.status().active)
            #expect(try await InvariantCheck(store: apple.store, isProduction: true).run().isEmpty)
        }
    }
}
