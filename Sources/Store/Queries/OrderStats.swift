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
    /// What happened on the days of UTC that a time and the end of another lie on, and between them, by day and currency,
    /// newest first; tests' purchases are none.
    ///
    /// The sums follow every change of an order, a payment, a refund or a dispute in its own transaction.
    package func dayStats(from: Timestamp, to: Timestamp) throws(StoreError) -> [DayStats] {
        let last = max(from, to.adding(seconds: -1)).rawValue / 86_400
        return try rows(
            """
            SELECT day, currency, CAST(SUM(opened) AS BIGINT) AS opened, CAST(SUM(paid) AS BIGINT) AS paid,
                CAST(SUM(charged) AS BIGINT) AS charged, CAST(SUM(refunded) AS BIGINT) AS refunded
            FROM order_sums WHERE day >= ? AND day <= ?
            GROUP BY day, currency ORDER BY day DESC, currency
            """, [from.rawValue / 86_400, last]
        ).map { row throws(StoreError) in
            var stats = DayStats(
                day: Timestamp(try row.int("day") * 86_400), currency: Currency(try row.text("currency")))
            stats.opened = try row.int("opened")
            stats.paid = try row.int("paid")
            stats.charged = try row.int("charged")
            stats.refunded = try row.int("refunded")
            return stats
        }.filter { $0.opened != 0 || $0.paid != 0 || $0.charged != 0 || $0.refunded != 0 }
    }

    /// Between which ids everything lies that was made in a period: ids sort by the time of their making, and a day on
    /// either side is for clocks that were set.
    static func made<Subject: Identified>(_: Subject.Type, _ from: Timestamp, _ to: Timestamp) -> [any SQLBindable] {
        [ID<Subject>.least(at: from.adding(days: -1)), ID<Subject>.least(at: to.adding(days: 1))]
    }
}
