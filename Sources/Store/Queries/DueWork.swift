package import Domain

/// What waits to be looked after and has no job yet.
package enum DueWork: Sendable {
    /// Orders whose time is over.
    case expiredOrders
    /// What requests made that ended without an answer.
    case abandonedRequests
    /// Notifications without a job: those that an earlier release stored.
    case storedNotifications
    /// Subscriptions of which these accounts' stores are to be asked.
    case subscriptions(accounts: [AccountID])

    /// A payment or refund that was made so many seconds ago need not be looked at yet.
    package static let settlingSeconds: Int64 = 60
    /// The work finder looks at what is in flight again after so many seconds, in case its job was lost.
    static let lookSeconds: Int64 = 3_600
}

/// A payment or refund that is in flight and whose time to be looked at has come.
package struct LookedAt: Sendable {
    package let id: String
    /// Whether a job is to follow it.
    package let isDue: Bool
    /// When it is looked at next, unless it moves.
    package let next: Timestamp
    fileprivate let lookAt: Int64
}

extension Database {
    /// The subjects of due work that no job of this kind looks after, quarantined ones included; those first that are due
    /// the longest.
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
            sql = """
                SELECT o.id AS subject, o.expires_at AS at FROM orders o
                WHERE o.state = 'open' AND o.expires_at <= \(time)
                """
        case .abandonedRequests:
            sql = """
                SELECT k.resource AS subject, k.lease_until AS at FROM idempotency_keys k
                WHERE k.status IS NULL AND k.resource IS NOT NULL AND k.completed_at IS NULL AND k.lease_until <= \(time)
                """
        case .storedNotifications:
            // The oldest only: what this release stores has its job from the beginning.
            sql = """
                SELECT n.id AS subject, n.id AS at FROM (
                    SELECT id, received_at FROM notifications WHERE status = 'stored' ORDER BY id LIMIT 5000) n
                WHERE n.received_at <= \(time)
                """
        case .subscriptions(let accounts):
            let marks = Array(repeating: "?", count: accounts.count).joined(separator: ", ")
            // By the clock that set it: asking a store too soon does no harm.
            sql = """
                SELECT s.id AS subject, s.next_check_at AS at
                FROM subscriptions s\(dialect.indexed(by: "subscriptions_to_check"))
                WHERE s.next_check_at IS NOT NULL AND s.next_check_at <= ? AND s.account IN (\(marks))
                """
            arguments += accounts as [any SQLBindable]
        }
        arguments += [kind, limit] as [any SQLBindable]
        return try rows(
            """
            SELECT due.subject FROM (\(sql)) due
            WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = ? AND j.subject = due.subject)
            ORDER BY due.at LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in try row.text("subject") }
    }

    /// Provider payments in flight whose time to be looked at has come, and which of them are to be asked about.
    ///
    /// A store is not asked about its contracts: its purchases come by themselves. What hangs about an order that is settled
    /// otherwise is asked about for a while only, unless its outcome is unknown. Those of an order whose time is over are
    /// the job's that closes it. One that was never opened is the request's that made it, or of whatever completes that;
    /// asking would close it at the provider.
    /// - Parameter hanging: so many seconds.
    package func paymentsToLookAt(hanging: Int64, limit: Int64, at now: Timestamp) throws(StoreError) -> [LookedAt] {
        let isHanging = """
            o.state <> 'open' AND p.state = 'pending' AND p.created_at <= \(dialect.clock) - ?
            """
        return try rows(
            """
            SELECT p.id, p.look_at, p.created_at, \(dialect.clock) AS now,
                CASE WHEN p.offers IS NOT NULL OR \(isHanging) THEN 1 ELSE 0 END AS is_over,
                CASE WHEN p.state <> 'created' AND (o.state <> 'open' OR o.expires_at > \(dialect.clock)) THEN 1 ELSE 0
                    END AS is_asked
            FROM payments p\(dialect.indexed(by: "payments_to_look_at")) JOIN orders o ON o.id = p.order_id
            WHERE p.state IN ('created', 'pending', 'unknown') AND p.look_at <= \(dialect.clock)
            ORDER BY p.look_at LIMIT ?
            """, [now, now, hanging, now, now, limit]
        ).map { row throws(StoreError) in try Self.lookedAt(row) }
    }

    /// Refunds in flight whose time to be looked at has come.
    package func refundsToLookAt(limit: Int64, at now: Timestamp) throws(StoreError) -> [LookedAt] {
        try rows(
            """
            SELECT r.id, r.look_at, r.created_at, \(dialect.clock) AS now, 0 AS is_over, 1 AS is_asked
            FROM refunds r\(dialect.indexed(by: "refunds_to_look_at"))
            WHERE r.state IN ('created', 'pending', 'unknown') AND r.look_at <= \(dialect.clock)
            ORDER BY r.look_at LIMIT ?
            """, [now, now, limit]
        ).map { row throws(StoreError) in try Self.lookedAt(row) }
    }

    private static func lookedAt(_ row: Row) throws(StoreError) -> LookedAt {
        let (now, isOver) = (try row.time("now"), try row.bool("is_over"))
        // A row of an earlier release does not say when it is to be looked at.
        let settled = try row.time("created_at").adding(seconds: DueWork.settlingSeconds)
        let isSettling = settled > now
        let isAsked = try row.bool("is_asked")
        return LookedAt(
            id: try row.text("id"), isDue: isAsked && !isOver && !isSettling,
            next: isOver ? .farFuture : isSettling ? settled : now.adding(seconds: DueWork.lookSeconds),
            lookAt: try row.int("look_at"))
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

    /// Payments of an account that were opened and are not final, newest first.
    package func paymentsInFlight(
        at account: AccountID, before last: ID<Payment>?, limit: Int64
    ) throws(StoreError) -> [ID<Payment>] {
        let isInFlight = "p.state IN ('created', 'pending', 'unknown')"
        let restriction = "\(isInFlight) AND p.offers IS NULL AND COALESCE(p.processor, p.account) = ?"
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
    /// Puts off the next look at payments in flight, unless they have moved meanwhile.
    package func putOffLooks(atPayments looked: [LookedAt]) throws(StoreError) { try putOffLooks(looked, "payments") }

    /// The same of refunds.
    package func putOffLooks(atRefunds looked: [LookedAt]) throws(StoreError) { try putOffLooks(looked, "refunds") }

    private func putOffLooks(_ looked: [LookedAt], _ table: String) throws(StoreError) {
        for one in looked {
            try send("UPDATE \(table) SET look_at = ? WHERE id = ? AND look_at = ?", one.next, one.id, one.lookAt)
        }
    }

    /// Marks abandoned requests whose object has come to a definite end.
    package func completeRequests(of resource: String, at now: Timestamp) throws(StoreError) {
        try run(
            """
            UPDATE idempotency_keys SET completed_at = ?
            WHERE resource = ? AND status IS NULL AND completed_at IS NULL
            """, now, resource)
    }
}
