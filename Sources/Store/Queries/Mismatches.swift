package import Domain

extension Database {
    /// An order's mismatches, oldest first.
    package func mismatches(of order: ID<Order>) throws(StoreError) -> [Mismatch] {
        try rows("SELECT * FROM mismatches WHERE order_id = ? ORDER BY n", [order])
            .map { row throws(StoreError) in try Self.mismatch(row) }
    }

    package func mismatch(_ n: Int64, of order: ID<Order>) throws(StoreError) -> Mismatch? {
        try row("SELECT * FROM mismatches WHERE order_id = ? AND n = ?", order, n)
            .map { row throws(StoreError) in try Self.mismatch(row) }
    }

    static func mismatch(_ row: Row) throws(StoreError) -> Mismatch {
        Mismatch(
            order: try row.id("order_id"), n: try row.int("n"), payment: try row.id("payment_id"),
            reference: try row.text("reference"), amount: try row.money("amount", "currency"), at: try row.time("at"),
            state: try row.choice("state"))
    }
}

extension Transaction {
    /// Keeps a mismatch unless the same is known; the caller holds the order's lock.
    package func insertMismatch(
        of payment: Payment, _ amount: Money, reference: String?, at now: Timestamp
    ) throws(StoreError) {
        try run(
            """
            INSERT INTO mismatches (order_id, n, payment_id, reference, amount, currency, at, state)
            SELECT ?, (SELECT COUNT(*) + 1 FROM mismatches WHERE order_id = ?), ?, ?, ?, ?, ?, 'open'
            WHERE NOT EXISTS (SELECT 1 FROM mismatches
                WHERE payment_id = ? AND reference = ? AND amount = ? AND currency = ?)
            """,
            payment.order, payment.order, payment.id, reference ?? "", amount.value, amount.currency.code, now,
            payment.id, reference ?? "", amount.value, amount.currency.code)
    }

    package func settleMismatch(_ found: Mismatch, as state: Mismatch.State, at now: Timestamp) throws(StoreError) {
        try run(
            "UPDATE mismatches SET state = ?, settled_at = ? WHERE order_id = ? AND n = ? AND state = 'open'",
            state.rawValue, now, found.order, found.n)
    }
}
