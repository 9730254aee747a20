package import Domain
import Store

/// One day's business in one currency.
package struct DayStatsView: Encodable, Sendable, Equatable {
    package let day: String
    @Nullable package private(set) var currency: Currency?
    package let orders_opened: Int64
    package let orders_paid: Int64
    @Nullable package private(set) var charged: Money?
    @Nullable package private(set) var refunded: Money?

    init(_ stats: DayStats) {
        day = stats.day.utcDate
        currency = stats.currency
        orders_opened = stats.opened
        orders_paid = stats.paid
        charged = stats.currency.map { Money(value: stats.charged, currency: $0) }
        refunded = stats.currency.map { Money(value: stats.refunded, currency: $0) }
    }
}

/// A stretch of time that a report is about: from a moment until before another.
struct ReportPeriod: Sendable {
    let from: Timestamp
    let to: Timestamp

    /// - Parameters:
    ///   - days: what is taken where nothing is named.
    ///   - limit: the most days that may be named; nil: as many as there are.
    init(from: Timestamp?, to: Timestamp?, days: Int64?, limit: Int64?, now: Timestamp) throws(GatewayError) {
        let range = Timestamp(0)...Timestamp.farFuture
        // What happens in this very second counts.
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

extension Gateway {
    private static let statsLimit: Int64 = 400

    /// Orders opened and paid, and the money that came and went, by day of UTC and currency, newest first.
    ///
    /// - Throws: `invalidRequest` for more than 400 days; without a beginning it is the last 30.
    package func sumOrders(from: Timestamp?, to: Timestamp?) async throws(GatewayError) -> [DayStatsView] {
        let period = try ReportPeriod(from: from, to: to, days: 30, limit: Self.statsLimit, now: time.now)
        return try await report { db in try db.reports.listDays(from: period.from, to: period.to) }.map(
            DayStatsView.init)
    }
}
