import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: attach")
struct PurchaseAttachTests {
    @Test(arguments: TestEngine.allCases)
    func `attaching describes the grant, and again gives the same answer and no second effect`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale()
            let first = try await apple.attach(sale)
            #expect(first.tier == "VIP" && first.active && !first.perpetual && first.sku == "vip_month")
            #expect(first.expires_at == apple.now.adding(days: 30).rawValue && first.credited.isEmpty)
            #expect(first.transaction_id == sale.id && first.original_transaction_id == sale.id)
            #expect(first.environment == "Production")
            #expect(try await apple.attach(sale) == first)
            #expect(try await apple.attach(sale.signedAgain(after: 9)) == first)
            #expect(try await apple.desk.count("orders") == 1)
            #expect(try await apple.grants().count == 1)
            #expect(try await apple.desk.events(sale.id) == ["purchase.attached"])
            #expect(try await apple.desk.events(first.order_id) == ["order.paid"])
            let order = try await apple.order(first)
            #expect(order.order.origin == .purchase && order.status == .paid && order.order.platform == .ios)
        }
    }

    /// What Apple signed, and the price that an order of its own shows.
    struct Price: Sendable, CustomTestStringConvertible {
        let milliunits: Int64?
        let currency: String?
        let money: Money?

        var testDescription: String { "\(milliunits.map(String.init) ?? "none") \(currency ?? "none")" }
    }

    static let prices = [
        Price(milliunits: 5990, currency: "USD", money: GatewayFixture.money(599, "USD")),
        Price(milliunits: 39_900, currency: "CNY", money: GatewayFixture.money(3990)),
        Price(milliunits: 600_000, currency: "JPY", money: GatewayFixture.money(600, "JPY")),
        Price(milliunits: 1_234, currency: "KWD", money: GatewayFixture.money(1_234, "KWD")),
        Price(milliunits: 0, currency: "USD", money: GatewayFixture.money(0, "USD")),
        Price(milliunits: 5_995, currency: "USD", money: nil),
        Price(milliunits: 600_500, currency: "JPY", money: nil), Price(milliunits: nil, currency: nil, money: nil),
        Price(milliunits: 5990, currency: nil, money: nil), Price(milliunits: nil, currency: "USD", money: nil),
        Price(milliunits: 5990, currency: "money", money: nil),
    ]

    @Test(arguments: TestEngine.allCases)
    func `apple sets the price, and an amount that is no whole number of minor units is none`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, price) in Self.prices.enumerated() {
                func priced(_ sale: inout AppleSale) {
                    sale.price = price.milliunits
                    sale.currency = price.currency
                }
                let own = try await apple.attach(apple.sale { priced(&$0) }, user: "own\(number)")
                let made = try await apple.order(own).order
                #expect(made.charged == price.money && made.amount == price.money, "\(price.testDescription)")
                let asked = try await apple.ask(user: "asked\(number)")
                let attached = try await apple.attach(apple.sale { priced(&$0) }, user: "asked\(number)")
                let order = try await apple.order(attached).order
                #expect(attached.order_id == asked.order.rawValue)
                #expect(
                    order.amount == GatewayFixture.money(3990) && order.charged == price.money,
                    "\(price.testDescription)")
                #expect(order.status == .paid)
            }
        }
    }

    @Test(
        arguments: TestEngine.allCases,
        [("1", 1), ("7", 7), ("90", 90), ("3660", 3660), ("3661", 0), ("0", 0), ("07", 0), ("x", 0), ("", 0)]
            as [(String, Int64)])
    func `a pattern's product says its days`(
        _ engine: TestEngine, _ pattern: (days: String, expected: Int64)
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale("merchant.example.day\(pattern.days)")
            guard pattern.expected > 0 else {
                #expect(try await apple.refusal(sale) == .unknownProduct(sale.product))
                return
            }
            let attached = try await apple.attach(sale)
            #expect(attached.tier == "Basic" && attached.sku == "basic_days")
            #expect(attached.expires_at == apple.now.adding(days: pattern.expected).rawValue)
            #expect(try await apple.record(sale)?.days == pattern.expected)
        }
    }

    /// What a client says, and the days that it is believed.
    static let fallbacks: [(fallback: PurchaseFallback?, days: Int64?)] = [
        (nil, nil), (.init(durationDays: 30, subscribeID: 1001), 30), (.init(durationDays: 7, subscribeID: 1001), 7),
        (.init(durationDays: nil, subscribeID: 1001), 30), (.init(durationDays: 31, subscribeID: 1001), nil),
        (.init(durationDays: 0, subscribeID: 1001), nil), (.init(durationDays: -1, subscribeID: 1001), nil),
        (.init(durationDays: .max, subscribeID: 1001), nil), (.init(durationDays: 30, subscribeID: 1002), nil),
        (.init(durationDays: 30, subscribeID: 9), nil),
    ]

    @Test(arguments: TestEngine.allCases)
    func `the client's word counts only within a SKU that allows it`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, (fallback, days)) in Self.fallbacks.enumerated() {
                let (sale, user) = (apple.sale("com.example.unknown"), "user\(number)")
                guard let days else {
                    let refusal = try await apple.refusal(sale, user: user, fallback: fallback)
                    #expect(refusal == .unknownProduct("com.example.unknown"), "\(number)")
                    #expect(try await apple.record(sale)?.user != nil)
                    continue
                }
                let attached = try await apple.attach(sale, user: user, fallback: fallback)
                #expect(attached.tier == "Basic" && attached.sku == "believed")
                #expect(attached.expires_at == apple.now.adding(days: days).rawValue)
                // What was decided stays, whatever is said later.
                #expect(try await apple.attach(sale, user: user) == attached)
            }
            let known = try await apple.attach(
                apple.sale(), user: "z", fallback: .init(durationDays: 1, subscribeID: 1001))
            #expect(known.sku == "vip_month")
            _ = try await apple.gateway.catalogue.archive("believed", context: .test)
            let late = try await apple.refusal(
                apple.sale("com.example.unknown"), fallback: .init(durationDays: 30, subscribeID: 1001))
            #expect(late == .unknownProduct("com.example.unknown"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the client's word maps what was kept without it`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale("com.example.unknown")
            #expect(try await apple.refusal(sale) == .unknownProduct(sale.product))
            let attached = try await apple.attach(sale, fallback: .init(durationDays: 10, subscribeID: 1001))
            #expect(attached.expires_at == apple.now.adding(days: 10).rawValue)
            #expect(try await apple.desk.events(sale.id) == ["purchase.unmapped", "purchase.attached"])
        }
    }

    enum Way: String, CaseIterable, Sendable { case create, change, load, pattern }

    @Test(arguments: TestEngine.allCases, Way.allCases)
    func `a purchase of an unknown product is kept and granted once a SKU knows it`(
        _ engine: TestEngine, _ way: Way
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let product = "com.example.late.9"
            var sales: [AppleSale] = []
            for user in ["alice", "bob"] {
                let sale = apple.sale(product)
                sales.append(sale)
                #expect(try await apple.refusal(sale, user: user) == .unknownProduct(product))
                #expect(try await apple.refusal(sale, user: user) == .unknownProduct(product))
                #expect(try await !apple.status(user).active)
                #expect(try await apple.desk.events(sale.id) == ["purchase.unmapped"])
            }
            let late = #"""
                {"id": "late", "name": "Late", "kind": "non_renewing", "tier": "Late", "rank": 9, "duration_days": 9,
                 "prices": [{"currency": "CNY", "value": 100}],
                 "apple_product_ids": ["\#(way == .pattern ? "com.example.late.${days}" : product)"]}
                """#
            let sku = try JSONDecoder().decode(SKU.self, from: Data(late.utf8))
            apple.desk.clock.advance(seconds: 100)
            switch way {
            case .create, .pattern: _ = try await apple.gateway.catalogue.create(sku, context: .test)
            case .change:
                _ = try await apple.gateway.catalogue.change(
                    "vip_month", .object(["apple_product_ids": .array([.string(product)])]), context: .test)
            case .load: _ = try await apple.gateway.catalogue.merge([sku], context: .test)
            }
            for (user, sale) in zip(["alice", "bob"], sales) {
                let status = try await apple.status(user)
                #expect(status.active && status.tier == (way == .change ? "VIP" : "Late"))
                #expect(status.expires_at == sale.purchasedAt.adding(days: way == .change ? 30 : 9).rawValue)
                #expect(try await apple.desk.events(sale.id) == ["purchase.unmapped", "purchase.attached"])
                #expect(try await apple.attach(sale, user: user).active)
            }
            #expect(try await apple.desk.count("orders") == 2)
        }
    }

    /// As after a crash right behind the change, or beside an attach that did not see it.
    @Test(arguments: TestEngine.allCases)
    func `what a new SKU could not grant at once is granted later`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale("com.example.late.9")
            #expect(try await apple.refusal(sale) == .unknownProduct("com.example.late.9"))
            let late = #"""
                {"id": "late", "name": "Late", "kind": "non_renewing", "tier": "Late", "duration_days": 9,
                 "prices": [{"currency": "CNY", "value": 100}], "apple_product_ids": ["com.example.late.9"]}
                """#
            let sku = try JSONDecoder().decode(SKU.self, from: Data(late.utf8))
            try await apple.store.write { tx in try tx.execute("ALTER TABLE grants RENAME TO grants_away") }
            _ = try await apple.gateway.catalogue.create(sku, context: .test)
            // The first run of the job fails as well.
            try await apple.desk.pass(seconds: 60)
            try await apple.desk.work()
            try await apple.store.write { tx in try tx.execute("ALTER TABLE grants_away RENAME TO grants") }
            #expect(try await !apple.status().active)
            try await apple.desk.pass(seconds: 60)
            try await apple.desk.work()
            let status = try await apple.status()
            #expect(status.active && status.tier == "Late")
            #expect(try await apple.desk.count("jobs WHERE kind = 'grant_unmapped'") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the evidence is kept under the key ring`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sales = [apple.sale(), apple.sale("com.example.unknown")].map { ($0, $0.jws) }
            for (sale, jws) in sales {
                _ = try await apple.restore([jws])
                let place = "purchases.evidence/Production/\(sale.id)"
                let sealed = try await apple.store.read { db in
                    try db.row("SELECT evidence FROM purchases WHERE key = ?", sale.id)?.blob("evidence")
                }
                let text = String(
                    decoding: try apple.desk.keyRing.open(try #require(sealed), context: place), as: UTF8.self)
                #expect(text == jws)
                guard case .sqlite(let path) = apple.desk.database.url else { continue }
                for file in [path, path + "-wal"] where FileManager.default.fileExists(atPath: file) {
                    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                    for part in text.split(separator: ".") { #expect(bytes.range(of: Data(part.utf8)) == nil) }
                }
            }
        }
    }
}
