import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: which SKU they mean")
struct PurchaseMeaningTests {
    private func sell(_ json: String, at apple: AppStoreGatewayFixture) async throws {
        _ = try await apple.gateway.catalogue.create(
            try JSONDecoder().decode(SKU.self, from: Data(json.utf8)), context: .test)
    }

    private static func pass(_ id: String, _ more: String) -> String {
        #"""
        {"id": "\#(id)", "name": "\#(id)", "kind": "non_renewing", "tier": "\#(id)", "rank": 9,
         "prices": [{"currency": "CNY", "value": 100}], \#(more)}
        """#
    }

    @Test(arguments: TestEngine.allCases)
    func `a pass of no length is kept, and granted once its SKU has one`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let options = #""options": [{"days": 7, "prices": [{"currency": "CNY", "value": 100}]}], "#
            try await sell(
                Self.pass("odd", options + #""apple_product_ids": ["com.example.odd", "com.example.odd.${days}"]"#),
                at: apple)
            let asked = try await apple.ask("odd", days: 7)
            let sale = apple.sale("com.example.odd")
            #expect(try await apple.refusal(sale) == .unknownProduct("com.example.odd"))
            #expect(try await apple.record(sale)?.order == nil)
            #expect(try await apple.attach(apple.sale("com.example.odd.7")).order_id == asked.order.rawValue)
            _ = try await apple.gateway.catalogue.change("odd", .object(["duration_days": .integer(9)]), context: .test)
            try await apple.work()
            let attached = try await apple.attach(sale)
            #expect(attached.active && attached.expires_at == apple.now.adding(days: 9).rawValue)
        }
    }

    /// Apple tells of the purchase first, and nobody knows whose it is.
    @Test(arguments: TestEngine.allCases, [true, false])
    func `a pass of no length that Apple told of is kept, and granted once its SKU has one`(
        _ engine: TestEngine, _ isMendedFirst: Bool
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            try await sell(
                Self.pass("odd", #""apple_product_ids": ["com.example.odd", "com.example.odd.${days}"]"#), at: apple)
            let sale = apple.sale("com.example.odd")
            _ = try await apple.notify(AppleNotice("ONE_TIME_CHARGE", nil, sale, at: apple.now))
            // As an earlier release kept it.
            try await apple.store.write { tx in try tx.execute("UPDATE purchases SET sku = 'odd'") }
            func mend() async throws {
                _ = try await apple.gateway.catalogue.change(
                    "odd", .object(["duration_days": .integer(9)]), context: .test)
            }
            if isMendedFirst {
                try await mend()
            } else {
                #expect(try await apple.refusal(sale) == .unknownProduct("com.example.odd"))
                #expect(try await apple.desk.count("orders") == 0)
                try await apple.desk.pass(seconds: 60)
                try await apple.work()
                #expect(try await InvariantCheck(store: apple.store).run().isEmpty)
                #expect(try await apple.gateway.catalogue.unknownProducts().map(\.product) == ["com.example.odd"])
                try await mend()
                try await apple.work()
            }
            let attached = try await apple.attach(sale)
            #expect(attached.active && attached.expires_at == sale.purchasedAt.adding(days: 9).rawValue)
        }
    }

    /// The first period was given by the client's word, or the catalogue named its product then.
    @Test(arguments: TestEngine.allCases, [true, false])
    func `a renewal means what the period before meant`(_ engine: TestEngine, _ isBelieved: Bool) async throws {
        try await withAppleDesk(on: engine) { apple in
            let product = isBelieved ? "com.example.unknown" : "com.example.old"
            if !isBelieved {
                try await sell(
                    #"""
                    {"id": "old", "name": "Old", "kind": "subscription", "tier": "Basic", "rank": 1, "duration_days": 30,
                     "prices": [{"currency": "CNY", "value": 100}], "apple_product_ids": ["com.example.old"]}
                    """#, at: apple)
            }
            let first = apple.period("original", from: 0) { $0.product = product }
            let fallback = isBelieved ? PurchaseFallback(durationDays: 30, subscribeID: 1001) : nil
            let attached = try await apple.attach(first, fallback: fallback)
            if !isBelieved {
                let unnamed = ["apple_product_ids": JSONValue.array([]), "one_period_elsewhere": .bool(true)]
                _ = try await apple.gateway.catalogue.change("old", .object(unnamed), context: .test)
            }
            apple.desk.clock.advance(days: 30)
            let second = apple.period("original", from: 0) { ($0.product, $0.isRenewal) = (product, true) }
            let renewal = AppleRenewal(second)
            try await apple.notify(AppleNotice("DID_RENEW", nil, second, renewal, status: 1, at: apple.now))
            let status = try await apple.status()
            #expect(status.active && status.expires_at == second.purchasedAt.adding(days: 30).rawValue)
            let order = try #require(try await apple.record(second)?.order)
            #expect(try await apple.desk.order(order).order.sku.rawValue == attached.sku)
            // Whoever buys it anew says so.
            let other = apple.period("other", from: 0) { $0.product = product }
            #expect(try await apple.refusal(other, user: "bob") == .unknownProduct(product))
        }
    }

    /// Patterns of two SKUs that fit one product, and the SKU that it means in the app.
    static let patterns: [(generic: String, bound: String, product: String, sku: String)] = [
        ("a.day${days}", "com.example.app:a.day${days}", "a.day7", "bound"),
        ("z.day${days}", "com.example.app:z.day${days}", "z.day7", "bound"),
        ("a.day${days}", "com.elsewhere:a.day${days}", "a.day7", "generic"),
    ]

    @Test(arguments: TestEngine.allCases)
    func `a pattern of the app comes before one of any app`(_ engine: TestEngine) async throws {
        for (generic, bound, product, sku) in Self.patterns {
            try await withAppleDesk(on: engine) { apple in
                try await sell(Self.pass("generic", #""apple_product_ids": ["\#(generic)"]"#), at: apple)
                try await sell(Self.pass("bound", #""apple_product_ids": ["\#(bound)"]"#), at: apple)
                let attached = try await apple.attach(apple.sale(product))
                #expect(attached.sku == sku && attached.tier == sku, "\(bound)")
                #expect(attached.expires_at == apple.now.adding(days: 7).rawValue)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order whose product means another SKU by now is completed as that one's`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            func ring(_ id: String) -> String {
                #"""
                {"id": "\#(id)", "name": "\#(id)", "kind": "non_consumable", "tier": "\#(id)", "rank": 9,
                 "prices": [{"currency": "CNY", "value": 100}], "apple_product_ids": ["com.example.gem"]}
                """#
            }
            try await sell(ring("old"), at: apple)
            let asked = try await apple.ask("old")
            _ = try await apple.gateway.catalogue.archive("old", context: .test)
            try await sell(ring("new"), at: apple)
            let attached = try await apple.attach(apple.sale("com.example.gem", AppleSale.nonConsumable))
            #expect(attached.order_id == asked.order.rawValue && attached.sku == "new" && attached.tier == "new")
            #expect(try await apple.order(attached).order.sku.rawValue == "new")
            #expect(try await apple.grants().map(\.sku.rawValue) == ["new"])
            // It is owned now, so nobody sells it to the same user again.
            await #expect(throws: GatewayError.self) { try await apple.ask("new") }
        }
    }
}
