package import Domain
import ProviderKit
import Store

/// The sums of the orders that have one key in common, in one currency.
package struct StatsView: Encodable, Sendable, Equatable {
    /// A day, a contract type, a SKU, an account or a platform.
    package let key: String
    /// The key where it is a day; nil for another key.
    package let day: String?
    @Nullable package private(set) var currency: Currency?
    package let orders_opened: Int64
    package let orders_paid: Int64
    @Nullable package private(set) var charged: Money?
    @Nullable package private(set) var refunded: Money?
    @Nullable package private(set) var lost: Money?

    init(_ stats: OrderStats, isDay: Bool) {
        key = stats.key
        day = isDay ? stats.key : nil
        currency = stats.currency
        orders_opened = stats.opened
        orders_paid = stats.paid
        func money(_ value: Int64) -> Money? { stats.currency.map { Money(value: value, currency: $0) } }
        charged = money(stats.charged)
        refunded = money(stats.refunded)
        lost = money(stats.lost)
    }
}

/// A request for sums of orders.
package struct StatsQuery: Sendable {
    package var step: StatsStep
    package var from: Timestamp?
    package var to: Timestamp?
    /// nil sums every currency apart.
    package var currency: Currency?
    package var environment: Environment

    package init(
        _ step: StatsStep = .day, from: Timestamp? = nil, to: Timestamp? = nil, currency: Currency? = nil,
        environment: Environment = .production
    ) {
        self.step = step
        self.from = from
        self.to = to
        self.currency = currency
        self.environment = environment
    }
}

extension Reports {
    /// The longest period of statistics in days.
    private static let statsLimit: Int64 = 400
    /// That of days of Production, whose sums are kept.
    private static let keptLimit: Int64 = 36_525
    /// The key of what no account took, such as free orders.
    private static let none = "none"

    /// Sums the opened and paid orders and the money of a period, days (of UTC) newest first, other keys by name.
    ///
    /// - Throws: `invalidRequest` for more than 400 days, or 100 years of days of Production; without a beginning the period is the last 30 days.
    package func sumOrders(_ query: StatsQuery) async throws(GatewayError) -> [StatsView] {
        let (step, environment) = (query.step, query.environment)
        let isKept = step == .day && environment == .production
        let period = try ReportPeriod(
            from: query.from, to: query.to, days: 30, limit: isKept ? Self.keptLimit : Self.statsLimit, now: time.now)
        let found = try await store.report { db -> [OrderStats] in
            guard step == .day else {
                return try db.reports.sumOrders(
                    by: step, from: period.from, to: period.to, environment: environment)
            }
            let days = period.wholeDays
            guard environment == .production else {
                return try db.reports.sumOrders(by: .day, from: days.from, to: days.to, environment: environment)
            }
            let lost = try db.reports.listLost(from: days.from, to: days.to, environment: environment)
            return try db.reports.listDays(from: period.from, to: period.to).map(OrderStats.init) + lost
        }
        var sums: [String: OrderStats] = [:]
        for stats in found where query.currency == nil || stats.currency == query.currency {
            let key = key(of: stats, by: step)
            let place = "\(key)\u{0}\(stats.currency?.code ?? "")"
            sums[place, default: OrderStats(contract: nil, key: key, currency: stats.currency)].add(stats)
        }
        let rows = sums.values.sorted {
            ($0.key, $0.currency?.code ?? "") < ($1.key, $1.currency?.code ?? "")
        }
        guard step == .day else { return rows.map { StatsView($0, isDay: false) } }
        let days = Dictionary(grouping: rows, by: \.key)
        return days.keys.sorted(by: >).flatMap { days[$0] ?? [] }.map { StatsView($0, isDay: true) }
    }

    /// Lists the sums by pages; without a limit all at once.
    package func sumOrders(
        _ query: StatsQuery, cursor: String?, limit: Int64?
    ) async throws(GatewayError) -> Page<StatsView> {
        let start = try Cursor(number: cursor).position ?? 0
        let rows = try await sumOrders(query).dropFirst(Int(clamping: start))
        let numbered = zip(rows, (start + 1)...).map { (row: $0, number: $1) }
        return Page(numbered, limit: limit ?? Int64.max / 2) { String($0.number) }.map { $0.row }
    }

    private func key(of stats: OrderStats, by step: StatsStep) -> String {
        switch step {
        case .day: (Int64(stats.key).map { Timestamp($0 * 86_400) } ?? Timestamp(0)).utcDate
        case .sku, .platform: stats.key
        case .account: stats.key.isEmpty ? Self.none : stats.key
        case .method: stats.contract ?? method(of: stats.key)
        }
    }

    /// Returns the contract type of an account whose payments do not say theirs: the only one that it makes.
    private func method(of account: String) -> String {
        guard let types = AccountID(account).flatMap({ registry[$0] })?.provider.contractTypes, types.count == 1,
            let only = types.first
        else { return account.isEmpty ? Self.none : account }
        return only.rawValue
    }
}

extension OrderStats {
    fileprivate init(_ day: DayStats) {
        self.init(
            contract: nil, key: String(day.day.rawValue / 86_400), currency: day.currency, opened: day.opened,
            paid: day.paid, charged: day.charged, refunded: day.refunded)
    }

    fileprivate mutating func add(_ other: OrderStats) {
        opened += other.opened
        paid += other.paid
        charged += other.charged
        refunded += other.refunded
        lost += other.lost
    }
}

extension ReportPeriod {
    /// The days of UTC that the period touches.
    fileprivate var wholeDays: (from: Timestamp, to: Timestamp) {
        let last = max(from, to.adding(seconds: -1)).rawValue / 86_400
        return (Timestamp(from.rawValue / 86_400 * 86_400), Timestamp((last + 1) * 86_400))
    }
}

/// The period of a report, without its end.
struct ReportPeriod: Sendable {
    let from: Timestamp
    let to: Timestamp

    /// - Parameters:
    ///   - days: the default length in days.
    ///   - limit: the longest period in days; nil for any.
    init(from: Timestamp?, to: Timestamp?, days: Int64?, limit: Int64?, now: Timestamp) throws(GatewayError) {
        let range = Timestamp(0)...Timestamp.farFuture
        // The end is exclusive; this adds the current second.
        let end = to ?? now.adding(seconds: 1)
        let start = from ?? days.map { max(Timestamp(0), end.adding(days: -$0)) } ?? Timestamp(0)
        guard range.contains(end) else { throw .invalidRequest(field: "to", reason: "must be seconds since 1970") }
        guard range.contains(start), start <= end else {
            throw .invalidRequest(field: "from", reason: "must be seconds since 1970 and not after to")
        }
        if let limit, end > start.adding(days: limit) {
            throw .invalidRequest(field: "from", reason: "at most \(limit) days before to")
        }
        self.from = start
        self.to = end
    }
}
