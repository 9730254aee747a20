import Domain
import Testing

struct MembershipTests {
    private func fold(_ now: Int64, _ grants: Grant...) -> EntitlementFold {
        EntitlementRules.fold(grants, now: day(now))
    }

    private func pass(
        _ number: Int, _ tier: String, _ rank: Int64, _ bought: Int64, _ days: Int64, suspended: Bool = false
    ) throws -> Grant {
        try GrantSample.make(
            number, sku: "p\(number)", tier: tier, rank: rank, bought: bought, .days(days), group: tier,
            suspended: suspended)
    }

    @Test(
        arguments: [
            (-1, .scheduled, false, 0), (0, .active, true, 30), (29, .active, true, 30), (30, .expired, false, nil),
            (31, .expired, false, nil),
        ] as [(Int64, Entitlement.Status, Bool, Int64?)])
    func `a pass holds from its first second until before its end`(
        _ now: Int64, _ status: Entitlement.Status, _ holds: Bool, _ change: Int64?
    ) throws {
        let fold = fold(now, try pass(1, "VIP", 20, 0, 30))
        #expect(fold.statuses == ["p1": status])
        #expect((fold.membership != nil) == holds)
        #expect(fold.tiers.count == (holds ? 1 : 0))
        #expect(fold.nextChangeAt == change.map(day))
    }

    @Test func `nobody owns nothing`() {
        let fold = EntitlementRules.fold([], now: day(0))
        #expect(fold.entitlements.isEmpty && fold.tiers.isEmpty)
        #expect(fold.membership == nil && fold.nextChangeAt == nil)
    }

    @Test(
        arguments: [
            (0, ["BASIC"], "BASIC", 100), (10, ["VIP", "BASIC"], "VIP", 100),
            (15, ["SVIP", "VIP", "BASIC"], "SVIP", 100), (20, ["VIP", "BASIC"], "VIP", 100),
            (40, ["BASIC"], "BASIC", 100), (99, ["BASIC"], "BASIC", 100),
        ] as [(Int64, [String], String, Int64)])
    func `the tier of the highest rank decides and the last end counts`(
        _ now: Int64, _ tiers: [String], _ deciding: String, _ end: Int64
    ) throws {
        let fold = fold(
            now, try pass(1, "BASIC", 5, 0, 100), try pass(2, "VIP", 20, 10, 30), try pass(3, "SVIP", 30, 15, 5))
        #expect(fold.tiers.map(\.tier) == tiers)
        #expect(fold.membership?.tier == deciding)
        #expect(fold.membership?.endsAt == day(end))
        let ends = ["BASIC": day(100), "VIP": day(40), "SVIP": day(20)]
        #expect(fold.tiers.allSatisfy { $0.endsAt == ends[$0.tier] })
    }

    @Test func `a tier has the highest rank of what holds now`() throws {
        let low = try GrantSample.make(1, sku: "a", rank: 10, bought: 0, .days(30), group: nil)
        let high = try GrantSample.make(2, sku: "b", rank: 40, bought: 10, .days(5), group: nil)
        #expect([5, 12, 15].map { fold($0, low, high).membership?.rank } == [10, 40, 10])
        #expect(fold(12, low, high).tiers.map(\.rank) == [40])
    }

    @Test func `tiers of one rank keep one order`() throws {
        let (a, b) = (try pass(1, "A", 7, 0, 30), try pass(2, "B", 7, 0, 10))
        #expect(fold(1, a, b).tiers.map(\.tier) == fold(1, b, a).tiers.map(\.tier))
        #expect(fold(1, a, b).membership?.endsAt == day(30))
    }

    @Test(
        arguments: [
            ([(0, 30), (10, 30), (20, 30)], 90), ([(0, 30), (30, 30)], 60), ([(0, 30), (31, 30)], 30),
            ([(0, 30), (10, 30), (61, 30)], 60), ([(0, 30)], 30),
        ] as [([(bought: Int64, days: Int64)], Int64)])
    func `a membership reaches over passes that leave no gap`(
        _ passes: [(bought: Int64, days: Int64)], _ end: Int64
    ) throws {
        let grants = try passes.enumerated().map { try pass($0 + 1, "VIP", 20, $1.bought, $1.days) }
        let fold = EntitlementRules.fold(grants, now: day(5))
        #expect(fold.membership?.endsAt == day(end))
        #expect(fold.tiers.first?.endsAt == day(end))
    }

    @Test func `a membership reaches over tiers, a tier only over itself`() throws {
        let fold = fold(
            5, try pass(1, "VIP", 20, 0, 30), try pass(2, "BASIC", 5, 30, 30), try pass(3, "VIP", 20, 60, 30))
        #expect(fold.membership?.tier == "VIP" && fold.membership?.endsAt == day(90))
        #expect(fold.tiers.map(\.tier) == ["VIP"] && fold.tiers.first?.endsAt == day(30))
    }

    @Test func `what is taken back or held does not close a gap`() throws {
        let held = try pass(2, "VIP", 20, 10, 30, suspended: true)
        let fold = fold(5, try pass(1, "VIP", 20, 0, 30), held, try pass(3, "VIP", 20, 11, 30))
        #expect(fold.spans["p3"] == "60–90")
        #expect(fold.membership?.endsAt == day(30))
    }

    @Test func `a membership that never ends has no end`() throws {
        let life = try GrantSample.make(1, sku: "life", kind: .nonConsumable, bought: 0, .perpetual, group: nil)
        let fold = fold(5, life, try pass(2, "SVIP", 30, 0, 30))
        #expect(fold.membership?.tier == "SVIP")
        #expect(fold.membership != nil && fold.membership?.endsAt == nil)
        #expect(fold.tiers.map(\.tier) == ["SVIP", "VIP"])
        #expect(fold.tiers.map(\.endsAt) == [day(30), nil])
        #expect(fold.nextChangeAt == day(30))
    }

    @Test func `a device without a tier touches no membership`() throws {
        let device = try GrantSample.make(
            1, sku: "radio", kind: .nonConsumable, tier: "", rank: 1_000, bought: 0, .perpetual, group: nil)
        let rented = try GrantSample.make(2, sku: "phone", tier: "", rank: 1_000, bought: 0, .days(90), group: nil)
        let alone = fold(5, device, rented)
        #expect(alone.membership == nil && alone.tiers.isEmpty)
        #expect(alone.statuses == ["radio": .active, "phone": .active])
        #expect(alone.nextChangeAt == day(90))
        let both = fold(5, device, rented, try pass(3, "VIP", 20, 0, 30))
        #expect(both.membership == fold(5, try pass(3, "VIP", 20, 0, 30)).membership)
        #expect(both.tiers.map(\.tier) == ["VIP"])
    }

    @Test func `the newest purchase is listed first`() throws {
        let grants = [try pass(1, "A", 1, 5, 1), try pass(2, "B", 1, 9, 1), try pass(3, "C", 1, 5, 1)]
        let fold = EntitlementRules.fold(grants, now: day(5))
        #expect(fold.entitlements.map(\.grant.sku.rawValue) == ["p2", "p3", "p1"])
    }

    @Test func `a length beyond all time ends with it`() throws {
        let fold = fold(1, try pass(1, "VIP", 20, 0, .max), try pass(2, "VIP", 20, 0, 30))
        #expect(fold.membership?.endsAt == Timestamp(.max))
    }
}
