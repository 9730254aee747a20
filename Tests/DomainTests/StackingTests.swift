import Domain
import Testing

struct StackingTests {
    private static let refund = Grant.Revocation(at: day(20), reason: .refund)

    private func month(_ number: Int = 1, bought: Int64 = 0, revoked: Grant.Revocation? = nil) throws -> Grant {
        try GrantSample.make(number, sku: "month", bought: bought, .days(30), revoked: revoked)
    }

    private func year(_ number: Int = 2, bought: Int64 = 10) throws -> Grant {
        try GrantSample.make(number, sku: "year", bought: bought, .days(365))
    }

    @Test func `a year bought within a month follows it`() throws {
        let fold = EntitlementRules.fold([try month(), try year()], now: day(15))
        #expect(fold.spans == ["month": "0–30", "year": "30–395"])
        #expect(fold.statuses == ["month": .active, "year": .scheduled])
        #expect(fold.membership?.endsAt == day(395))
    }

    @Test func `a refunded month lets the year move up`() throws {
        let fold = EntitlementRules.fold([try month(revoked: Self.refund), try year()], now: day(20))
        #expect(fold.spans["year"] == "10–375")
        #expect(fold.statuses == ["month": .revoked, "year": .active])
        #expect(fold.membership?.endsAt == day(375))
        #expect(fold.nextChangeAt == day(375))
    }

    @Test func `a suspended month keeps its place`() throws {
        var month = try month()
        month.suspended = true
        let fold = EntitlementRules.fold([month, try year()], now: day(15))
        #expect(fold.spans == ["month": "0–30", "year": "30–395"])
        #expect(fold.statuses == ["month": .suspended, "year": .scheduled])
        #expect(fold.membership == nil)
        #expect(fold.nextChangeAt == day(30))
    }

    @Test func `a revocation weighs more than a suspension`() throws {
        var month = try month(revoked: Self.refund)
        month.suspended = true
        let fold = EntitlementRules.fold([month, try year()], now: day(20))
        #expect(fold.statuses["month"] == .revoked)
        #expect(fold.spans["year"] == "10–375")
    }

    @Test(
        arguments: [
            ([(0, 30), (0, 30), (0, 30)], ["0–30", "30–60", "60–90"]),
            ([(0, 30), (10, 30), (59, 30)], ["0–30", "30–60", "60–90"]),
            ([(0, 30), (30, 30)], ["0–30", "30–60"]),
            ([(0, 30), (31, 30)], ["0–30", "31–61"]),
            ([(0, 30), (10, 30), (100, 7), (101, 7)], ["0–30", "30–60", "100–107", "107–114"]),
            ([(5, 1), (0, 10)], ["10–11", "0–10"]),
        ] as [([(bought: Int64, days: Int64)], [String])])
    func `passes of one group lie end to end and never before their purchase`(
        _ passes: [(bought: Int64, days: Int64)], _ spans: [String]
    ) throws {
        let grants = try passes.enumerated().map { index, pass in
            try GrantSample.make(index + 1, sku: "p\(index)", bought: pass.bought, .days(pass.days))
        }
        let fold = EntitlementRules.fold(grants, now: day(0))
        #expect(passes.indices.map { fold.spans["p\($0)"] } == spans)
    }

    @Test func `passes of one purchase time follow their source's id`() throws {
        let late = try GrantSample.make(1, sku: "b", bought: 0, .days(7), source: .init(kind: .order, id: "b"))
        let early = try GrantSample.make(2, sku: "a", bought: 0, .days(30), source: .init(kind: .order, id: "a"))
        #expect(EntitlementRules.fold([late, early], now: day(0)).spans == ["a": "0–30", "b": "30–37"])
    }

    @Test func `sources of two kinds may share an id and a time`() throws {
        let grants = [
            try GrantSample.make(1, sku: "a", bought: 0, .days(7), source: .init(kind: .partner, id: "gift")),
            try GrantSample.make(2, sku: "b", bought: 0, .days(30), source: .init(kind: .admin, id: "gift")),
        ]
        let fold = EntitlementRules.fold(grants, now: day(1))
        #expect(EntitlementRules.fold(grants.reversed(), now: day(1)) == fold)
    }

    @Test func `groups do not wait for each other, and nothing waits without one`() throws {
        let grants = [
            try GrantSample.make(1, sku: "a", bought: 0, .days(30), group: "A"),
            try GrantSample.make(2, sku: "b", bought: 1, .days(30), group: "B"),
            try GrantSample.make(3, sku: "c", bought: 2, .days(30), group: nil),
            try GrantSample.make(4, sku: "d", bought: 3, .days(30), group: nil),
        ]
        #expect(
            EntitlementRules.fold(grants, now: day(5)).spans
                == ["a": "0–30", "b": "1–31", "c": "2–32", "d": "3–33"])
    }

    @Test func `environments do not wait for each other`() throws {
        let grants = try Environment.allCases.enumerated().map { index, environment in
            try GrantSample.make(
                index + 1, sku: environment.rawValue.lowercased(), bought: Int64(index), .days(30),
                environment: environment)
        }
        #expect(
            EntitlementRules.fold(grants, now: day(5)).spans
                == ["production": "0–30", "sandbox": "1–31", "xcode": "2–32"])
    }

    @Test func `a fixed end does not stack and is not stacked on`() throws {
        let grants = [
            try month(),
            try GrantSample.make(2, sku: "sub", kind: .subscription, bought: 5, .until(day(35))),
            try year(3),
            try GrantSample.make(4, sku: "life", kind: .nonConsumable, bought: 6, .perpetual),
        ]
        #expect(
            EntitlementRules.fold(grants, now: day(15)).spans
                == ["month": "0–30", "sub": "5–35", "year": "30–395", "life": "6–"])
    }
}
