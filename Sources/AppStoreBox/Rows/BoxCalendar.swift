package import Domain

/// The ends of periods as the App Store counts them, in milliseconds since 1970, UTC.
package enum BoxCalendar {
    private static let day: Int64 = 86_400_000

    /// The end of the n-th period after an anchor.
    ///
    /// Months and years have their real lengths and end on the anchor's day and time, or on the last day of a shorter
    /// month; the next period goes back to the anchor's day: 31 January, 28 February, 31 March.
    package static func end(of periods: Int64, _ period: StoreKitPeriod, after anchor: Int64) -> Int64 {
        let count = periods * period.count
        return switch period.unit {
        case .day: anchor + count * day
        case .week: anchor + count * 7 * day
        case .month: adding(months: count, to: anchor)
        case .year: adding(months: count * 12, to: anchor)
        }
    }

    private static func adding(months: Int64, to time: Int64) -> Int64 {
        let timeOfDay = ((time % day) + day) % day
        let date = civil(days: (time - timeOfDay) / day)
        let month = date.year * 12 + date.month - 1 + months
        let (year, index) = (month / 12, month % 12 + 1)
        let last = days(from: (year, index, 1), to: index == 12 ? (year + 1, 1, 1) : (year, index + 1, 1))
        return days(since1970: (year, index, min(date.day, last))) * day + timeOfDay
    }

    private typealias Civil = (year: Int64, month: Int64, day: Int64)

    private static func days(from start: Civil, to end: Civil) -> Int64 {
        days(since1970: end) - days(since1970: start)
    }

    /// The days since 1970 of a date after the year 0 (Hinnant, `days_from_civil`).
    private static func days(since1970 date: Civil) -> Int64 {
        let year = date.month <= 2 ? date.year - 1 : date.year
        let dayOfYear = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    /// The date of a day after the year 0 (Hinnant, `civil_from_days`).
    private static func civil(days: Int64) -> Civil {
        let day = days + 719_468
        let era = day / 146_097
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
