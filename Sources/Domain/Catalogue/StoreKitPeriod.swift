import Encodings

/// The length of one period of an auto-renewable subscription, as a StoreKit configuration file writes it: `P1M`.
package struct StoreKitPeriod: Hashable, Sendable, Codable {
    package enum Unit: String, Sendable, Codable, CaseIterable {
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"
    }

    package let count: Int64
    package let unit: Unit

    /// The lengths that the App Store sells.
    package static let sold: [StoreKitPeriod] = ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"].compactMap(
        StoreKitPeriod.init)

    /// - Returns: nil for anything but `P`, a number without a leading zero and one of D, W, M and Y, and beyond 3,660 days.
    package init?(_ text: String) {
        guard text.utf8.count <= 6, text.first == "P", let last = text.last, let unit = Unit(rawValue: String(last))
        else { return nil }
        let digits = text.dropFirst().dropLast()
        guard !digits.isEmpty, digits.first != "0", digits.utf8.allSatisfy(\.isDigit),
            let count = Int64(digits)
        else { return nil }
        self.count = count
        self.unit = unit
        guard AppleProduct.dayRange.contains(days) else { return nil }
    }

    /// The period by which a subscription of this number of days renews; nil where the App Store sells none of that
    /// length.
    package init?(days: Int64) {
        guard let found = Self.sold.first(where: { $0.covers(days) }) else { return nil }
        self = found
    }

    /// The period by which the App Store sells a SKU: its own, else that of its number of days; nil where it sells none
    /// of that length.
    package init?(sold sku: SKU) {
        guard let period = sku.period else {
            guard let days = sku.durationDays else { return nil }
            self.init(days: days)
            return
        }
        let written = StoreKitPeriod(period)
        guard let found = Self.sold.first(where: { $0.isAsLong(as: written) }) else { return nil }
        self = found
    }

    /// The same length as an admin writes it for a SKU.
    package var billing: BillingPeriod {
        switch unit {
        case .day: BillingPeriod(unit: .day, count: count)
        case .week: BillingPeriod(unit: .week, count: count)
        case .month: BillingPeriod(unit: .month, count: count)
        case .year: BillingPeriod(unit: .year, count: count)
        }
    }

    package init(_ period: BillingPeriod) {
        count = period.count
        unit =
            switch period.unit {
            case .day: .day
            case .week: .week
            case .month: .month
            case .year: .year
            }
    }

    /// Returns whether two ways to write a length mean the same: twelve months and a year, a week and seven days.
    package func isAsLong(as other: StoreKitPeriod) -> Bool {
        let (own, theirs) = (comparable, other.comparable)
        return own.isMonths == theirs.isMonths && own.count == theirs.count
    }

    private var comparable: (isMonths: Bool, count: Int64) {
        switch unit {
        case .day: (false, count)
        case .week: (false, count * 7)
        case .month: (true, count)
        case .year: (true, count * 12)
        }
    }

    package var text: String { "P\(count)\(unit.rawValue)" }

    /// The length in days as SKUs count it: a month has 30, a year 365.
    package var days: Int64 {
        switch unit {
        case .day: count
        case .week: count * 7
        case .month: count * 30
        case .year: count * 365
        }
    }

    /// Returns whether a number of days is this period by some calendar: a month has 28 to 31 days, a year 365 or 366.
    package func covers(_ days: Int64) -> Bool {
        switch unit {
        case .day, .week: days == self.days
        case .month: (count * 28...count * 31).contains(days)
        case .year: (count * 365...count * 366).contains(days)
        }
    }
}
