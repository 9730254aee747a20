import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain

/// A period counts while it runs.
@Suite("Subscriptions: periods that lie ahead")
struct ScheduledPeriodTests {
    private static let pro = "com.example.pro.auto"

    /// A running period of Pro until day 5, and the one that is billed ahead, of the tier VIP or of Pro.
    private static func periods(_ apple: AppStoreGatewayFixture, next: String) -> (running: AppleSale, ahead: AppleSale)
    {
        let running = apple.period("chain", from: -25, pro) { $0.id = "chain" }
        let ahead = apple.period("chain", from: 5, next) {
            $0.isRenewal = true
            $0.signed = apple.now.rawValue * 1_000
        }
        return (running, ahead)
    }

    private static func refunded(_ sale: AppleSale, at apple: AppStoreGatewayFixture) -> AppleSale {
        sale.with {
            $0.revoked = apple.now.rawValue * 1_000
            $0.signed = apple.now.rawValue * 1_000 + 2_000
        }
    }

    @Test(arguments: TestEngine.allCases, [false, true])
    func `the running product holds until it ends, and the change is told once`(
        _ engine: TestEngine, _ newestFirst: Bool
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            _ = try await apple.status()
            let (running, ahead) = Self.periods(apple, next: "com.example.apple.auto")
            for sale in newestFirst ? [ahead, running] : [running, ahead] { try await apple.attach(sale) }
            let boundary = ahead.purchasedAt
            var snapshot = try await apple.desk.snapshot()
            #expect(snapshot.tier == "Pro" && snapshot.next_change_at == boundary)
            #expect(snapshot.expires_at == ahead.purchasedAt.adding(days: 30))
            var shown = try #require(try await apple.subscriptions().first)
            #expect(shown.sku == "pro_auto" && shown.status == .active && shown.auto_renew_product_id == ahead.product)
            let told = try await apple.desk.events(try await Self.user(apple)).count
            try await apple.desk.pass(seconds: boundary.rawValue - apple.now.rawValue + 1)
            try await apple.work()
            try await apple.work()
            #expect(try await apple.desk.events(try await Self.user(apple)).count == told + 1)
            snapshot = try await apple.desk.snapshot()
            #expect(snapshot.tier == "VIP" && snapshot.active && snapshot.entitlements.map(\.status) == [.active])
            shown = try #require(try await apple.subscriptions().first)
            #expect(shown.product_id == ahead.product && shown.status == .active)
            let last = try #require(try await apple.desk.eventData(shown.id.rawValue).last)
            guard case .object(let fields) = last else { throw StoreError.corrupt("no object") }
            #expect(fields["product_id"] == .string(ahead.product))
        }
    }

    private static func user(_ apple: AppStoreGatewayFixture) async throws -> String {
        try await apple.store.read { db in try db.users.findID(GatewayFixture.user("alice"))?.rawValue ?? "" }
    }

    @Test(arguments: TestEngine.allCases, [pro, "com.example.apple.auto"])
    func `a refund ends its own period and no other`(_ engine: TestEngine, _ next: String) async throws {
        try await withAppleDesk(on: engine) { apple in
            let (running, ahead) = Self.periods(apple, next: next)
            for sale in [running, ahead] { try await apple.attach(sale) }
            try await apple.notify(AppleNotice("REFUND", nil, Self.refunded(ahead, at: apple), at: apple.now))
            let status = try await apple.status()
            #expect(status.active && status.tier == "Pro" && status.expires_at == ahead.purchasedAt.rawValue)
            #expect(try await apple.subscriptions().first?.status == .active)
        }
        try await withAppleDesk(on: engine) { apple in
            let (running, ahead) = Self.periods(apple, next: next)
            for sale in [running, ahead] { try await apple.attach(sale) }
            try await apple.notify(AppleNotice("REFUND", nil, Self.refunded(running, at: apple), at: apple.now))
            let snapshot = try await apple.desk.snapshot()
            #expect(!snapshot.active && snapshot.entitlements.map(\.status) == [.scheduled])
            #expect(snapshot.next_change_at == ahead.purchasedAt)
            #expect(try await apple.subscriptions().first?.status == .scheduled)
            try await apple.desk.pass(seconds: ahead.purchasedAt.rawValue - apple.now.rawValue + 1)
            try await apple.work()
            #expect(try await apple.status().active)
            #expect(try await apple.subscriptions().first?.status == .active)
        }
    }

    @Test(arguments: TestEngine.allCases, [false, true])
    func `where Apple says itself that all is revoked, nothing runs on`(
        _ engine: TestEngine, _ isLate: Bool
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let (running, ahead) = Self.periods(apple, next: Self.pro)
            for sale in [running, ahead] { try await apple.attach(sale) }
            let refunded = Self.refunded(ahead, at: apple)
            let renewed = AppleNotice("DID_RENEW", nil, ahead, status: 1, at: apple.now.adding(seconds: 1))
            let refund = AppleNotice("REFUND", nil, refunded, status: 5, at: apple.now.adding(seconds: 2))
            for notice in isLate ? [refund, renewed] : [renewed, refund] { try await apple.notify(notice) }
            #expect(try await !apple.status().active)
            #expect(try await apple.subscriptions().first?.status == .revoked)
            let again = ahead.with { $0.signed = (refunded.signed ?? 0) + 5_000 }
            try await apple.notify(AppleNotice("REFUND_REVERSED", nil, again, at: apple.now.adding(seconds: 9)))
            #expect(try await apple.status().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a renewal that is billed a day ahead begins at the end of the period before`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let running = apple.period("early", from: -29, Self.pro) { $0.id = "early" }
            let end = running.expires ?? 0
            let ahead = apple.sale("com.example.apple.auto", AppleSale.subscription) {
                ($0.original, $0.isRenewal) = ("early", true)
                ($0.purchased, $0.expires) = (apple.now.rawValue * 1_000, end + 30 * 86_400_000)
            }
            for sale in [running, ahead] { try await apple.attach(sale) }
            let snapshot = try await apple.desk.snapshot()
            #expect(snapshot.tier == "Pro" && snapshot.next_change_at == Timestamp(end / 1_000))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a pass behind another and a subscription that has not begun are scheduled`(_ engine: TestEngine) async throws
    {
        try await withAppleDesk(on: engine) { apple in
            #expect(try await apple.attach(apple.sale()).status == "active")
            let second = try await apple.attach(apple.sale())
            #expect(!second.active && second.status == "scheduled")
            let later = try await apple.attach(
                apple.period("later", from: 3, Self.pro) { $0.signed = apple.now.rawValue * 1_000 })
            #expect(!later.active && later.status == "scheduled")
            #expect(try await apple.attach(apple.sale("com.example.gems", AppleSale.consumable)).status == "none")
        }
    }

    /// Apple's type, the product, the days until the signed end, and whether it becomes a subscription.
    static let ends: [(String, String, Int64, Bool)] = [
        ("Subscription Suite", pro, 4, true), ("Subscription Suite", pro, -2, true), ("", pro, 3, true),
        (AppleSale.pass, "com.example.vip.month", 11, false), (AppleSale.nonConsumable, "com.example.life", 8, false),
    ]

    @Test(arguments: TestEngine.allCases, ends)
    func `an end that Apple signed is the end`(
        _ engine: TestEngine, _ told: (kind: String, product: String, days: Int64, isSubscription: Bool)
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale(told.product, told.kind) {
                $0.purchased -= 6 * 86_400_000
                $0.expires = apple.now.rawValue * 1_000 + told.days * 86_400_000
            }
            let attached = try await apple.attach(sale)
            #expect(attached.active == (told.days > 0) && attached.expires_at == (sale.expires ?? 0) / 1_000)
            #expect(try await apple.subscriptions().count == (told.isSubscription ? 1 : 0))
            let moved = sale.signedAgain(after: 7 * 86_400) { $0.expires = (sale.expires ?? 0) + 86_400_000 }
            #expect(try await apple.attach(moved).expires_at == (moved.expires ?? 0) / 1_000)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a commitment's renewal is read by its own names`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.period("committed", from: 0)
            try await apple.attach(sale)
            let until = sale.purchased + 200 * 86_400_000
            let renewal = AppleRenewal(sale, signed: sale.purchased + 1_000) {
                $0.willRenew = false
                $0.more["commitmentInfo"] = .object([
                    "commitmentRenewalDate": .integer(until), "commitmentAutoRenewStatus": .integer(0),
                ])
            }
            try await apple.notify(
                AppleNotice("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", sale, renewal, status: 1, at: apple.now)
            )
            let shown = try #require(try await apple.subscriptions().first)
            #expect(shown.commitment_expires_at == Timestamp(until / 1_000) && shown.will_renew)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what belongs to somebody else is kept, and an admin's transfer needs nothing more`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let first = apple.period("moved", from: -31) { $0.id = "moved" }
            let second = apple.period("moved", from: -1) { $0.isRenewal = true }
            try await apple.attach(first)
            #expect(try await apple.refusal(second, user: "bob") == .purchaseBelongsToAnotherUser)
            _ = try await apple.gateway.purchases.transfer(
                "moved", to: GatewayFixture.user("bob"), environment: nil, context: .test)
            #expect(try await apple.status("bob").expires_at == (second.expires ?? 0) / 1_000)
            #expect(try await !apple.status().active)
        }
    }
}
