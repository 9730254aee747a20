import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Grants and what a user owns")
struct GrantTests {
    private static func gift(_ sku: String, days: Int64? = nil, until: Timestamp? = nil) -> GrantRequest {
        GrantRequest(sku: sku, durationDays: days, expiresAt: until, reason: "a gift")
    }

    @Test(arguments: TestEngine.allCases)
    func `passes lie end to end, whoever gives them`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let start = desk.clock.now
            let month = try await desk.buyForReal("vip_month")
            desk.clock.advance(days: 10)
            try await desk.buyForReal("vip_year")
            let gift = try await desk.gateway.grants.create(
                Self.gift("vip_month", days: 7), to: GatewayFixture.user("alice"), by: .admin, context: .test)
            #expect(gift.status == .scheduled)
            #expect(try await desk.snapshot().expires_at == start.adding(days: 402))
            #expect(try await desk.snapshot().next_change_at == start.adding(days: 30))
            desk.clock.advance(days: 10)
            try await desk.refund(month.order)
            let snapshot = try await desk.snapshot()
            #expect(snapshot.expires_at == start.adding(days: 382))
            #expect(snapshot.active)
            desk.clock.set(start.adding(days: 382).rawValue)
            #expect(try await !desk.snapshot().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a grant until a time does not stack`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let start = desk.clock.now
            try await desk.buy("vip_month")
            let item = try await desk.gateway.grants.create(
                Self.gift("vip_month", until: start.adding(days: 3)), to: GatewayFixture.user("alice"), by: .admin,
                context: .test)
            #expect(item.status == .active)
            #expect(item.expires_at == start.adding(days: 3))
            #expect(try await desk.snapshot().expires_at == start.adding(days: 30))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the higher tier decides while it holds`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let start = desk.clock.now
            try await desk.buy("basic_days", days: 30)
            _ = try await desk.gateway.grants.create(
                Self.gift("vip_month", days: 7), to: GatewayFixture.user("alice"), by: .admin, context: .test)
            let both = try await desk.snapshot()
            #expect(both.tier == "VIP")
            #expect(both.tiers.map(\.tier) == ["VIP", "Basic"])
            desk.clock.advance(days: 7)
            let after = try await desk.snapshot()
            #expect(after.tier == "Basic")
            #expect(after.expires_at == start.adding(days: 30))
            #expect(after.version == both.version)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what an admin revokes stays revoked`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let grant = try #require(try await desk.grants(contract.order).first)
            let revoked = try await desk.gateway.grants.revoke(grant.id.rawValue, context: .test)
            #expect(revoked.status == .revoked)
            let version = try await desk.snapshot().version
            _ = try await desk.gateway.grants.revoke(grant.id.rawValue, context: .test)
            #expect(try await desk.snapshot().version == version)
            try await desk.notify("dispute.opened", contract)
            try await desk.notify("dispute.won", contract)
            #expect(try await !desk.snapshot().active)
            await expectNotFound {
                try await desk.gateway.grants.revoke("grt_nothing", context: .test)
            }
        }
    }

    struct BadGift: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: GrantRequest
        let error: GatewayError

        init(_ name: String, _ request: GrantRequest, _ error: GatewayError) {
            (testDescription, self.request, self.error) = (name, request, error)
        }

        init(_ name: String, _ request: GrantRequest, field: String) {
            self.init(name, request, .invalidRequest(field: field, reason: ""))
        }
    }

    static let badGifts = [
        BadGift("an unknown SKU", gift("nothing"), .skuNotFound("nothing")),
        BadGift("no days", gift("vip_month", days: 0), field: "duration_days"),
        BadGift("too many days", gift("vip_month", days: 3_661), field: "duration_days"),
        BadGift("a time that is over", gift("vip_month", until: Timestamp(1)), field: "expires_at"),
        BadGift("a time beyond all", gift("vip_month", until: Timestamp(.max)), field: "expires_at"),
        BadGift("both", gift("vip_month", days: 1, until: .farFuture), field: "expires_at"),
        BadGift("units for a time", gift("coins", days: 3), field: "duration_days"),
        BadGift("units until a time", gift("coins", until: .farFuture), field: "expires_at"),
    ]

    @Test(arguments: TestEngine.allCases, badGifts)
    func `a bad gift gives nothing`(_ engine: TestEngine, _ gift: BadGift) async throws {
        try await withDesk(on: engine) { desk in
            let error = await #expect(throws: GatewayError.self) {
                try await desk.gateway.grants.create(
                    gift.request, to: GatewayFixture.user("alice"), by: .admin, context: .test)
            }
            #expect(error?.withoutReason == gift.error)
            let left = try await desk.count("grants")
            #expect(left == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a user never seen owns nothing, a device is for ever`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let nobody = try await desk.snapshot("nobody")
            #expect(nobody.version == 0 && !nobody.active && nobody.entitlements.isEmpty)
            let item = try await desk.gateway.grants.create(
                Self.gift("walkie"), to: GatewayFixture.user("alice"), by: .admin, context: .test)
            #expect(item.perpetual)
            #expect(item.attributes == ["range_km": .integer(3)])
            await #expect(throws: GatewayError.alreadyOwned) { try await desk.checkout("walkie", provider: "scripted") }
            let products = try await desk.gateway.catalogue.products(
                user: GatewayFixture.user("alice"), platform: nil, currency: nil, languages: ["zh-CN"])
            #expect(products.filter(\.owned).map(\.sku.id) == ["walkie"])
            #expect(products.first { $0.sku.id == "vip_month" }?.localization.name == "月度会员")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `each change is one version and one event`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            try await desk.refund(contract.order)
            _ = try await desk.gateway.grants.create(
                Self.gift("walkie"), to: GatewayFixture.user("alice"), by: .admin, context: .test)
            let user = try await desk.order(contract.order).user
            let events = try await desk.events(user.rawValue)
            #expect(events == Array(repeating: "entitlements.changed", count: 3))
            #expect(try await desk.snapshot().version == 3)
        }
    }
}
