/// A SKU whose subscriptions Paydesk renews itself.
enum RenewalPlan: CaseIterable, Sendable {
    /// For one life, day by day: its access goes on for an hour while a renewal is undecided.
    case daily
    /// For many lives: a renewal has three days to be decided.
    case weekly

    var sku: String {
        switch self {
        case .daily: "club_day"
        case .weekly: "club_week"
        }
    }

    var tier: String {
        switch self {
        case .daily: "Day"
        case .weekly: "Week"
        }
    }

    var unit: String {
        switch self {
        case .daily: "day"
        case .weekly: "week"
        }
    }

    /// The length of a period in seconds.
    var length: Int64 {
        switch self {
        case .daily: 86_400
        case .weekly: 7 * 86_400
        }
    }

    var graceDays: Int64 {
        switch self {
        case .daily: 0
        case .weekly: 3
        }
    }

    /// The price of a period in hundredths of a yuan.
    var price: Int64 {
        switch self {
        case .daily: 150
        case .weekly: 990
        }
    }
}
