package import Domain

/// The next times at which something becomes due, which a move of the clock stops at.
///
/// `db.dueTimes` reads.
package struct DueTimeQueries {
    let db: any Database
}

extension Database {
    package var dueTimes: DueTimeQueries { DueTimeQueries(db: self) }
}

extension DueTimeQueries {
    /// Finds the next due time of the waiting jobs of these kinds.
    package func nextJob(of kinds: [String], after time: Timestamp) throws(StoreError) -> Timestamp? {
        guard !kinds.isEmpty else { return nil }
        let next = """
            SELECT run_at FROM jobs WHERE jobs.kind = w.kind AND state = 'waiting' AND run_at > ? ORDER BY run_at LIMIT 1
            """
        return try first(
            "WITH wanted (kind) AS (VALUES \(Self.values(kinds))) SELECT MIN(at) AS at FROM (SELECT (\(next)) AS at FROM wanted w) f",
            kinds.map { $0 as any SQLBindable } + [time])
    }

    /// Returns the seconds after which time alone may make a job of these kinds due; nil where it does not.
    ///
    /// A waiting job becomes due at its time, a job under a lease when the lease ends, and every job when a move of the
    /// clock has lost its own.
    package func secondsUntilDue(of kinds: [String], at now: ClockReading) throws(StoreError) -> Int64? {
        var waits: [Int64] = []
        if let next = try nextJob(of: kinds, after: now.business) {
            waits.append(next.rawValue - now.business.rawValue)
        }
        for sql in [
            "SELECT MIN(lease_until) AS at FROM jobs WHERE lease_until <> 0 AND lease_until > ?",
            "SELECT MIN(stands_until) AS at FROM clock WHERE stands_until > ?",
        ] {
            if let end = try first(sql, [now.real]) { waits.append(end.rawValue - now.real.rawValue) }
        }
        return waits.min()
    }

    /// Finds the next end of an open order.
    package func nextExpiry(after time: Timestamp) throws(StoreError) -> Timestamp? {
        try first(
            "SELECT expires_at AS at FROM orders WHERE state = 'open' AND expires_at > ? ORDER BY expires_at LIMIT 1",
            [time])
    }

    /// Finds the next act on a managed subscription, notice of a renewal, or look at a set-up.
    package func nextRenewal(after time: Timestamp) throws(StoreError) -> Timestamp? {
        let found = [
            try first(
                """
                SELECT due_at AS at FROM managed_subscriptions WHERE due_at IS NOT NULL AND due_at > ?
                ORDER BY due_at LIMIT 1
                """, [time]),
            try first(
                """
                SELECT notice_at AS at FROM managed_subscriptions WHERE notice_at IS NOT NULL AND notice_at > ?
                ORDER BY notice_at LIMIT 1
                """, [time]),
            try first(
                """
                SELECT look_at AS at FROM setups
                WHERE \(InFlight.isTrue(of: "state")) AND look_at > ? ORDER BY look_at LIMIT 1
                """, [time]),
        ]
        return found.compactMap { $0 }.min()
    }

    /// Finds the next look at a token of an external purchase.
    package func nextExternalToken(after time: Timestamp) throws(StoreError) -> Timestamp? {
        try first(
            """
            SELECT look_at AS at FROM external_tokens WHERE look_at IS NOT NULL AND look_at > ? ORDER BY look_at LIMIT 1
            """, [time])
    }

    /// Finds the next boundary of a user's entitlements.
    package func nextBoundary(after time: Timestamp) throws(StoreError) -> Timestamp? {
        try first(
            """
            SELECT next_change_at AS at FROM user_states WHERE next_change_at IS NOT NULL AND next_change_at > ?
            ORDER BY next_change_at LIMIT 1
            """, [time])
    }

    /// Finds the next time at which a payment, a refund or a subscription of one of these accounts is looked at.
    package func nextCheck(of accounts: [AccountID], after time: Timestamp) throws(StoreError) -> Timestamp? {
        var found: [Timestamp?] = []
        for table in ["payments", "refunds"] {
            found.append(
                try first(
                    """
                    SELECT look_at AS at FROM \(table)\(db.dialect.indexed(by: "\(table)_to_look_at"))
                    WHERE \(InFlight.isTrue(of: "state")) AND look_at > ? ORDER BY look_at LIMIT 1
                    """, [time]))
        }
        if !accounts.isEmpty {
            let marks = Array(repeating: "?", count: accounts.count).joined(separator: ", ")
            found.append(
                try first(
                    """
                    SELECT next_check_at AS at FROM subscriptions\(db.dialect.indexed(by: "subscriptions_to_check"))
                    WHERE next_check_at IS NOT NULL AND next_check_at > ? AND account IN (\(marks))
                    ORDER BY next_check_at LIMIT 1
                    """, [time] + accounts.map { $0 as any SQLBindable }))
        }
        return found.compactMap { $0 }.min()
    }

    /// Counts the due jobs of these kinds, those that run included.
    package func countDueJobs(of kinds: [String], at now: Timestamp) throws(StoreError) -> Int64 {
        try db.rows(
            """
            WITH wanted (kind) AS (VALUES \(Self.values(kinds)))
            SELECT CAST(SUM(n) AS BIGINT) AS n FROM (
                SELECT (SELECT COUNT(*) FROM jobs WHERE jobs.kind = w.kind AND state = 'waiting'
                    AND run_at <= \(db.dialect.businessClock)) AS n
                FROM wanted w) f
            """, kinds.map { $0 as any SQLBindable } + [now]
        ).first?.int("n") ?? 0
    }

    /// Returns whether a due job of these kinds is held by a worker.
    package func hasRunningJob(of kinds: [String], at now: ClockReading) throws(StoreError) -> Bool {
        try !db.rows(
            """
            WITH wanted (kind) AS (VALUES \(Self.values(kinds)))
            SELECT w.kind FROM wanted w WHERE EXISTS (
                SELECT 1 FROM jobs WHERE jobs.kind = w.kind AND state = 'waiting'
                    AND run_at <= \(db.dialect.businessClock) AND lease_until > \(db.dialect.realClock))
            """, kinds.map { $0 as any SQLBindable } + [now.business, now.real]
        ).isEmpty
    }

    /// Returns whether an account has subscriptions that its store still renews or retries.
    package func hasRunningSubscription(at account: AccountID) throws(StoreError) -> Bool {
        try db.row(
            """
            SELECT id FROM subscriptions\(db.dialect.indexed(by: "subscriptions_to_check"))
            WHERE next_check_at IS NOT NULL AND account = ? LIMIT 1
            """, account) != nil
    }

    private static func values(_ kinds: [String]) -> String {
        Array(repeating: "(?)", count: kinds.count).joined(separator: ", ")
    }

    private func first(_ sql: String, _ bound: [any SQLBindable]) throws(StoreError) -> Timestamp? {
        try db.rows(sql, bound).first?.optionalTime("at")
    }
}
