// Time zones by name need the full Foundation.
import Foundation

/// A count of something for each user and period, with a limit per tier.
package struct Meter: Sendable, Equatable {
    package enum Period: String, Sendable, CaseIterable {
        case day, month
    }

    package let id: String
    package let period: Period
    /// An IANA name, `Asia/Shanghai`.
    package let timeZone: String
    /// The limit of each tier; the key "" is for users without a tier, and a nil limit means unlimited.
    package let limits: [String: Int64?]

    /// - Returns: nil where the time zone is not known or a limit is negative.
    package init?(id: String, period: Period, timeZone: String, limits: [String: Int64?]) {
        guard SKUCode(id) != nil, TimeZone(identifier: timeZone) != nil, limits[""] != nil,
            limits.values.allSatisfy({ ($0 ?? 0) >= 0 })
        else { return nil }
        self.id = id
        self.period = period
        self.timeZone = timeZone
        self.limits = limits
    }

    /// The limit of a tier; a tier that is not listed has that of "".
    package func limit(tier: String) -> Int64? {
        if let own = limits[tier] { return own }
        return limits[""] ?? .some(0)
    }

    /// The first second of the period that contains `now`, and that of the next period.
    package func window(at now: Timestamp) -> (start: Timestamp, end: Timestamp) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: timeZone) ?? .gmt
        let moment = Date(timeIntervalSince1970: TimeInterval(now.rawValue))
        let unit: Calendar.Component = period == .day ? .day : .month
        guard let interval = calendar.dateInterval(of: unit, for: moment) else { return (now, now.adding(days: 1)) }
        return (
            Timestamp(Int64(interval.start.timeIntervalSince1970)), Timestamp(Int64(interval.end.timeIntervalSince1970))
        )
    }
}

/// The amount of a meter that a user has used in the current period.
package struct Usage: Sendable, Equatable {
    package let meter: String
    /// nil = unlimited.
    package let limit: Int64?
    package let used: Int64
    package let resetsAt: Timestamp

    package init(meter: String, limit: Int64?, used: Int64, resetsAt: Timestamp) {
        self.meter = meter
        self.limit = limit
        self.used = used
        self.resetsAt = resetsAt
    }

    package var remaining: Int64? { limit.map { max(0, $0 - used) } }
}
