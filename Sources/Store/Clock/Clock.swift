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
        return try ClockState(row: row)
    }
}

/// The clock as a move finds it.
package struct LockedClock: Sendable {
    package let state: ClockState
    /// The real time of the database, on SQLite of the node.
    package let real: Timestamp
    /// True while another move holds the clock.
    package let isHeld: Bool
}

/// A move that holds the clock, and the clock's position.
package struct HeldClock: Sendable {
    package let move: Int64
    package let state: ClockState
}

// A move holds the clock by a lease of real time; every write of the move names its number, so that one that has lost the
// clock to another changes nothing.
extension ClockQueries where Connection == any Transaction {
    /// Locks the clock until the commit.
    ///
    /// On PostgreSQL a move whose node has no connection left holds the clock no longer.
    ///
    /// - Parameter now: the real time.
    package func lock(at now: Timestamp) throws(StoreError) -> LockedClock {
        let clock = tx.dialect.realClock
        let isAlive =
            switch tx.dialect {
            case .sqlite: ""
            case .postgres:
                """
                 AND EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datname = current_database()
                    AND right(a.application_name, 16) = clock.moved_by)
                """
            }
        let row = try tx.rows(
            """
            SELECT clock.*, CASE WHEN stands_until > \(clock)\(isAlive) THEN 1 ELSE 0 END AS is_held, \(clock) AS now
            FROM clock WHERE id = 1\(tx.dialect.forUpdate)
            """, [now, now]
        ).first
        guard let row else { throw .corrupt("the clock has no row") }
        return LockedClock(
            state: try ClockState(row: row), real: try row.time("now"), isHeld: try row.bool("is_held"))
    }

    /// Begins a move: business time stands from now on.
    ///
    /// - Parameter lease: the seconds of real time after which the clock runs again, if the move does not extend it.
    package func begin(lease: Int64, at now: ClockReading) throws(StoreError) -> HeldClock {
        let node = tx.dialect == .postgres ? "right(current_setting('application_name'), 16)" : "''"
        return try held(
            """
            UPDATE clock SET stands_at = \(tx.dialect.businessClock), stands_until = \(tx.dialect.realClock) + ?,
                move = move + 1, moved_by = \(node), version = version + 1
            WHERE id = 1 RETURNING *
            """, [now.business, now.real, lease])
    }

    /// Sets the business time at which the clock stands.
    ///
    /// The offset follows, so that the clock goes on from there if the move ends without a word.
    ///
    /// - Parameter now: the real time.
    /// - Throws: ``StoreError/unavailable(_:)`` where another move has taken the clock.
    package func stand(
        at time: Timestamp, in move: Int64, lease: Int64, at now: Timestamp
    ) throws(StoreError) -> HeldClock {
        let real = tx.dialect.realClock
        return try held(
            """
            UPDATE clock SET stands_at = ?, stands_until = \(real) + ?, version = version + 1,
                offset_seconds = CASE WHEN ? - \(real) > offset_seconds THEN ? - \(real) ELSE offset_seconds END
            WHERE id = 1 AND move = ? RETURNING *
            """, [time, now, lease, time, now, time, now, move])
    }

    /// Extends the lease of a move.
    ///
    /// - Parameter now: the real time.
    package func extend(_ move: Int64, by lease: Int64, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            "UPDATE clock SET stands_until = \(tx.dialect.realClock) + ? WHERE id = 1 AND move = ? AND stands_at IS NOT NULL",
            now, lease, move)
    }

    /// Ends a move: the clock runs on with this offset.
    package func end(_ move: Int64, offset: Int64) throws(StoreError) -> ClockState {
        try held(
            """
            UPDATE clock SET stands_at = NULL, stands_until = 0, moved_by = '', version = version + 1, offset_seconds = ?
            WHERE id = 1 AND move = ? RETURNING *
            """, [offset, move]
        ).state
    }

    /// Ends a move: the clock runs on from this business time, or with its offset where it is later.
    ///
    /// - Parameter now: the real time.
    package func end(_ move: Int64, from time: Timestamp, at now: Timestamp) throws(StoreError) -> ClockState {
        let real = tx.dialect.realClock
        return try held(
            """
            UPDATE clock SET stands_at = NULL, stands_until = 0, moved_by = '', version = version + 1,
                offset_seconds = CASE WHEN ? - \(real) > offset_seconds THEN ? - \(real) ELSE offset_seconds END
            WHERE id = 1 AND move = ? RETURNING *
            """, [time, now, time, now, move]
        ).state
    }

    /// Ends the move of a process that is gone: the only process that uses the database has just started.
    package func endAnyMove() throws(StoreError) {
        try tx.execute(
            "UPDATE clock SET stands_at = NULL, stands_until = 0, version = version + 1 WHERE stands_at IS NOT NULL")
    }

    private func held(_ sql: String, _ bound: [any SQLBindable]) throws(StoreError) -> HeldClock {
        tx.markDueTimes()
        guard let row = try tx.rows(sql, bound).first else { throw .unavailable("another move has the clock") }
        return HeldClock(move: try row.int("move"), state: try ClockState(row: row))
    }
}

extension Dialect {
    /// A condition that no move holds the clock, with one parameter: the real time.
    var clockRuns: String { "NOT EXISTS (SELECT 1 FROM clock WHERE stands_until > \(realClock))" }
}

extension ClockState {
    init(row: Row) throws(StoreError) {
        self.init(
            offsetSeconds: try row.int("offset_seconds"), standsAt: try row.optionalTime("stands_at"),
            standsUntil: try row.time("stands_until"), version: try row.int("version"))
    }
}
