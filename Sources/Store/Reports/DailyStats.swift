package import Domain

/// The sums of one day (UTC) in one currency.
package struct DayStats: Sendable, Equatable {
    /// Midnight UTC.
    package let day: Timestamp
    /// nil for orders of a store that signed no price.
    package let currency: Currency?
    package var opened: Int64 = 0
    package var paid: Int64 = 0
    /// Minor units that were paid.
    package var charged: Int64 = 0
    /// Minor units that went back, by the day on which the refund, or the lost dispute, began.
    package var refunded: Int64 = 0
}

/// Reports over orders.
///
/// `db.reports` reads; `tx.reports` also writes.
package struct ReportQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var reports: ReportQueries<any Database> { ReportQueries(db: self, tx: self) }
}

extension Transaction {
    package var reports: ReportQueries<any Transaction> { ReportQueries(db: self, tx: self) }
}

extension ReportQueries {
    /// Lists the sums by day (UTC) and currency, newest first; test purchases are left out.
    ///
    /// The days are those from `from` to the last second before `to`. The sums are updated in the transaction of each
    /// change of an order, a payment, a refund or a dispute.
    package func listDays(from: Timestamp, to: Timestamp) throws(StoreError) -> [DayStats] {
        let last = max(from, to.adding(seconds: -1)).rawValue / 86_400
        return try db.rows(
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
}
