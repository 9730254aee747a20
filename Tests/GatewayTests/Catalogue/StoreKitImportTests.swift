import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Products of a StoreKit configuration file")
struct StoreKitImportTests {
    private static func product(
        _ id: String, _ kind: SKU.Kind = .nonConsumable, _ price: Int64 = 499, _ currency: String = "USD",
        name: String = "Named by Apple", period: String? = nil, path: String = "products[0]"
    ) throws -> StoreKitProduct {
        StoreKitProduct(
            path: path, productID: id, kind: kind, referenceName: "reference",
            price: Money(value: price, currency: try #require(Currency(currency))),
            period: period.flatMap(StoreKitPeriod.init),
            texts: name.isEmpty ? [] : [.init(tag: "en-US", name: name, description: "")])
    }

    @Test(arguments: TestEngine.allCases)
    func `a product that a SKU names changes its price in that currency and its name, and nothing else`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let gateway = apple.gateway
            let before = try await gateway.catalogue.find("life")
            let file = StoreKitImport(products: [try Self.product("com.example.life", .nonConsumable, 9_999)])
            let first = try await gateway.catalogue.importStoreKit(file, context: .test)
            #expect(first.changed == ["life: price none → 99.99 USD; name For life → Named by Apple"])
            #expect(first.added.isEmpty && first.faults.isEmpty)
            var expected = before
            expected.name = "Named by Apple"
            expected.prices = before.prices + [Money(value: 9_999, currency: try #require(Currency("USD")))]
            #expect(try await gateway.catalogue.find("life") == expected)
            let second = try await gateway.catalogue.importStoreKit(file, context: .test)
            #expect(second.changed.isEmpty && second.added.isEmpty)
            let audit = try await apple.desk.store.read { db in
                try db.rows("SELECT action FROM audit WHERE subject = 'sku/life' AND action = 'sku.imported'", []).count
            }
            #expect(audit == 2, "one for the desk's own import, one for this")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a new product becomes a SKU, and what was bought of it is granted at once`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale("com.example.New.Ring", AppleSale.nonConsumable)
            #expect(try await apple.refusal(sale) == .unknownProduct("com.example.New.Ring"))
            #expect(try await apple.gateway.catalogue.unknownProducts().map(\.product) == ["com.example.New.Ring"])
            let outcome = try await apple.gateway.catalogue.importStoreKit(
                StoreKitImport(
                    products: [
                        try Self.product("com.example.New.Ring"),
                        try Self.product("com.example.monthly", .subscription, period: "P1M"),
                    ], tiers: ["com.example.monthly": .init(name: "Gold", rank: 7)]), context: .test)
            #expect(
                outcome.added == [
                    "com.example.new.ring: non_consumable, 4.99 USD, Named by Apple",
                    "com.example.monthly: subscription, 4.99 USD, Named by Apple",
                ])
            let monthly = try await apple.gateway.catalogue.find("com.example.monthly")
            #expect(monthly.durationDays == 30 && monthly.tier == "Gold" && monthly.rank == 7)
            #expect(monthly.stackGroup == "Gold" && monthly.stacking == .none)
            #expect(try await apple.grants().map(\.sku.rawValue) == ["com.example.new.ring"])
            #expect(try await apple.gateway.catalogue.unknownProducts().isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what a new pass or consumable gives is never guessed, and one fault keeps everything as it was`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let gateway = apple.gateway
            let products = [
                try Self.product("com.example.life", .nonConsumable, 1),
                try Self.product("new.pass", .nonRenewing, path: "nonRenewingSubscriptions[0]"),
                try Self.product("new.coins", .consumable, path: "products[1]"),
                try Self.product("New.Coins", .nonConsumable, path: "products[2]"),
                try Self.product("...", .nonConsumable, path: "products[3]"),
                try Self.product("new.named", name: String(repeating: "n", count: 201), path: "products[4]"),
                try Self.product("gems", .nonConsumable, path: "products[5]"),
            ]
            let before = try await gateway.catalogue.all()
            let refused = try await gateway.catalogue.importStoreKit(StoreKitImport(products: products), context: .test)
            #expect(
                refused.faults.map(\.path) == [
                    "nonRenewingSubscriptions[0]", "nonRenewingSubscriptions[0]", "products[1]", "products[2]",
                    "products[3]", "products[4]",
                    "products[5]",
                ])
            #expect(refused.faults[0].remedy.contains("--tier new.pass=VIP:10"))
            #expect(refused.faults[1].remedy.contains("--days new.pass=30"))
            #expect(refused.faults[2].remedy.contains("--units new.coins=coins:100"))
            #expect(refused.faults[3].problem.contains("would be the SKU new.coins"))
            #expect(refused.faults[6].problem.contains("would be the SKU gems"))
            #expect(try await gateway.catalogue.all() == before)
            let told = try await gateway.catalogue.importStoreKit(
                StoreKitImport(
                    products: Array(products[1...2]), tiers: ["new.pass": .init(name: "", rank: 0)],
                    days: ["new.pass": 31], units: ["new.coins": ["coins": 100]]),
                context: .test)
            #expect(told.faults.isEmpty && told.added.count == 2)
            #expect(try await gateway.catalogue.find("new.pass").durationDays == 31)
            #expect(try await gateway.catalogue.find("new.coins").units == ["coins": 100])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `two imports at once add a product once`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let gateway = apple.gateway
            let file = StoreKitImport(
                products: try (0..<20).map { try Self.product("p\($0)", path: "products[\($0)]") })
            let outcomes = try await withThrowingTaskGroup(of: StoreKitOutcome.self) { group in
                for _ in 0..<4 { group.addTask { try await gateway.catalogue.importStoreKit(file, context: .test) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.map(\.added.count).sorted() == [0, 0, 0, 20])
            #expect(outcomes.allSatisfy { $0.changed.isEmpty && $0.faults.isEmpty })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `unknown products are counted by app and product, the last bought first`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            #expect(try await apple.gateway.catalogue.unknownProducts().isEmpty)
            let newest = apple.now.rawValue - 100
            for (product, age) in [("b.new", 500), ("a.new", 300), ("b.new", 100), ("com.example.ring", 0)] {
                let sale = apple.sale(product, AppleSale.nonConsumable) {
                    $0.purchased = (newest + 100 - Int64(age)) * 1_000
                }
                _ = try await apple.refusal(sale)
            }
            let found = try await apple.gateway.catalogue.unknownProducts()
            #expect(found.map(\.product) == ["b.new", "a.new"] && found.map(\.purchases) == [2, 1])
            #expect(found.first?.newest == Timestamp(newest) && found.first?.bundle == "com.example.app")
            #expect(try await apple.gateway.catalogue.unknownProducts(bound: 1).map(\.product) == ["b.new"])
            // The row of an unclaimed purchase does not change, so the catalogue is read.
            try await apple.store.write { tx in
                try tx.execute("UPDATE purchases SET sku = NULL WHERE product_id = 'com.example.ring'")
            }
            #expect(try await apple.gateway.catalogue.unknownProducts().map(\.product) == ["b.new", "a.new"])
            try await apple.store.write { tx in
                try tx.execute("UPDATE purchases SET sku = 'ring' WHERE product_id = 'com.example.ring'")
            }
        }
    }
}

@Suite("How a StoreKit configuration file meets a catalogue")
struct StoreKitPlanTests {
    private static func sku(_ id: String, _ more: String, kind: String = "non_renewing") throws -> SKU {
        try JSONDecoder().decode(
            SKU.self,
            from: Data(#"{"id": "\#(id)", "name": "N", "kind": "\#(kind)", "tier": "T", \#(more)}"#.utf8)
        ).validated()
    }

    private static func product(
        _ id: String, _ price: Int64, _ kind: SKU.Kind = .nonRenewing, period: String? = nil
    ) throws -> StoreKitProduct {
        StoreKitProduct(
            path: "products[0]", productID: id, kind: kind, referenceName: "R",
            price: Money(value: price, currency: try #require(Currency("USD"))),
            period: period.flatMap(StoreKitPeriod.init), texts: [])
    }

    private static let days = #""duration_days": 30, "prices": [{"currency": "USD", "value": 1}]"#

    @Test func `the app decides which SKU is meant, and without it two are a fault`() throws {
        let skus = [
            try Self.sku("a", #"\#(Self.days), "apple_product_ids": ["one.app:x"]"#),
            try Self.sku("b", #"\#(Self.days), "apple_product_ids": ["two.app:x"]"#),
        ]
        let products = [try Self.product("x", 2)]
        let vague = StoreKitPlan(StoreKitImport(products: products), onto: skus)
        #expect(vague.outcome.faults.first?.remedy.contains("--bundle") == true && vague.skus.isEmpty)
        let told = StoreKitPlan(StoreKitImport(products: products, bundle: "two.app"), onto: skus)
        #expect(told.skus.map(\.id) == ["b"] && told.outcome.faults.isEmpty)
        let third = StoreKitPlan(
            StoreKitImport(
                products: products, bundle: "new.app", tiers: ["x": .init(name: "T", rank: 1)], days: ["x": 7]),
            onto: skus)
        #expect(third.skus.map(\.appleProductIDs) == [["new.app:x"]])
        let any = try Self.sku("c", #"\#(Self.days), "apple_product_ids": ["x"]"#)
        #expect(StoreKitPlan(StoreKitImport(products: products), onto: skus + [any]).skus.map(\.id) == ["c"])
    }

    @Test func `an active SKU is meant before an archived one, and an archived one is said to be so`() throws {
        let archived = try Self.sku("old", #"\#(Self.days), "apple_product_ids": ["x"], "active": false"#)
        let active = try Self.sku("new", #"\#(Self.days), "apple_product_ids": ["x"]"#)
        let file = StoreKitImport(products: [try Self.product("x", 2)])
        #expect(StoreKitPlan(file, onto: [archived, active]).skus.map(\.id) == ["new"])
        let plan = StoreKitPlan(file, onto: [archived])
        #expect(
            plan.skus.map(\.id) == ["old"]
                && plan.outcome.notes == ["old: it is archived, so its products are not offered"])
    }

    @Test func `a product of a pattern changes the price of its length`() throws {
        let pattern = #""apple_product_ids": ["p.day${days}"]"#
        let options = try Self.sku(
            "days", #"\#(pattern), "options": [{"days": 7, "prices": [{"currency": "USD", "value": 5}]}]"#)
        let products = [try Self.product("p.day7", 9), try Self.product("p.day30", 20)]
        let plan = StoreKitPlan(StoreKitImport(products: products), onto: [options])
        #expect(plan.outcome.changed == ["days: price for 7 days 0.05 USD → 0.09 USD"])
        #expect(plan.outcome.notes.contains { $0.contains("p.day30: the SKU is sold in options") })
        let plain = StoreKitPlan(
            StoreKitImport(products: products), onto: [try Self.sku("days", "\(Self.days), \(pattern)")])
        #expect(plain.outcome.changed == ["days: price 0.01 USD → 0.20 USD"])
        #expect(
            plain.outcome.notes == ["days: has no option of 7 days, so a price of 0.09 USD is not kept; add the option"]
        )
    }

    @Test func `what does not fit is said and left as it is`() throws {
        let two = try Self.sku("two", #"\#(Self.days), "apple_product_ids": ["x", "y", "z"]"#)
        let auto = try Self.sku("auto", #"\#(Self.days), "apple_product_ids": ["s"]"#, kind: "subscription")
        let plan = StoreKitPlan(
            StoreKitImport(
                products: [
                    try Self.product("x", 2), try Self.product("y", 3), try Self.product("s", 1, .consumable),
                ], days: ["x": 7]), onto: [two, auto])
        #expect(plan.skus.isEmpty && plan.outcome.faults.isEmpty)
        let notes = plan.outcome.notes.joined(separator: "\n")
        for words in [
            "two: its products differ in price, so it keeps its own: x 0.02 USD, y 0.03 USD",
            "two: what was said of x is for new SKUs only", "two: z is not in the file",
            "auto: s is consumable in the file, the SKU is subscription",
        ] { #expect(notes.contains(words), "\(words)") }
        let yearly = StoreKitPlan(
            StoreKitImport(products: [try Self.product("s", 1, .subscription, period: "P1Y")]), onto: [auto])
        #expect(yearly.skus.isEmpty)
        #expect(
            yearly.outcome.notes == [
                "auto: s renews every P1Y, the SKU has 30 days; set its duration_days if that is wrong"
            ])
    }

    @Test func `a long product id gives the end of it as the SKU's id`() throws {
        let long = "com." + String(repeating: "A", count: 60) + "_.end"
        let plan = StoreKitPlan(StoreKitImport(products: [try Self.product(long, 1, .nonConsumable)]), onto: [])
        #expect(plan.skus.map(\.id) == [String(repeating: "a", count: 59) + "_.end"])
        #expect(plan.skus.map(\.appleProductIDs) == [[long]])
    }
}
