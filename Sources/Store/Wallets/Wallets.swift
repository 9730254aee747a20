package import Domain

/// The source of a change of a balance; each step of one source is booked once.
package struct LedgerSource: Sendable {
    package let kind: String
    package let id: String

    package init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }
}

/// A change of a balance, as a page of one unit's history lists it.
package struct LedgerStep: Sendable {
    package let source: LedgerSource
    package let environment: Environment
    package let position: Int64
    package let delta: Int64
    /// The balance after the change.
    package let balance: Int64
    package let reason: String?
    package let at: Timestamp
}

/// A change of a balance, as a list over all units has it.
package struct LedgerEntry: Sendable {
    package let unit: String
    package let environment: Environment
    package let source: LedgerSource
    package let delta: Int64
    package let at: Timestamp
}

/// Users' balances and the ledger of their changes.
///
/// `db.wallets` reads; `tx.wallets` also writes.
package struct WalletQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var wallets: WalletQueries<any Database> { WalletQueries(db: self, tx: self) }
}

extension Transaction {
    package var wallets: WalletQueries<any Transaction> { WalletQueries(db: self, tx: self) }
}

extension WalletQueries {
    /// Lists the changes of a unit's balances, newest first.
    package func listEntries(
        of user: ID<User>, unit: String, before position: Int64?, limit: Int64
    ) throws(StoreError) -> [LedgerStep] {
        try db.rows(
            """
            SELECT environment, source_kind, source_id, position, delta, balance, reason, at FROM ledger
            WHERE user_id = ? AND unit = ? AND position < ? ORDER BY position DESC LIMIT ?
            """, [user, unit, position ?? .max, limit]
        ).map { row throws(StoreError) in
            LedgerStep(
                source: LedgerSource(kind: try row.text("source_kind"), id: try row.text("source_id")),
                environment: try row.choice("environment"), position: try row.int("position"),
                delta: try row.int("delta"), balance: try row.int("balance"), reason: try row.optionalText("reason"),
                at: try row.time("at"))
        }
    }

    /// Reads the balances of a user: every unit that was ever credited, also at 0.
    package func balances(of user: ID<User>) throws(StoreError) -> DeferredResult<[Environment: [String: Int64]]> {
        try db.deferredRows("SELECT unit, environment, amount FROM balances WHERE user_id = ?", user)
            .map { rows throws(StoreError) in try Self.balancesOfRows(rows) }
    }

    static func balancesOfRows(_ rows: [Row]) throws(StoreError) -> [Environment: [String: Int64]] {
        var balances: [Environment: [String: Int64]] = [:]
        for row in rows {
            balances[try row.choice("environment"), default: [:]][try row.text("unit")] = try row.int("amount")
        }
        return balances
    }

    /// Sums the units that a source has booked, with the number of steps.
    package func booked(
        _ source: LedgerSource, user: ID<User>, environment: Environment
    ) throws(StoreError) -> [String: (sum: Int64, steps: Int64)] {
        var booked: [String: (sum: Int64, steps: Int64)] = [:]
        let steps = try db.rows(
            """
            SELECT unit, SUM(delta) AS sum, COUNT(*) AS steps FROM ledger
            WHERE user_id = ? AND environment = ? AND source_kind = ? AND source_id = ?
            GROUP BY unit
            """, [user, environment.rawValue, source.kind, source.id])
        for row in steps { booked[try row.text("unit")] = (try row.int("sum"), try row.int("steps")) }
        return booked
    }

    /// Lists the latest changes of all balances of a user, newest first.
    package func listLatest(of user: ID<User>, limit: Int64) throws(StoreError) -> [LedgerEntry] {
        try db.rows(
            """
            SELECT unit, environment, source_kind, source_id, delta, at FROM ledger WHERE user_id = ?
            ORDER BY at DESC, source_kind DESC, source_id DESC, step DESC, unit DESC LIMIT ?
            """, [user, limit]
        ).map { row throws(StoreError) in
            LedgerEntry(
                unit: try row.text("unit"), environment: try row.choice("environment"),
                source: LedgerSource(kind: try row.text("source_kind"), id: try row.text("source_id")),
                delta: try row.int("delta"), at: try row.time("at"))
        }
    }
}

extension WalletQueries where Connection == any Transaction {
    /// Takes units of a production balance in one guarded statement, and books that as a source of its own.
    ///
    /// - Returns: the balance after it; nil when the balance is too low, or the unit was never credited.
    package func debit(
        _ amount: Int64, unit: String, user: ID<User>, source: LedgerSource, reason: String? = nil, at now: Timestamp
    ) throws(StoreError) -> Int64? {
        let production = Environment.production.rawValue
        let left = try tx.rows(
            """
            UPDATE balances SET amount = amount - ?
            WHERE user_id = ? AND unit = ? AND environment = ? AND amount >= ? RETURNING amount
            """, [amount, user, unit, production, amount])
        guard let row = left.first else { return nil }
        let balance = try row.int("amount")
        try append(
            LedgerStep(
                source: source, environment: .production, position: 0, delta: -amount, balance: balance, reason: reason,
                at: now), step: 1, unit: unit, user: user)
        return balance
    }

    /// Inserts a change after those of the same unit; the caller holds the user's lock.
    private func append(_ entry: LedgerStep, step: Int64, unit: String, user: ID<User>) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO ledger (user_id, unit, environment, source_kind, source_id, step, delta, balance, reason, at,
                position)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
                (SELECT COALESCE(MAX(position), 0) + 1 FROM ledger WHERE user_id = ? AND unit = ?))
            """, user, unit, entry.environment.rawValue, entry.source.kind, entry.source.id, step, entry.delta,
            entry.balance, entry.reason, entry.at, user, unit)
    }

    /// Books one step of a source and returns the balance after it; the caller holds the user's lock.
    package func book(
        _ delta: Int64, unit: String, user: ID<User>, environment: Environment, source: LedgerSource, step: Int64,
        reason: String? = nil, at now: Timestamp
    ) throws(StoreError) -> Int64 {
        let balance = try tx.rows(
            """
            INSERT INTO balances (user_id, unit, environment, amount) VALUES (?, ?, ?, ?)
            ON CONFLICT (user_id, unit, environment) DO UPDATE SET amount = balances.amount + excluded.amount
            RETURNING amount
            """, [user, unit, environment.rawValue, delta])
        guard let row = balance.first else { throw .corrupt("a balance was not written") }
        let left = try row.int("amount")
        try append(
            LedgerStep(
                source: source, environment: environment, position: 0, delta: delta, balance: left, reason: reason,
                at: now), step: step, unit: unit, user: user)
        return left
    }
}
