package import Domain

/// Usage counters of metered entitlements.
///
/// `db.meters` reads; `tx.meters` also writes.
package struct MeterQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var meters: MeterQueries<any Database> { MeterQueries(db: self, tx: self) }
}

extension Transaction {
    package var meters: MeterQueries<any Transaction> { MeterQueries(db: self, tx: self) }
}

extension MeterQueries {
    package func used(_ meter: String, user: ID<User>, period: Timestamp) throws(StoreError) -> Int64 {
        try db.row("SELECT used FROM usage WHERE user_id = ? AND meter = ? AND period_start = ?", user, meter, period)?
            .int("used") ?? 0
    }
}

extension MeterQueries where Connection == any Transaction {
    /// Consumes units in one guarded statement, so that of two clients that race for the last unit one is refused.
    ///
    /// - Returns: the usage after it; nil where that would exceed the limit, and nothing is consumed.
    package func consume(
        _ amount: Int64, of meter: String, user: ID<User>, period: Timestamp, limit: Int64?
    ) throws(StoreError) -> Int64? {
        let limit = limit ?? .max
        guard amount <= limit else { return nil }
        return try tx.rows(
            """
            INSERT INTO usage (user_id, meter, period_start, used) VALUES (?, ?, ?, ?)
            ON CONFLICT (user_id, meter, period_start) DO UPDATE SET used = usage.used + excluded.used
            WHERE usage.used <= ? - excluded.used
            RETURNING used
            """, [user, meter, period, amount, limit]
        ).first?.int("used")
    }
}
