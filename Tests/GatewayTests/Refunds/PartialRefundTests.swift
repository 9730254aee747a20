import Gateway
import Store
import TestSupport
import Testing

@testable import Domain

/// A part that Apple gives back takes back that part.
@Suite("Purchases: a part given back")
struct PartialRefundTests {
    /// What was bought, the share that came back in thousandths of a percent, and what is left.
    struct Part: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let product: String
        let kind: String
        let quantity: Int64
        let share: Int64?
        var gems: Int64?
        var days: Int64?
        var status: Entitlement.Status?
        var order = Order.Status.partiallyRefunded
        var isRevoked = false
    }

    private static let gems = "com.example.gems"
    private static let ring = "com.example.ring"
    private static let month = "com.example.vip.month"

    static let parts = [
        Part(
            testDescription: "some of the units", product: gems, kind: AppleSale.consumable, quantity: 3, share: 40_000,
            gems: 18),
        Part(
            testDescription: "a half rounded up", product: gems, kind: AppleSale.consumable, quantity: 1, share: 5_000,
            gems: 9),
        Part(
            testDescription: "all units", product: gems, kind: AppleSale.consumable, quantity: 3, share: nil, gems: 0,
            order: .refunded, isRevoked: true),
        Part(
            testDescription: "one of three passes", product: month, kind: AppleSale.pass, quantity: 3, share: 33_333,
            days: 60, status: .active),
        Part(
            testDescription: "nothing of one pass", product: month, kind: AppleSale.pass, quantity: 1, share: 99_999,
            days: 30, status: .active),
        Part(
            testDescription: "a whole pass", product: month, kind: AppleSale.pass, quantity: 1, share: 100_000,
            days: 30,
            status: .revoked, order: .refunded, isRevoked: true),
        Part(
            testDescription: "a share that is none", product: month, kind: AppleSale.pass, quantity: 1, share: -5,
            days: 30, status: .revoked, order: .refunded, isRevoked: true),
        Part(
            testDescription: "one of two rings", product: ring, kind: AppleSale.nonConsumable, quantity: 2,
            share: 50_000, status: .active),
        Part(
            testDescription: "no part of a period", product: "com.example.pro.auto", kind: AppleSale.subscription,
            quantity: 1, share: 60_000, days: 30, status: .active),
    ]

    private static func sale(_ part: Part, _ apple: AppStoreGatewayFixture) -> AppleSale {
        apple.sale(part.product, part.kind) {
            $0.quantity = part.quantity
            $0.price = 10_000 * part.quantity
            $0.currency = "USD"
            if part.kind == AppleSale.subscription { $0.expires = $0.purchased + 30 * 86_400_000 }
        }
    }

    private static func refunded(_ sale: AppleSale, after seconds: Int64, _ share: Int64?) -> AppleSale {
        sale.signedAgain(after: seconds) {
            $0.revoked = sale.purchased + seconds * 1_000
            $0.percentage = share
        }
    }

    private static func check(_ part: Part, _ apple: AppStoreGatewayFixture, order: OrderSnapshot) async throws {
        let snapshot = try await apple.desk.snapshot()
        #expect(snapshot.balances == (part.gems.map { ["gems": $0] } ?? [:]))
        #expect(snapshot.entitlements.map(\.status) == (part.status.map { [$0] } ?? []))
        if let days = part.days, let grant = try await apple.grants().first {
            let fold = EntitlementRules.fold([grant], now: apple.now).entitlements[0]
            #expect(fold.endsAt == grant.purchasedAt.adding(days: days))
        }
        #expect(order.status == part.order)
    }

    @Test(arguments: TestEngine.allCases, parts)
    func `it takes back that part, also of what is attached later`(_ engine: TestEngine, _ part: Part) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = Self.sale(part, apple)
            let attached = try await apple.attach(sale)
            try await apple.notify(
                AppleNotice("REFUND", nil, Self.refunded(sale, after: 10, part.share), at: apple.now))
            try await Self.check(part, apple, order: try await apple.order(attached))
            let events = try await apple.desk.events(attached.order_id)
            #expect(events == ["order.paid", "refund.succeeded"])
        }
        try await withAppleDesk(on: engine) { apple in
            let told = Self.refunded(Self.sale(part, apple), after: 10, part.share)
            let refusal = try await apple.refusal(told)
            #expect(refusal == (part.isRevoked ? .purchaseRevoked : nil))
            let order = try #require(try await apple.record(told)?.order)
            try await Self.check(part, apple, order: try await apple.gateway.orders.find(order.rawValue))
        }
    }

    @Test(arguments: TestEngine.allCases, [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
    func `the share that was signed last counts, up and down`(_ engine: TestEngine, _ order: [Int]) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale(Self.gems, AppleSale.consumable) { $0.quantity = 10 }
            try await apple.attach(sale)
            let told = [(10, 10_000), (20, 90_000), (30, 70_000), (40, 20_000)] as [(Int64, Int64)]
            for index in order {
                let (at, share) = told[index]
                try await apple.notify(AppleNotice("REFUND", nil, Self.refunded(sale, after: at, share), at: apple.now))
            }
            #expect(try await apple.desk.snapshot().balances == ["gems": 80])
            try await apple.notify(AppleNotice("REFUND_REVERSED", nil, sale.signedAgain(after: 50), at: apple.now))
            #expect(try await apple.desk.snapshot().balances == ["gems": 100])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `who shares several passes keeps as many as the owner`(_ engine: TestEngine) async throws {
        let setup = AppStoreGatewayFixtureSetup { $0.desk.ownership = OwnershipRules(policy: .share) }
        try await withAppleDesk(on: engine, setup) { apple in
            let sale = apple.sale(Self.ring, AppleSale.nonConsumable) { $0.quantity = 2 }
            try await apple.attach(sale)
            try await apple.attach(sale, user: "bob")
            try await apple.notify(AppleNotice("REFUND", nil, Self.refunded(sale, after: 10, 50_000), at: apple.now))
            for user in ["alice", "bob"] {
                #expect(try await apple.desk.snapshot(user).entitlements.map(\.status) == [.active])
            }
            try await apple.notify(AppleNotice("REFUND", nil, Self.refunded(sale, after: 20, 80_000), at: apple.now))
            for user in ["alice", "bob"] {
                #expect(try await apple.desk.snapshot(user).entitlements.map(\.status) == [.revoked])
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an explanation says the part`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale(Self.gems, AppleSale.consumable) { $0.quantity = 3 }
            try await apple.attach(sale)
            try await apple.notify(AppleNotice("REFUND", nil, Self.refunded(sale, after: 10, 33_333), at: apple.now))
            let told = try await apple.gateway.reports.explain(
                user: GatewayFixture.user("alice"), sku: nil, reader: .user, languages: ["en"])
            #expect(told.facts.contains { $0.type == "order.revoked" && $0.text.contains("33.333 %") })
        }
    }
}
