package import Domain

/// What a change of a balance came from; each step of one source is booked once.
package struct LedgerSource: Sendable {
    package let kind: String
    package let id: String

    package init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }
}

extension Database {
    /// Every unit that was ever credited, also at 0.
    package func balances(of user: ID<User>) throws(StoreError) -> [Environment: [String: Int64]] {
        try askBalances(of: user).value()
    }

    package func askBalances(of user: ID<User>) throws(StoreError) -> Pending<[Environment: [String: Int64]]> {
        try ask("SELECT unit, environment, amount FROM balances WHERE user_id = ?", user)
            .map { rows throws(StoreError) in try Self.balances(rows) }
    }

    static func balances(_ rows: [Row]) throws(StoreError) -> [Environment: [String: Int64]] {
        var balances: [Environment: [String: Int64]] = [:]
        for row in rows {
            balances[try row.choice("environment"), default: [:]][try row.text("unit")] = try row.int("amount")
        }
        return balances
    }

    /// What a source has booked so far, by unit, with its number of steps.
    package func booked(
        _ source: LedgerSource, user: ID<User>, environment: Environment
    ) throws(StoreError) -> [String: (sum: Int64, steps: Int64)] {
        var booked: [String: (sum: Int64, steps: Int64)] = [:]
        let steps = try rows(
            """
            SELECT unit, SUM(delta) AS sum, COUNT(*) AS steps FROM ledger
            WHERE user_id = ? AND environment = ? AND source_kind = ? AND source_id = ?
            GROUP BY unit
            """, [user, environment.rawValue, source.kind, source.id])
        for row in steps { booked[try row.text("unit")] = (try row.int("sum"), try row.int("steps")) }
        return booked
    }
}

extension Transaction {
    /// Takes units of a production balance in one guarded statement, and books that as one source of its own.
    ///
    /// - Returns: the balance after it; nil when it holds less, or was never credited.
    package func debit(
        _ amount: Int64, unit: String, user: ID<User>, source: LedgerSource, at now: Timestamp
    ) throws(StoreError) -> Int64? {
        let production = Environment.production.rawValue
        let left = try rows(
            """
            UPDATE balances SET amount = amount - ?
            WHERE user_id = ? AND unit = ? AND environment = ? AND amount >= ? RETURNING amount
            """, [amount, user, unit, production, amount])
        guard let row = left.first else { return nil }
        try run(
            """
            INSERT INTO ledger (user_id, unit, environment, source_kind, source_id, step, delta, at)
            VALUES (?, ?, ?, ?, ?, 1, ?, ?)
            """, user, unit, production, source.kind, source.id, -amount, now)
        return try row.int("amount")
    }

    /// Books one step of a source and returns the balance after it; the caller holds the user's lock.
    package func book(
        _ delta: Int64, unit: String, user: ID<User>, environment: Environment, source: LedgerSource, step: Int64,
        at now: Timestamp
    ) throws(StoreError) -> Int64 {
        try run(
            """
            INSERT INTO ledger (user_id, unit, environment, source_kind, source_id, step, delta, at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, user, unit, environment.rawValue, source.kind, source.id, step, delta, now)
        let balance = try rows(
            """
            INSERT INTO balances (user_id, unit, environment, amount) VALUES (?, ?, ?, ?)
            ON CONFLICT (user_id, unit, environment) DO UPDATE SET amount = balances.amount + excluded.amount
            RETURNING amount
            """, [user, unit, environment.rawValue, delta])
        guard let row = balance.first else { throw .corrupt("a balance was not written") }
        return try row.int("amount")
    }
}
