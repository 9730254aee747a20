package import Domain

/// Rows that need a job and have none.
package enum DueWork: Sendable {
    /// Open orders that have expired.
    case expiredOrders
    /// Objects of requests that ended without an answer.
    case abandonedRequests
    /// Notifications without a job: those that an earlier release stored.
    case storedNotifications
    /// Managed subscriptions on which an act is due.
    case managedSubscriptions
    /// Managed subscriptions whose renewal is to be announced.
    case renewalNotices
    /// Set-ups of mandates that are not final.
    case setups
    /// Mandates that are to be revoked.
    case mandates
    /// Tokens of external purchases whose reports are looked at by time.
    case externalTokens
    /// Subscriptions of these accounts whose next check with the store is due.
    case subscriptions(accounts: [AccountID])

    /// The seconds after its start in which a payment or refund is not checked yet.
    package static let settlingSeconds: Int64 = 60
    /// The seconds between two checks of a payment or refund in flight, in case its job was lost.
    static let lookSeconds: Int64 = 3_600
}

extension JobQueries {
    /// Lists subjects of due work without a job of this kind (a quarantined job counts), longest due first.
    ///
    /// Leases are compared with the real time, everything else with business time.
    package func listDueSubjects(
        of work: DueWork, without kind: String, limit: Int64, at now: ClockReading
    ) throws(StoreError) -> [String] {
        let time = db.dialect.businessClock
        let sql: String
        var arguments: [any SQLBindable] = [now.business]
        switch work {
        case .expiredOrders:
            sql = """
                SELECT o.id AS subject, o.expires_at AS at FROM orders o
                WHERE o.state = 'open' AND o.expires_at <= \(time) AND o.origin <> 'renewal'
                """
        case .abandonedRequests:
            arguments = [now.real]
            sql = """
                SELECT k.resource AS subject, k.lease_until AS at FROM idempotency_keys k
                WHERE k.status IS NULL AND k.resource IS NOT NULL AND k.completed_at IS NULL AND k.lease_until <= \(db.dialect.realClock)
                """
        case .storedNotifications:
            // The oldest only: this release gives every notification a job when it stores it.
            sql = """
                SELECT n.id AS subject, n.id AS at FROM (
                    SELECT id, received_at FROM notifications WHERE status = 'stored' ORDER BY id LIMIT 5000) n
                WHERE n.received_at <= \(time)
                """
        case .managedSubscriptions:
            sql = """
                SELECT s.id AS subject, s.due_at AS at FROM managed_subscriptions s
                WHERE s.due_at IS NOT NULL AND s.due_at <= \(time)
                """
        case .renewalNotices:
            sql = """
                SELECT s.id AS subject, s.notice_at AS at FROM managed_subscriptions s
                WHERE s.notice_at IS NOT NULL AND s.notice_at <= \(time)
                """
        case .setups:
            sql = """
                SELECT t.id AS subject, t.look_at AS at FROM setups t
                WHERE \(InFlight.isTrue(of: "t.state")) AND t.look_at <= \(time)
                """
        case .mandates:
            sql = """
                SELECT m.id AS subject, m.created_at AS at FROM mandates m
                WHERE m.state = 'revoking' AND m.created_at <= \(time)
                """
        case .externalTokens:
            sql = """
                SELECT t.id AS subject, t.look_at AS at FROM external_tokens t
                WHERE t.look_at IS NOT NULL AND t.look_at <= \(time) AND NOT EXISTS (
                    SELECT 1 FROM external_holds h WHERE h.account = t.account AND h.until IS NULL)
                """
        case .subscriptions(let accounts):
            let marks = Array(repeating: "?", count: accounts.count).joined(separator: ", ")
            // By the clock that set the time: asking a store too early does no harm.
            sql = """
                SELECT s.id AS subject, s.next_check_at AS at
                FROM subscriptions s\(db.dialect.indexed(by: "subscriptions_to_check"))
                WHERE s.next_check_at IS NOT NULL AND s.next_check_at <= ? AND s.account IN (\(marks))
                """
            arguments += accounts as [any SQLBindable]
        }
        arguments += [kind, limit] as [any SQLBindable]
        return try db.rows(
            """
            SELECT due.subject FROM (\(sql)) due
            WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = ? AND j.subject = due.subject)
            ORDER BY due.at LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in try row.text("subject") }
    }
}
