import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: bought again and held")
struct HeldPurchaseTests {
    enum Fact: CaseIterable, Sendable { case first, second, takenBack }

    /// How Apple takes the first purchase back.
    enum Way: String, CaseIterable, Sendable {
        case refund = "REFUND"
        case revoke = "REVOKE"
    }

    private static func rings(
        _ apple: AppStoreGatewayFixture, _ environment: String = "Production", count: Int = 2
    ) -> [AppleSale] {
        (0..<count).map { number in
            apple.sale("com.example.ring", AppleSale.nonConsumable) {
                $0.environment = environment
                $0.purchased -= Int64(count - number) * 1_000
                ($0.price, $0.currency) = (1_990, "USD")
            }
        }
    }

    private static func takeBack(_ sale: AppleSale, _ way: Way = .refund, at apple: AppStoreGatewayFixture) async throws
    {
        let taken = sale.signedAgain(after: 600) { sale in
            sale.revoked = sale.signed
            if way == .revoke { sale.more["inAppOwnershipType"] = .string("FAMILY_SHARED") }
        }
        try await apple.notify(AppleNotice(way.rawValue, nil, taken, at: apple.now))
    }

    private static func holds(_ apple: AppStoreGatewayFixture, _ user: String = "alice") async throws -> [String] {
        try await apple.desk.snapshot(user).entitlements.filter(\.status.holds).map(\.source.id)
    }

    @Test(arguments: TestEngine.allCases, Way.allCases)
    func `whatever comes first, the one that stands is owned`(_ engine: TestEngine, _ way: Way) async throws {
        try await withAppleDesk(on: engine) { apple in
            for environment in ["Production", "Sandbox"] {
                for (index, order) in permutations(Fact.allCases).enumerated() {
                    let user = "\(environment)\(index)"
                    let rings = Self.rings(apple, environment).map { ring in
                        way == .revoke ? ring.with { $0.more["inAppOwnershipType"] = .string("FAMILY_SHARED") } : ring
                    }
                    for fact in order {
                        switch fact {
                        case .first: _ = try await apple.refusal(rings[0], user: user)
                        case .second: _ = try await apple.refusal(rings[1], user: user)
                        case .takenBack: try await Self.takeBack(rings[0], way, at: apple)
                        }
                    }
                    #expect(try await Self.holds(apple, user) == [rings[1].id], "\(order)")
                    let second = try await apple.attach(rings[1], user: user)
                    #expect(second.active && second.perpetual, "\(order)")
                    #expect(try await apple.order(second).status == .paid, "\(order)")
                    #expect(try await apple.refusal(rings[0], user: user) == .purchaseRevoked, "\(order)")
                    // The second goes with its own refund.
                    try await Self.takeBack(rings[1], way, at: apple)
                    #expect(try await Self.holds(apple, user).isEmpty, "\(order)")
                }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the oldest that stands is given, once, and told`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let rings = Self.rings(apple, count: 4)
            var orders: [String] = []
            for ring in rings { orders.append(try await apple.attach(ring).order_id) }
            // Other people's, and another environment's, are not touched.
            let his = Self.rings(apple)
            for ring in his { try await apple.attach(ring, user: "bob") }
            let tests = Self.rings(apple, "Sandbox")
            for ring in tests { try await apple.attach(ring) }
            try await Self.takeBack(rings[1], at: apple)
            #expect(try await Self.holds(apple).sorted() == [rings[0].id, tests[0].id])
            let version = try await apple.desk.snapshot().version
            try await Self.takeBack(rings[0], at: apple)
            #expect(try await Self.holds(apple).sorted() == [rings[2].id, tests[0].id])
            #expect(try await apple.desk.snapshot().version == version + 1)
            #expect(try await apple.desk.events(orders[2]) == ["order.anomaly", "order.paid"])
            let order = try await apple.gateway.orders.find(orders[2])
            #expect(order.timeline.map(\.type).last == "order.granted" && order.status == .paid)
            #expect(try await apple.desk.count("audit WHERE action = 'order.granted'") == 1)
            let told = try await apple.gateway.reports.explain(
                user: GatewayFixture.user("alice"), sku: "ring", reader: .user, languages: ["en"])
            #expect(told.facts.contains { $0.type == "order.granted" && $0.text.contains("given after all") })
            // The reversal gives the first one again, and takes nothing.
            try await apple.notify(
                AppleNotice("REFUND_REVERSED", nil, rings[0].signedAgain(after: 700), at: apple.now))
            #expect(try await Self.holds(apple).sorted() == [rings[0].id, rings[2].id, tests[0].id])
            #expect(try await Self.holds(apple, "bob") == [his[0].id])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was held beside other money, or beside a gift, is given when that goes`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let paid = try await apple.desk.buy("life")
            let held = apple.sale("com.example.life", AppleSale.nonConsumable)
            // The user has it for ever, whoever gives it.
            let told = try await apple.attach(held)
            #expect(told.active && told.perpetual && told.expires_at == 253_402_300_799)
            #expect(try await Self.holds(apple) != [held.id])
            try await apple.desk.refund(paid.order)
            #expect(try await Self.holds(apple) == [held.id])
            #expect(try await apple.status().tier == "VIP")
            let gift = try await apple.gateway.grants.create(
                GrantRequest(sku: "ring", durationDays: nil, expiresAt: nil, reason: "sorry"),
                to: GatewayFixture.user("bob"),
                by: .admin, context: .test)
            let ring = Self.rings(apple)[0]
            #expect(try await apple.attach(ring, user: "bob").active)
            _ = try await apple.gateway.grants.revoke(gift.id.rawValue, context: .test)
            #expect(try await Self.holds(apple, "bob") == [ring.id])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what an admin took is not given by another purchase`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let rings = Self.rings(apple)
            for ring in rings { try await apple.attach(ring) }
            let grant = try #require(try await apple.grants().first)
            _ = try await apple.gateway.grants.revoke(grant.id.rawValue, context: .test)
            #expect(try await Self.holds(apple).isEmpty)
            #expect(try await !apple.attach(rings[1]).active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `who keeps one of two has it when the other one moves`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, leaving) in [0, 1].enumerated() {
                let (user, other) = ("user\(number)", "other\(number)")
                let rings = Self.rings(apple)
                for ring in rings { try await apple.attach(ring, user: user) }
                _ = try await apple.gateway.purchases.transfer(
                    rings[leaving].id, to: GatewayFixture.user(other), environment: nil, context: .test)
                #expect(try await Self.holds(apple, user) == [rings[1 - leaving].id])
                #expect(try await Self.holds(apple, other) == [rings[leaving].id])
                try await Self.takeBack(rings[leaving], at: apple)
                #expect(try await Self.holds(apple, user) == [rings[1 - leaving].id])
                #expect(try await Self.holds(apple, other).isEmpty)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what has moved to a user is owned by that user`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let rings = Self.rings(apple)
            try await apple.attach(rings[0])
            _ = try await apple.gateway.purchases.transfer(
                rings[0].id, to: GatewayFixture.user("bob"), environment: nil, context: .test)
            #expect(try await apple.attach(rings[1], user: "bob").active)
            #expect(try await Self.holds(apple, "bob") == [rings[0].id])
            try await Self.takeBack(rings[0], at: apple)
            #expect(try await Self.holds(apple, "bob") == [rings[1].id])
            #expect(try await Self.holds(apple).isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `sharers have what their owner was given late`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(.share)) { apple in
            let rings = Self.rings(apple)
            for ring in rings {
                for user in ["alice", "bob"] { try await apple.attach(ring, user: user) }
            }
            try await Self.takeBack(rings[0], at: apple)
            for user in ["alice", "bob"] { #expect(try await Self.holds(apple, user) == [rings[1].id], "\(user)") }
        }
    }

    /// What an earlier release left: the first one refunded, the second one still held.
    @Test(arguments: TestEngine.allCases)
    func `what was left held is given when it is attached again`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let rings = Self.rings(apple)
            for ring in rings { try await apple.attach(ring) }
            try await Self.takeBack(rings[0], at: apple)
            try await apple.store.write { tx in
                try tx.execute("DELETE FROM grants WHERE source_id = ?", rings[1].id)
            }
            let found = try await InvariantCheck(store: apple.store).run()
            #expect(found.contains { $0.detail.hasPrefix("something was bought again and is held") })
            #expect(try await apple.attach(rings[1]).active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund and a claim at once leave one of them owned`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for round in 0..<8 {
                let (user, rings) = ("user\(round)", Self.rings(apple))
                try await apple.attach(rings[0], user: user)
                async let second = apple.refusal(rings[1], user: user)
                async let refund: Void = Self.takeBack(rings[0], at: apple)
                _ = try await (second, refund)
                #expect(try await Self.holds(apple, user) == [rings[1].id])
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a rebuild gives the same`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let rings = Self.rings(apple)
            for ring in rings {
                try await apple.attach(ring)
                apple.desk.clock.advance(seconds: 5)
            }
            try await Self.takeBack(rings[0], at: apple)
            try await withDatabase(on: .sqlite) { scratch in
                let report = try await ReplayInbox(
                    source: apple.store, scratch: scratch.store, gateway: apple.gateway
                ).run()
                #expect(report.differences.isEmpty, "\(report.differences)")
            }
        }
    }
}
