package import Domain

/// The position of business time, one row.
///
/// `db.clock` reads; `tx.clock` also writes.
package struct ClockQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var clock: ClockQueries<any Database> { ClockQueries(db: self, tx: self) }
}

extension Transaction {
    package var clock: ClockQueries<any Transaction> { ClockQueries(db: self, tx: self) }
}

extension ClockQueries {
    package func find() throws(StoreError) -> ClockState {
        guard let row = try db.row("SELECT * FROM clock WHERE id = 1") else {
            throw .corrupt("the clock has no row")
        }
        return ClockState(
            offsetSeconds: try row.int("offset_seconds"), standsAt: try row.optionalTime("stands_at"),
            standsUntil: try row.time("stands_until"), version: try row.int("version"))
    }
}
