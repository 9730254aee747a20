package import Domain

/// Disputes (chargebacks) of payments.
///
/// `db.disputes` reads; `tx.disputes` also writes.
package struct DisputeQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var disputes: DisputeQueries<any Database> { DisputeQueries(db: self, tx: self) }
}

extension Transaction {
    package var disputes: DisputeQueries<any Transaction> { DisputeQueries(db: self, tx: self) }
}

extension DisputeQueries {
    /// Lists the disputes of a payment, oldest first.
    package func list(of payment: ID<Payment>) throws(StoreError) -> DeferredResult<[Dispute]> {
        try list("SELECT * FROM disputes WHERE payment_id = ? ORDER BY created_at, id", payment)
    }

    package func list(of order: ID<Order>) throws(StoreError) -> DeferredResult<[Dispute]> {
        try list("SELECT * FROM disputes WHERE order_id = ? ORDER BY created_at, id", order)
    }

    /// Lists disputes with the users of their orders, newest first.
    ///
    /// - Parameter state: nil lists all.
    package func list(
        _ state: Dispute.State?, before cursor: String?, limit: Int64
    ) throws(StoreError) -> [(dispute: Dispute, user: ID<User>)] {
        let restriction = state == nil ? "" : "d.state = ? AND "
        let arguments: [any SQLBindable] = (state.map { [$0.rawValue] } ?? []) + [cursor ?? "dsp_~", limit]
        return try db.rows(
            """
            SELECT d.*, o.user_id FROM disputes d JOIN orders o ON o.id = d.order_id
            WHERE \(restriction)d.id < ? ORDER BY d.id DESC LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in (try Dispute(row: row), try row.id("user_id")) }
    }

    private func list(_ sql: String, _ id: any SQLBindable) throws(StoreError) -> DeferredResult<[Dispute]> {
        try db.deferredRows(sql, id).each(Dispute.init(row:))
    }
}

extension DisputeQueries where Connection == any Transaction {
    package func insert(_ dispute: Dispute) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO disputes (id, order_id, payment_id, reference, amount, currency, state, created_at, told_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            dispute.id, dispute.order, dispute.payment, dispute.reference, dispute.amount.value,
            dispute.amount.currency.code, dispute.state.rawValue, dispute.createdAt,
            dispute.toldAt)
    }

    /// Sets the newest state of a dispute; the caller holds its payment's lock.
    package func move(
        _ id: ID<Dispute>, to new: Dispute.State, amount: Money, toldAt: Timestamp
    ) throws(StoreError) {
        try tx.execute(
            "UPDATE disputes SET state = ?, amount = ?, told_at = ? WHERE id = ?", new.rawValue, amount.value, toldAt,
            id)
    }
}

extension Dispute {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), order: try row.id("order_id"), payment: try row.id("payment_id"),
            reference: try row.text("reference"), amount: try row.money("amount", "currency"),
            state: try row.choice("state"), createdAt: try row.time("created_at"), toldAt: try row.time("told_at"))
    }
}
