package import Domain

/// A payment or refund in flight whose `look_at` has passed, so that the work finder decides about its job.
package struct DueCheck: Sendable {
    package let id: String
    /// True when a job has to query the provider about it.
    package let isDue: Bool
    /// The time of the next check, unless the payment or refund moves before.
    package let next: Timestamp
    fileprivate let lookAt: Int64
}

/// The condition that a payment, a refund or a set-up has no final state.
///
/// The partial indexes have the same text: SQLite uses one only where the condition stands in the query as it stands in the
/// index.
enum InFlight {
    /// - Parameter state: the column of the state.
    static func isTrue(of state: String) -> String {
        "(\(state) = 'created' OR \(state) = 'pending' OR \(state) = 'unknown')"
    }
}

extension PaymentQueries {
    /// Lists payments in flight whose check is due, and says which of them the provider is queried about.
    ///
    /// No query is made about contracts of a store, whose purchases arrive by themselves; about pending payments of an
    /// order that is no longer open, after `hanging` seconds, unless they charge a mandate; about payments of an expired
    /// order, which the job that closes the order checks (a renewal's order does not expire); and about payments that
    /// were never opened at the provider, which belong to their request, because a query would close them there.
    ///
    /// - Parameter hanging: the number of seconds after its start for which a pending payment of an order that is not
    ///   open is queried.
    package func listDue(hanging: Int64, limit: Int64, at now: Timestamp) throws(StoreError) -> [DueCheck] {
        let isHanging = """
            o.state <> 'open' AND p.state = 'pending' AND p.mandate_id IS NULL AND p.created_at <= \(db.dialect.businessClock) - ?
            """
        return try db.rows(
            """
            SELECT p.id, p.look_at, p.created_at, \(db.dialect.businessClock) AS now,
                CASE WHEN p.offers IS NOT NULL OR \(isHanging) THEN 1 ELSE 0 END AS is_over,
                CASE WHEN p.state <> 'created' AND (o.state <> 'open' OR o.origin = 'renewal'
                    OR o.expires_at > \(db.dialect.businessClock)) THEN 1 ELSE 0 END AS is_asked
            FROM payments p\(db.dialect.indexed(by: "payments_to_look_at")) JOIN orders o ON o.id = p.order_id
            WHERE \(InFlight.isTrue(of: "p.state")) AND p.look_at <= \(db.dialect.businessClock)
            ORDER BY p.look_at LIMIT ?
            """, [now, now, hanging, now, now, limit]
        ).map(DueCheck.init(row:))
    }

    /// Lists the payments of an account that were opened and are not final, newest first.
    package func listInFlight(
        at account: AccountID, before last: ID<Payment>?, limit: Int64
    ) throws(StoreError) -> [ID<Payment>] {
        let isInFlight = "\(InFlight.isTrue(of: "p.state"))"
        let restriction = "\(isInFlight) AND p.offers IS NULL AND COALESCE(p.processor, p.account) = ?"
        return try db.newestIDs(
            of: ["pending", "unknown"], "p", in: "payments p", where: restriction, account, before: last, limit: limit)
    }
}

extension PaymentQueries where Connection == any Transaction {
    /// Sets the next check of payments in flight, unless they have moved since they were listed.
    package func postponeChecks(_ checks: [DueCheck]) throws(StoreError) { try tx.postponeChecks(checks, "payments") }
}

extension RefundQueries {
    /// Lists refunds in flight whose check is due.
    package func listDue(limit: Int64, at now: Timestamp) throws(StoreError) -> [DueCheck] {
        try db.rows(
            """
            SELECT r.id, r.look_at, r.created_at, \(db.dialect.businessClock) AS now, 0 AS is_over, 1 AS is_asked
            FROM refunds r\(db.dialect.indexed(by: "refunds_to_look_at"))
            WHERE \(InFlight.isTrue(of: "r.state")) AND r.look_at <= \(db.dialect.businessClock)
            ORDER BY r.look_at LIMIT ?
            """, [now, now, limit]
        ).map(DueCheck.init(row:))
    }

    /// Lists the refunds of an account that are not final, newest first.
    package func listInFlight(
        at account: AccountID, before last: ID<Refund>?, limit: Int64
    ) throws(StoreError) -> [ID<Refund>] {
        try db.newestIDs(
            of: ["created", "pending", "unknown"], "r", in: "refunds r JOIN payments p ON p.id = r.payment_id",
            where: "\(InFlight.isTrue(of: "r.state")) AND COALESCE(p.processor, p.account) = ?", account,
            before: last, limit: limit)
    }
}

extension RefundQueries where Connection == any Transaction {
    /// Sets the next check of refunds in flight, unless they have moved since they were listed.
    package func postponeChecks(_ checks: [DueCheck]) throws(StoreError) { try tx.postponeChecks(checks, "refunds") }
}

extension DueCheck {
    init(row: Row) throws(StoreError) {
        let (now, isOver) = (try row.time("now"), try row.bool("is_over"))
        // A row of an earlier release has no `look_at`.
        let checkable = try row.time("created_at").adding(seconds: DueWork.settlingSeconds)
        let isTooYoung = checkable > now
        let isChecked = try row.bool("is_asked")
        self = DueCheck(
            id: try row.text("id"), isDue: isChecked && !isOver && !isTooYoung,
            next: isOver ? .farFuture : isTooYoung ? checkable : now.adding(seconds: DueWork.lookSeconds),
            lookAt: try row.int("look_at"))
    }
}

extension Database {
    /// Lists the newest ids; each state is searched by itself, because only then does the index give the newest first.
    fileprivate func newestIDs<Subject>(
        of states: [String], _ table: String, in source: String, where restriction: String, _ account: AccountID,
        before last: ID<Subject>?, limit: Int64
    ) throws(StoreError) -> [ID<Subject>] {
        let ofState = """
            SELECT id FROM (
                SELECT \(table).id FROM \(source)
                WHERE \(table).state = ? AND \(restriction)\(last == nil ? "" : " AND \(table).id < ?")
                ORDER BY \(table).id DESC LIMIT ?) AS of_state
            """
        let cursor = last.map { [$0 as any SQLBindable] } ?? []
        let bound = states.flatMap { [$0, account] as [any SQLBindable] + cursor + [limit] }
        return try rows(
            "SELECT id FROM (\(states.map { _ in ofState }.joined(separator: " UNION ALL "))) AS of_all "
                + "ORDER BY id DESC LIMIT ?", bound + [limit]
        ).map { row throws(StoreError) in try row.id("id") }
    }
}

extension Transaction {
    fileprivate func postponeChecks(_ checks: [DueCheck], _ table: String) throws(StoreError) {
        for check in checks {
            try enqueue(
                "UPDATE \(table) SET look_at = ? WHERE id = ? AND look_at = ?", check.next, check.id, check.lookAt)
        }
    }
}
