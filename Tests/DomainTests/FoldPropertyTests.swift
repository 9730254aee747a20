import Domain
import Testing

struct FoldPropertyTests {
    /// The result of a fold, without the time of its next change.
    private struct Said: Equatable {
        let entitlements: [Entitlement]
        let tiers: [Membership]
        let membership: Membership?

        init(_ fold: EntitlementFold) {
            (entitlements, tiers, membership) = (fold.entitlements, fold.tiers, fold.membership)
        }
    }

    @Test func `any order of the grants gives one fold`() throws {
        let grants = try GrantSample.mixture()
        let six = Array(grants.prefix(6))
        for now in [-1, 0, 10, 25, 40, 394, 500] as [Int64] {
            let fold = EntitlementRules.fold(six, now: day(now))
            let others = permutations(six).filter { EntitlementRules.fold($0, now: day(now)) != fold }
            #expect(others.isEmpty, "day \(now)")
            #expect(
                EntitlementRules.fold(grants.reversed(), now: day(now)) == EntitlementRules.fold(grants, now: day(now)))
        }
    }

    @Test func `a fold changes at its next change and not a second before`() throws {
        let grants = try GrantSample.mixture()
        var now = day(-2)
        var crossed: [Int64] = []
        while let next = EntitlementRules.fold(grants, now: now).nextChangeAt, crossed.count < 100 {
            let before = Said(EntitlementRules.fold(grants, now: now))
            try #require(next > now)
            #expect(Said(EntitlementRules.fold(grants, now: next.adding(seconds: -1))) == before)
            #expect(Said(EntitlementRules.fold(grants, now: next)) != before)
            crossed.append(next.rawValue / 86_400)
            now = next
        }
        #expect(crossed == [0, 3, 5, 12, 20, 23, 30, 300, 330, 395])
        let last = Said(EntitlementRules.fold(grants, now: now))
        #expect(Said(EntitlementRules.fold(grants, now: .farFuture)) == last)
    }

    @Test func `between two changes every moment gives the same fold`() throws {
        let grants = try GrantSample.mixture()
        var last = EntitlementRules.fold(grants, now: day(-2))
        for halfDay in -3...1_000 as ClosedRange<Int64> {
            let now = Timestamp(halfDay * 43_200)
            let fold = EntitlementRules.fold(grants, now: now)
            if let change = last.nextChangeAt, change <= now {
                #expect(Said(fold) != Said(last), "half day \(halfDay)")
            } else {
                #expect(fold == last, "half day \(halfDay)")
            }
            last = fold
        }
    }

    @Test func `a membership holds exactly when a tier does, and ends no earlier than any`() throws {
        let grants = try GrantSample.mixture()
        for number in -2...400 as ClosedRange<Int64> {
            let fold = EntitlementRules.fold(grants, now: day(number))
            let active = fold.entitlements.filter { $0.status == .active && !$0.grant.tier.isEmpty }
            #expect((fold.membership == nil) == active.isEmpty, "day \(number)")
            #expect(fold.membership?.rank == active.map(\.grant.rank).max(), "day \(number)")
            let ends = active.compactMap(\.endsAt)
            #expect(ends.allSatisfy { $0 <= fold.membership?.endsAt ?? .farFuture }, "day \(number)")
            #expect(Set(fold.tiers.map(\.tier)) == Set(active.map(\.grant.tier)), "day \(number)")
        }
    }

    @Test func `what is taken back or held never changes with time`() throws {
        let revoked = try GrantSample.make(
            1, sku: "a", bought: 5, .days(7), revoked: Grant.Revocation(at: day(6), reason: .admin))
        let held = try GrantSample.make(2, sku: "b", bought: 5, .days(7), suspended: true)
        for now in [0, 5, 8, 12, 20] as [Int64] {
            let fold = EntitlementRules.fold([revoked, held], now: day(now))
            #expect(fold.statuses == ["a": .revoked, "b": .suspended])
            #expect(fold.nextChangeAt == nil && fold.membership == nil)
        }
    }
}
