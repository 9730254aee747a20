package import Domain

/// What waits to be looked after and has no job yet.
package enum DueWork: Sendable {
    /// Orders whose time is over.
    case expiredOrders
    /// Provider payments that are not final so long after they were made.
    case paymentsInFlight(olderThan: Int64, youngerThan: Int64)
    case refundsInFlight(olderThan: Int64)
    /// What requests made that ended without an answer.
    case abandonedRequests
    /// Notifications without a job: those that an earlier release stored.
    case storedNotifications
    /// Subscriptions of which these accounts' stores are to be asked.
    case subscriptions(accounts: [AccountID])
}

extension Database {
    /// The subjects of due work that no job of this kind looks after, quarantined ones included.
    ///
    /// Times are compared by the clock that leases count by.
    package func subjects(
        of work: DueWork, without kind: String, limit: Int64, at now: Timestamp
    ) throws(StoreError) -> [String] {
        let time = dialect.clock
        let sql: String
        var arguments: [any SQLBindable] = [now]
        switch work {
        case .expiredOrders:
            sql = "SELECT o.id AS subject FROM orders o WHERE o.state = 'open' AND o.expires_at <= \(time)"
        case .paymentsInFlight(let older, let younger):
            sql = paymentsInFlight
            // Ids tell the time of the node that made them, which may be a day off, as this one's may.
            let oldest = ID<Payment>.least(at: now.adding(seconds: -younger).adding(days: -1))
            arguments += [now, older, now, older, oldest, now, older, now, younger] as [any SQLBindable]
        case .refundsInFlight(let older):
            sql = """
                SELECT r.id AS subject FROM refunds r
                WHERE r.state IN ('created', 'pending', 'unknown') AND r.created_at <= \(time) - ?
                """
            arguments.append(older)
        case .abandonedRequests:
            sql = """
                SELECT k.resource AS subject FROM idempotency_keys k
                WHERE k.status IS NULL AND k.resource IS NOT NULL AND k.completed_at IS NULL AND k.lease_until <= \(time)
                """
        case .storedNotifications:
            sql = "SELECT n.id AS subject FROM notifications n WHERE n.status = 'stored' AND n.received_at <= \(time)"
        case .subscriptions(let accounts):
            let marks = Array(repeating: "?", count: accounts.count).joined(separator: ", ")
            // By the clock that set it: asking a store too soon does no harm.
            sql = """
                SELECT s.id AS subject FROM subscriptions s
                WHERE s.next_check_at IS NOT NULL AND s.next_check_at <= ? AND s.account IN (\(marks))
                """
            arguments += accounts as [any SQLBindable]
        }
        arguments += [kind, limit] as [any SQLBindable]
        return try rows(
            """
            SELECT subject FROM (\(sql)) due
            WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = ? AND j.subject = due.subject)
            ORDER BY subject LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in try row.text("subject") }
    }

    /// Provider payments to ask about.
    ///
    /// A store is not asked about its contracts: its purchases come by themselves. What hangs about an order that is settled
    /// otherwise is asked about for a while only, unless its outcome is unknown. Those of an order whose time is over are
    /// the job's that closes it. One that was never opened is the request's that made it, or of whatever completes that;
    /// asking would close it at the provider. Each part is bounded by an index, because most of what hangs never ends: the
    /// first begins at the orders (SQLite keeps the order of a cross join).
    private var paymentsInFlight: String {
        let isAsked = "\(Self.isInFlight("p.")) AND p.offers IS NULL AND p.created_at <= \(dialect.clock) - ?"
        return """
            SELECT p.id AS subject FROM orders o CROSS JOIN payments p
            WHERE o.state = 'open' AND o.expires_at > \(dialect.clock) AND p.order_id = o.id AND \(isAsked)
            UNION ALL
            SELECT p.id FROM payments p JOIN orders o ON o.id = p.order_id
            WHERE p.state = 'unknown' AND o.state <> 'open' AND \(isAsked)
            UNION ALL
            SELECT p.id FROM payments p JOIN orders o ON o.id = p.order_id
            WHERE p.state = 'pending' AND p.id >= ? AND o.state <> 'open' AND \(isAsked)
              AND p.created_at > \(dialect.clock) - ?
            """
    }

    /// Users for whom time alone changes something until now, those first whose change is the longest ago.
    package func usersToAnnounce(until now: Timestamp, limit: Int64) throws(StoreError) -> [ID<User>] {
        try rows(
            """
            SELECT user_id FROM user_states WHERE next_change_at IS NOT NULL AND next_change_at <= ?
            ORDER BY next_change_at, user_id LIMIT ?
            """, [now, limit]
        ).map { row throws(StoreError) in try row.id("user_id") }
    }

    /// Whether a payment that was opened is not final.
    ///
    /// In the words of the index of such payments: SQLite takes one with a condition only where it finds the same condition.
    private static func isInFlight(_ table: String) -> String {
        "\(table)state IN ('created', 'pending', 'unknown') AND \(table)state <> 'created'"
    }

    /// Payments of an account that were opened and are not final, newest first.
    package func paymentsInFlight(
        at account: AccountID, before last: ID<Payment>?, limit: Int64
    ) throws(StoreError) -> [ID<Payment>] {
        let restriction = "\(Self.isInFlight("p.")) AND p.offers IS NULL AND COALESCE(p.processor, p.account) = ?"
        return try newest(
            of: ["pending", "unknown"], "p", in: "payments p", where: restriction, account, before: last, limit: limit)
    }

    /// Refunds of an account that are not final, newest first.
    package func refundsInFlight(
        at account: AccountID, before last: ID<Refund>?, limit: Int64
    ) throws(StoreError) -> [ID<Refund>] {
        try newest(
            of: ["created", "pending", "unknown"], "r", in: "refunds r JOIN payments p ON p.id = r.payment_id",
            where: "r.state IN ('created', 'pending', 'unknown') AND COALESCE(p.processor, p.account) = ?", account,
            before: last, limit: limit)
    }

    /// Each state is looked for by itself: only then does the index give the newest first.
    private func newest<Subject>(
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
    /// Marks abandoned requests whose object has come to a definite end.
    package func completeRequests(of resource: String, at now: Timestamp) throws(StoreError) {
        try run(
            """
            UPDATE idempotency_keys SET completed_at = ?
            WHERE resource = ? AND status IS NULL AND completed_at IS NULL
            """, now, resource)
    }
}
