import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: bought again under one original transaction")
struct BoughtAgainTests {
    /// A purchase under two ids, and one that was made after it had been taken back.
    private struct Trio: Sendable {
        let first: AppleSale
        let restored: AppleSale
        let again: AppleSale

        init(_ original: String, at apple: AppStoreGatewayFixture) {
            let original = apple.sale("com.example.ring", AppleSale.nonConsumable) {
                $0.id = original
                $0.purchased -= 3_600_000
                ($0.price, $0.currency) = (1_990, "USD")
            }
            func later(_ suffix: String, _ seconds: Int64) -> AppleSale {
                original.with {
                    ($0.id, $0.original) = (original.id + suffix, original.id)
                    $0.purchased += seconds * 1_000
                }
            }
            (first, restored, again) = (original, later("-restored", 300), later("-again", 700))
        }
    }

    enum Fact: CaseIterable, Sendable { case first, restored, again, refund }

    /// Apple takes the purchase back 600 s after it was made.
    private static func refund(_ sale: AppleSale, _ trio: Trio, at apple: AppStoreGatewayFixture) async throws {
        try await apple.notify(
            AppleNotice(
                "REFUND", nil,
                sale.with {
                    $0.revoked = trio.first.purchased + 600_000
                    $0.signed = $0.revoked
                }, at: apple.now))
    }

    private static func holds(_ apple: AppStoreGatewayFixture, _ user: String) async throws -> [String] {
        try await apple.desk.snapshot(user).entitlements.filter(\.status.holds).map(\.source.id).sorted()
    }

    private static func orders(_ apple: AppStoreGatewayFixture, _ user: String) async throws -> [String] {
        try await apple.gateway.orders.list(OrderQuery(user: GatewayFixture.user(user)), cursor: nil, limit: 9).items
            .map { "\($0.status)" }.sorted()
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `it is an order of its own, under whichever id the first one was refunded`(
        _ engine: TestEngine, _ isFirst: Bool
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (index, order) in permutations(Fact.allCases).enumerated() {
                let (user, trio) = ("user\(index)", Trio("ring\(isFirst)\(index)", at: apple))
                for fact in order {
                    switch fact {
                    case .first: _ = try await apple.refusal(trio.first, user: user)
                    case .restored: _ = try await apple.refusal(trio.restored, user: user)
                    case .again: _ = try await apple.refusal(trio.again, user: user)
                    case .refund: try await Self.refund(isFirst ? trio.first : trio.restored, trio, at: apple)
                    }
                }
                #expect(try await Self.orders(apple, user) == ["paid", "refunded"], "\(order)")
                #expect(try await apple.attach(trio.again, user: user).perpetual, "\(order)")
                for taken in [trio.first, trio.restored] {
                    #expect(try await apple.refusal(taken, user: user) == .purchaseRevoked, "\(order)")
                }
                #expect(try await Self.holds(apple, user).count == 1, "\(order)")
                // It goes with its own refund, and comes again with its reversal.
                let taken = trio.again.signedAgain(after: 900) { $0.revoked = $0.signed }
                try await apple.notify(AppleNotice("REFUND", nil, taken, at: apple.now))
                #expect(try await Self.holds(apple, user).isEmpty, "\(order)")
                #expect(try await Self.orders(apple, user) == ["refunded", "refunded"], "\(order)")
                try await apple.notify(
                    AppleNotice("REFUND_REVERSED", nil, trio.again.signedAgain(after: 950), at: apple.now))
                #expect(try await Self.holds(apple, user).count == 1, "\(order)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a reversal of the first leaves two purchases, each with its own refund`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let trio = Trio("1000", at: apple)
            try await apple.attach(trio.first)
            try await Self.refund(trio.first, trio, at: apple)
            try await apple.attach(trio.again)
            let reversed = trio.first.signedAgain(after: 800)
            try await apple.notify(AppleNotice("REFUND_REVERSED", nil, reversed, at: apple.now))
            #expect(try await Self.holds(apple, "alice") == [trio.first.id, trio.again.id])
            #expect(try await Self.orders(apple, "alice") == ["paid", "paid"])
            // A restore is of the one that was bought last before it.
            try await apple.attach(trio.restored)
            let taken = trio.restored.signedAgain(after: 900) { $0.revoked = $0.signed }
            try await apple.notify(AppleNotice("REFUND", nil, taken, at: apple.now))
            #expect(try await Self.holds(apple, "alice") == [trio.again.id])
            #expect(try await apple.attach(trio.again).active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `who shares it late has what stands`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine, PurchasePolicyTests.setup(.share)) { apple in
            let trio = Trio("1000", at: apple)
            for sale in [trio.first, trio.restored] { try await apple.attach(sale) }
            try await Self.refund(trio.restored, trio, at: apple)
            try await apple.attach(trio.again)
            #expect(try await apple.attach(trio.again, user: "bob").perpetual)
            #expect(try await Self.holds(apple, "bob") == [trio.again.id])
            #expect(try await apple.refusal(trio.first, user: "bob") == .purchaseRevoked)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `units go back under whichever id the purchase was refunded`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let gems = apple.sale("com.example.gems", AppleSale.nonConsumable) { $0.id = "1000" }
            let restored = gems.with { ($0.id, $0.original) = ("1001", "1000") }
            for sale in [gems, restored] { try await apple.attach(sale) }
            #expect(try await apple.desk.snapshot().balances == ["gems": 10])
            let refund = restored.signedAgain(after: 600) { $0.revoked = $0.signed }
            try await apple.notify(AppleNotice("REFUND", nil, refund, at: apple.now))
            #expect(try await apple.desk.snapshot().balances == ["gems": 0])
        }
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `a reversal of one id gives again what only a receipt took of the other`(
        _ engine: TestEngine, _ isSignedBefore: Bool
    ) async throws {
        try await withReceiptDesk(on: engine) { apple in
            let trio = Trio("1000", at: apple)
            if isSignedBefore {
                for sale in [trio.first, trio.restored] { try await apple.attach(sale) }
            }
            let taken = [trio.first, trio.restored].map { sale in
                sale.with { $0.revoked = trio.first.purchased + 600_000 }
            }
            let receipt = apple.receipt(taken[0], taken[1]) { $0.created = trio.first.purchased + 700_000 }
            #expect(try await apple.refusal(of: receipt.base64, trio.first.id) == .purchaseRevoked)
            #expect(try await Self.holds(apple, "alice").isEmpty)
            let reversed = trio.first.signedAgain(after: 800)
            try await apple.notify(AppleNotice("REFUND_REVERSED", nil, reversed, at: apple.now))
            #expect(try await Self.holds(apple, "alice") == [trio.first.id])
            #expect(try await apple.attach(trio.restored).active)
            #expect(try await Self.orders(apple, "alice") == ["paid"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order has no price of another one`(_ engine: TestEngine) async throws {
        try await withReceiptDesk(on: engine) { apple in
            let trio = Trio("1000", at: apple)
            let taken = trio.first.with { $0.revoked = trio.first.purchased + 600_000 }
            let receipt = apple.receipt(taken) { $0.created = trio.first.purchased + 650_000 }
            #expect(try await apple.refusal(of: receipt.base64, trio.first.id) == .purchaseRevoked)
            try await apple.attach(trio.again)
            let reversed = trio.first.signedAgain(after: 800) { $0.price = nil }
            try await apple.notify(AppleNotice("REFUND_REVERSED", nil, reversed, at: apple.now))
            #expect(try await Self.holds(apple, "alice").count == 2)
            let orders = try await apple.gateway.orders.list(OrderQuery(), cursor: nil, limit: 9).items.map(\.order)
            #expect(orders.compactMap(\.charged).map(\.value) == [199] && orders.count == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an admin decides about what was bought, not about what will be`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let first = try await apple.attach(apple.sale("com.example.ring", AppleSale.nonConsumable))
            let taken = try #require(try await apple.grants().first)
            _ = try await apple.gateway.grants.revoke(taken.id.rawValue, context: .test)
            apple.desk.clock.advance(seconds: 60)
            let gift = try await apple.gateway.grants.create(
                GrantRequest(sku: "ring", durationDays: nil, expiresAt: nil, reason: "sorry"),
                to: GatewayFixture.user("alice"), by: .admin, context: .test)
            let second = apple.sale("com.example.ring", AppleSale.nonConsumable)
            // The gift gives it, and not this purchase.
            #expect(try await apple.attach(second).active)
            #expect(try await Self.holds(apple, "alice") == [gift.id.rawValue])
            _ = try await apple.gateway.grants.revoke(gift.id.rawValue, context: .test)
            #expect(try await Self.holds(apple, "alice") == [second.id])
            #expect(try await apple.order(first).status == .paid)
        }
    }

    /// A test purchase that is held is worth what it is worth when it is given.
    @Test(arguments: TestEngine.allCases)
    func `a held test purchase gives who is not entitled nothing`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine, AppStoreGatewayFixtureSetup().desk) { desk in
            let apple = try await AppStoreGatewayFixture(desk, AppStoreGatewayFixtureSetup())
            let rings = [Int64(2), 1].map { age in
                apple.sale("com.example.ring", AppleSale.nonConsumable) {
                    $0.environment = "Sandbox"
                    $0.purchased -= 1_000 * age
                }
            }
            for ring in rings { try await apple.attach(ring) }
            #expect(try await Self.holds(apple, "alice") == [rings[0].id])
            let strict = try await AppStoreGatewayFixture(desk, AppStoreGatewayFixtureSetup { $0.entitles = "none" })
            let refund = rings[0].signedAgain(after: 600) { $0.revoked = $0.signed }
            try await strict.notify(AppleNotice("REFUND", nil, refund, at: strict.now))
            #expect(try await Self.holds(strict, "alice").isEmpty)
        }
    }
}
