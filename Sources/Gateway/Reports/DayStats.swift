package import Domain
import Store

/// The sums of one day in one currency.
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
