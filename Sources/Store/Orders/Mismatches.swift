package import Domain

/// Received amounts that differ from the amount of their payment.
///
/// `db.mismatches` reads; `tx.mismatches` also writes.
package struct MismatchQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var mismatches: MismatchQueries<any Database> { MismatchQueries(db: self, tx: self) }
}

extension Transaction {
    package var mismatches: MismatchQueries<any Transaction> { MismatchQueries(db: self, tx: self) }
}

extension MismatchQueries {
    /// Lists an order's mismatches, oldest first.
    package func list(of order: ID<Order>) throws(StoreError) -> [Mismatch] {
        try db.rows("SELECT * FROM mismatches WHERE order_id = ? ORDER BY n", [order])
            .map(Mismatch.init(row:))
    }

    package func find(_ n: Int64, of order: ID<Order>) throws(StoreError) -> Mismatch? {
        try db.row("SELECT * FROM mismatches WHERE order_id = ? AND n = ?", order, n)
            .map(Mismatch.init(row:))
    }
}

extension MismatchQueries where Connection == any Transaction {
    /// Inserts a mismatch unless the same is stored; the caller holds the order's lock.
    package func insert(
        of payment: Payment, _ amount: Money, reference: String?, at now: Timestamp
    ) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO mismatches (order_id, n, payment_id, reference, amount, currency, at, state)
            SELECT ?, (SELECT COUNT(*) + 1 FROM mismatches WHERE order_id = ?), ?, ?, ?, ?, ?, 'open'
            WHERE NOT EXISTS (SELECT 1 FROM mismatches
                WHERE payment_id = ? AND reference = ? AND amount = ? AND currency = ?)
            """,
            payment.order, payment.order, payment.id, reference ?? "", amount.value, amount.currency.code, now,
            payment.id, reference ?? "", amount.value, amount.currency.code)
    }

    package func close(_ found: Mismatch, as state: Mismatch.State, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            "UPDATE mismatches SET state = ?, settled_at = ? WHERE order_id = ? AND n = ? AND state = 'open'",
            state.rawValue, now, found.order, found.n)
    }
}

extension Mismatch {
    init(row: Row) throws(StoreError) {
        self.init(
            order: try row.id("order_id"), n: try row.int("n"), payment: try row.id("payment_id"),
            reference: try row.text("reference"), amount: try row.money("amount", "currency"), at: try row.time("at"),
            state: try row.choice("state"))
    }
}
