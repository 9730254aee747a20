package import Domain

/// One day's business in one currency; a day is one of UTC.
package struct DayStats: Sendable, Equatable {
    /// Midnight.
    package let day: Timestamp
    /// nil for orders of a store that signed no price.
    package let currency: Currency?
    package var opened: Int64 = 0
    package var paid: Int64 = 0
    /// Minor units of what was paid.
    package var charged: Int64 = 0
    /// Minor units that went back, by the day of the refund or of the lost dispute's beginning.
    package var refunded: Int64 = 0
}

extension Database {
    /// What happened from a time until before another, by day and currency, newest first; tests' purchases are none.
    package func dayStats(from: Timestamp, to: Timestamp) throws(StoreError) -> [DayStats] {
        var days: [StatsPlace: DayStats] = [:]
        var arguments: [any SQLBindable] = Self.made(Order.self, from, to) + [from, to]
        arguments += [from, to]
        arguments += Self.made(Refund.self, from, to) + [from, to]
        arguments += Self.made(Dispute.self, from, to) + [from, to]
        arguments += [from, to]
        for row in try rows(dayStatsQuery, arguments) {
            let place = StatsPlace(day: try row.int("day"), currency: try row.text("currency"))
            var stats =
                days[place]
                ?? DayStats(day: Timestamp(place.day * 86_400), currency: Currency(place.currency))
            switch try row.text("what") {
            case "opened": stats.opened += try row.int("n")
            case "paid":
                stats.paid += try row.int("n")
                stats.charged += try row.int("amount")
            default: stats.refunded += try row.int("amount")
            }
            days[place] = stats
        }
        return days.values.sorted { ($0.day, $1.currency?.code ?? "") > ($1.day, $0.currency?.code ?? "") }
    }

    /// Between which ids everything lies that was made in a period: ids sort by the time of their making, and a day on
    /// either side is for clocks that were set.
    static func made<Subject: Identified>(_: Subject.Type, _ from: Timestamp, _ to: Timestamp) -> [any SQLBindable] {
        [ID<Subject>.least(at: from.adding(days: -1)), ID<Subject>.least(at: to.adding(days: 1))]
    }
}

private struct StatsPlace: Hashable {
    let day: Int64
    let currency: String
}

/// What a store charged and took back stands on the order, what a provider did on payments.
///
/// Money that came in beside the payment that paid the order, and what went back of it, are no turnover.
private let dayStatsQuery = """
    SELECT 'opened' AS what, o.created_at / 86400 AS day, COALESCE(o.currency, o.charged_currency, '') AS currency,
        COUNT(*) AS n, 0 AS amount
    FROM orders o
    WHERE o.environment = 'Production' AND o.id >= ? AND o.id < ? AND o.created_at >= ? AND o.created_at < ?
    GROUP BY 2, 3
    UNION ALL
    SELECT 'paid', o.paid_at / 86400, COALESCE(o.charged_currency, p.currency, o.currency, ''), COUNT(*),
        SUM(COALESCE(o.charged, p.captured, 0))
    FROM orders o LEFT JOIN payments p ON p.id = o.paid_by
    WHERE o.environment = 'Production' AND o.paid_at >= ? AND o.paid_at < ?
    GROUP BY 2, 3
    UNION ALL
    SELECT 'refunded', r.created_at / 86400, r.currency, 0, SUM(r.amount)
    FROM refunds r JOIN orders o ON o.id = r.order_id AND o.paid_by = r.payment_id
    WHERE o.environment = 'Production' AND r.state = 'succeeded' AND r.counted = 1
        AND r.id >= ? AND r.id < ? AND r.created_at >= ? AND r.created_at < ?
    GROUP BY 2, 3
    UNION ALL
    SELECT 'lost', d.created_at / 86400, d.currency, 0, SUM(d.amount)
    FROM disputes d JOIN orders o ON o.id = d.order_id AND o.paid_by = d.payment_id
    WHERE o.environment = 'Production' AND d.state = 'lost'
        AND d.id >= ? AND d.id < ? AND d.created_at >= ? AND d.created_at < ?
    GROUP BY 2, 3
    UNION ALL
    SELECT 'returned', o.returned_at / 86400, o.charged_currency, 0, SUM(o.returned)
    FROM orders o
    WHERE o.environment = 'Production' AND o.charged_currency IS NOT NULL
        AND o.returned_at >= ? AND o.returned_at < ?
    GROUP BY 2, 3
    """
