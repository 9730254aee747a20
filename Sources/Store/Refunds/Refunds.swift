package import Domain
import FoundationEssentials

/// Refunds of payments.
///
/// `db.refunds` reads; `tx.refunds` also writes.
package struct RefundQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var refunds: RefundQueries<any Database> { RefundQueries(db: self, tx: self) }
}

extension Transaction {
    package var refunds: RefundQueries<any Transaction> { RefundQueries(db: self, tx: self) }
}

extension RefundQueries {
    package func find(_ id: ID<Refund>) throws(StoreError) -> Refund? {
        try db.row("SELECT * FROM refunds WHERE id = ?", id).map(Refund.init(row:))
    }

    /// Lists the refunds of a payment, oldest first.
    package func list(of payment: ID<Payment>) throws(StoreError) -> DeferredResult<[Refund]> {
        try list("SELECT * FROM refunds WHERE payment_id = ? ORDER BY created_at, id", payment)
    }

    package func list(of order: ID<Order>) throws(StoreError) -> DeferredResult<[Refund]> {
        try list("SELECT * FROM refunds WHERE order_id = ? ORDER BY created_at, id", order)
    }

    private func list(_ sql: String, _ id: any SQLBindable) throws(StoreError) -> DeferredResult<[Refund]> {
        try db.deferredRows(sql, id).each(Refund.init(row:))
    }
}

extension RefundQueries where Connection == any Transaction {
    /// Deletes the reason of a refund that becomes final after its user was erased.
    func deleteReason(of refund: ID<Refund>) throws(StoreError) {
        try tx.execute(
            """
            UPDATE refunds SET reason = '' WHERE id = ? AND reason <> ? AND NOT EXISTS (
                SELECT 1 FROM orders o JOIN users u ON u.id = o.user_id WHERE o.id = refunds.order_id)
            """, refund, Refund.madeElsewhere)
    }

    package func insert(_ refund: Refund) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO refunds (id, order_id, payment_id, amount, currency, reason, state, reference, counted, created_at,
                look_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            refund.id, refund.order, refund.payment, refund.amount.value, refund.amount.currency.code, refund.reason,
            refund.state.rawValue, refund.reference, refund.counted, refund.createdAt,
            refund.createdAt.adding(seconds: DueWork.settlingSeconds))
    }

    /// Records that a refund is sent now.
    ///
    /// - Returns: false when it has moved since it was read, or must not be sent any more.
    package func markSent(_ id: ID<Refund>, in state: Refund.State, at now: Timestamp) throws(StoreError) -> Bool {
        try tx.execute(
            "UPDATE refunds SET sent_at = ? WHERE id = ? AND state = ? AND (state <> 'created' OR counted = 1)", now,
            id,
            state.rawValue) == 1
    }

    /// Moves a refund from the state that was read, and sets the provider's id of it.
    package func move(
        _ id: ID<Refund>, from old: Refund.State, to new: Refund.State, reference: String?
    ) throws(StoreError) {
        let touched = try tx.execute(
            """
            UPDATE refunds SET state = ?, reference = COALESCE(reference, ?), look_at = created_at + ?
            WHERE id = ? AND state = ?
            """, new.rawValue, reference, DueWork.settlingSeconds, id, old.rawValue)
        guard touched == 1 else { throw .corrupt("a refund moved under its payment's lock") }
        if new.isFinal { try deleteReason(of: id) }
    }

    package func setCounted(_ refund: ID<Refund>, _ counted: Bool) throws(StoreError) {
        try tx.execute("UPDATE refunds SET counted = ? WHERE id = ?", counted, refund)
    }
}

extension Refund {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), order: try row.id("order_id"), payment: try row.id("payment_id"),
            amount: try row.money("amount", "currency"), reason: try row.text("reason"), state: try row.choice("state"),
            reference: try row.optionalText("reference"), counted: try row.bool("counted"),
            createdAt: try row.time("created_at"), sentAt: try row.optionalTime("sent_at"))
    }
}
