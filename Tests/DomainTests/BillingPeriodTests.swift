import Domain
import Testing

struct BillingPeriodTests {
    @Test(
        arguments: [
            ("2026-01-31T10:00:00Z", .month, 1, ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]),
            ("2028-01-30T10:00:00Z", .month, 1, ["2028-02-29", "2028-03-30"]),
            ("2028-02-29T23:59:59Z", .year, 1, ["2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"]),
            ("2026-08-31T00:00:00Z", .month, 6, ["2027-02-28", "2027-08-31"]),
            ("2026-12-31T00:00:00Z", .month, 2, ["2027-02-28"]),
            ("2026-10-31T00:00:00Z", .week, 1, ["2026-11-07", "2026-11-14"]),
            ("2026-12-30T08:00:01Z", .day, 3, ["2027-01-02", "2027-01-05"]),
            ("1969-12-31T23:00:00Z", .month, 2, ["1970-02-28", "1970-04-30"]),
        ] as [(String, BillingPeriod.Unit, Int64, [String])])
    func `ends are counted from the anchor`(
        _ anchor: String, _ unit: BillingPeriod.Unit, _ count: Int64, _ ends: [String]
    ) throws {
        let start = try #require(Timestamp(iso8601: anchor))
        let period = BillingPeriod(unit: unit, count: count)
        let found = (1...ends.count).map { start.adding(period, times: Int64($0)).iso8601 }
        #expect(found == ends.map { $0 + anchor.dropFirst(10) })
    }

    @Test(arguments: BillingPeriod.Unit.allCases)
    func `ends ascend, keep the time of day and no month is passed over`(_ unit: BillingPeriod.Unit) throws {
        // Every 157 days and some hours of 130 years, so that each day of the month and the leap years come.
        for (index, start) in stride(from: Int64(86_399), to: 4_102_444_800, by: 13_600_007).enumerated() {
            let anchor = Timestamp(start)
            let period = BillingPeriod(unit: unit, count: Int64(index) % unit.longest + 1)
            let ends = (-3...60).map { anchor.adding(period, times: $0) }
            #expect(ends[3] == anchor)
            for (end, next) in zip(ends, ends.dropFirst()) {
                let days = (next.rawValue - end.rawValue) / 86_400
                #expect((next.rawValue - end.rawValue) % 86_400 == 0)
                switch unit {
                case .day: #expect(days == period.count)
                case .week: #expect(days == period.count * 7)
                case .month: #expect((period.count * 28...period.count * 31).contains(days))
                case .year: #expect((period.count * 365...period.count * 366).contains(days))
                }
            }
        }
    }

    @Test func `a negative number of periods gives the start of the one before`() throws {
        let anchor = try #require(Timestamp(iso8601: "2026-03-31T10:00:00Z"))
        let month = BillingPeriod(unit: .month, count: 1)
        #expect(anchor.adding(month, times: -1).iso8601 == "2026-02-28T10:00:00Z")
        #expect(anchor.adding(month, times: 0) == anchor)
    }
}
