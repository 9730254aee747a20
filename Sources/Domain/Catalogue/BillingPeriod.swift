/// The length of one period of a subscription: a number of days, weeks, months or years.
package struct BillingPeriod: Hashable, Sendable, Codable {
    package enum Unit: String, Sendable, Codable, CaseIterable {
        case day, week, month, year

        /// The largest number of this unit in one period.
        package var longest: Int64 {
            switch self {
            case .day: 366
            case .week: 52
            case .month: 24
            case .year: 3
            }
        }
    }

    package let unit: Unit
    package let count: Int64

    package init(unit: Unit, count: Int64) {
        self.unit = unit
        self.count = count
    }

    /// A number of days than which no such period is shorter.
    package var leastDays: Int64 {
        switch unit {
        case .day: count
        case .week: count * 7
        case .month: count * 28
        case .year: count * 365
        }
    }

    /// True where a SKU may have this period: the count is at least 1, and at most the unit's longest.
    package var isSellable: Bool { (1...unit.longest).contains(count) }
}

extension Timestamp {
    /// The time a number of periods later, or earlier where the number is negative.
    ///
    /// A day has 86,400 seconds and a week seven days. Months and years keep the time of day in UTC and the day of the
    /// month; where the month is shorter, it is its last day. So the ends of periods are counted from one anchor, never
    /// from the period before: 31 January, 28 February, 31 March.
    package func adding(_ period: BillingPeriod, times number: Int64) -> Timestamp {
        let count = number * period.count
        return switch period.unit {
        case .day: adding(days: count)
        case .week: adding(days: count * 7)
        case .month: adding(months: count)
        case .year: adding(months: count * 12)
        }
    }
}
