package import Domain

extension Database {
    package func refund(_ id: ID<Refund>) throws(StoreError) -> Refund? {
        try row("SELECT * FROM refunds WHERE id = ?", id).map { row throws(StoreError) in try Self.refund(row) }
    }

    /// The refunds of one payment, oldest first.
    package func refunds(of payment: ID<Payment>) throws(StoreError) -> [Refund] { try askRefunds(of: payment).value() }

    package func askRefunds(of payment: ID<Payment>) throws(StoreError) -> Pending<[Refund]> {
        try askRefunds("SELECT * FROM refunds WHERE payment_id = ? ORDER BY created_at, id", payment)
    }

    package func refunds(of order: ID<Order>) throws(StoreError) -> [Refund] { try askRefunds(of: order).value() }

    package func askRefunds(of order: ID<Order>) throws(StoreError) -> Pending<[Refund]> {
        try askRefunds("SELECT * FROM refunds WHERE order_id = ? ORDER BY created_at, id", order)
    }

    /// The disputes of one payment, oldest first.
    package func disputes(of payment: ID<Payment>) throws(StoreError) -> [Dispute] {
        try askDisputes(of: payment).value()
    }

    package func askDisputes(of payment: ID<Payment>) throws(StoreError) -> Pending<[Dispute]> {
        try askDisputes("SELECT * FROM disputes WHERE payment_id = ? ORDER BY created_at, id", payment)
    }

    package func disputes(of order: ID<Order>) throws(StoreError) -> [Dispute] { try askDisputes(of: order).value() }

    package func askDisputes(of order: ID<Order>) throws(StoreError) -> Pending<[Dispute]> {
        try askDisputes("SELECT * FROM disputes WHERE order_id = ? ORDER BY created_at, id", order)
    }

    private func askRefunds(_ sql: String, _ id: any SQLBindable) throws(StoreError) -> Pending<[Refund]> {
        try ask(sql, id).each(Self.refund)
    }

    private func askDisputes(_ sql: String, _ id: any SQLBindable) throws(StoreError) -> Pending<[Dispute]> {
        try ask(sql, id).each(Self.dispute)
    }

    static func refund(_ row: Row) throws(StoreError) -> Refund {
        Refund(
            id: try row.id("id"), order: try row.id("order_id"), payment: try row.id("payment_id"),
            amount: try row.money("amount", "currency"), reason: try row.text("reason"), state: try row.choice("state"),
            reference: try row.optionalText("reference"), counted: try row.bool("counted"),
            createdAt: try row.time("created_at"), sentAt: try row.optionalTime("sent_at"))
    }

    static func dispute(_ row: Row) throws(StoreError) -> Dispute {
        Dispute(
            id: try row.id("id"), order: try row.id("order_id"), payment: try row.id("payment_id"),
            reference: try row.text("reference"), amount: try row.money("amount", "currency"),
            state: try row.choice("state"), createdAt: try row.time("created_at"), toldAt: try row.time("told_at"))
    }
}

extension Transaction {
    package func insertRefund(_ refund: Refund) throws(StoreError) {
        try run(
            """
            INSERT INTO refunds (id, order_id, payment_id, amount, currency, reason, state, reference, counted, created_at,
                look_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            refund.id, refund.order, refund.payment, refund.amount.value, refund.amount.currency.code, refund.reason,
            refund.state.rawValue, refund.reference, refund.counted, refund.createdAt,
            refund.createdAt.adding(seconds: DueWork.settlingSeconds))
    }

    /// Writes down that a refund, as it was read, is sent now.
    ///
    /// - Returns: false where it has moved meanwhile, or must not be sent any more.
    package func markSent(_ id: ID<Refund>, in state: Refund.State, at now: Timestamp) throws(StoreError) -> Bool {
        try run(
            "UPDATE refunds SET sent_at = ? WHERE id = ? AND state = ? AND (state <> 'created' OR counted = 1)", now,
            id,
            state.rawValue) == 1
    }

    /// Moves a refund that stands where it was read, and keeps the provider's own id of it.
    package func moveRefund(
        _ id: ID<Refund>, from old: Refund.State, to new: Refund.State, reference: String?
    ) throws(StoreError) {
        let touched = try run(
            """
            UPDATE refunds SET state = ?, reference = COALESCE(reference, ?), look_at = created_at + ?
            WHERE id = ? AND state = ?
            """, new.rawValue, reference, DueWork.settlingSeconds, id, old.rawValue)
        guard touched == 1 else { throw .corrupt("a refund moved under its payment's lock") }
        if new.isFinal { try forgetReason(of: id) }
    }

    package func setCounted(_ refund: ID<Refund>, _ counted: Bool) throws(StoreError) {
        try run("UPDATE refunds SET counted = ? WHERE id = ?", counted, refund)
    }

    package func insertDispute(_ dispute: Dispute) throws(StoreError) {
        try run(
            """
            INSERT INTO disputes (id, order_id, payment_id, reference, amount, currency, state, created_at, told_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            dispute.id, dispute.order, dispute.payment, dispute.reference, dispute.amount.value,
            dispute.amount.currency.code, dispute.state.rawValue, dispute.createdAt,
            dispute.toldAt)
    }

    /// Brings a dispute to the newest state that is known of it; the caller holds its payment's lock.
    package func moveDispute(
        _ id: ID<Dispute>, to new: Dispute.State, amount: Money, toldAt: Timestamp
    ) throws(StoreError) {
        try run(
            "UPDATE disputes SET state = ?, amount = ?, told_at = ? WHERE id = ?", new.rawValue, amount.value, toldAt,
            id)
    }
}
