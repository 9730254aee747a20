package import Domain

/// A job as it is stored.
package struct JobRecord: Sendable {
    package let id: ID<Job>
    package let kind: String
    package let subject: String
    package let state: Job.State
    package let runAt: Timestamp
    /// Runs since the last success.
    package let attempts: Int64
    /// Runs since the last one that said how it ended.
    package let silence: Int64
    package let asked: Int64
    package let epoch: Int64
    /// Whether a lease is being held.
    package let isRunning: Bool
    package let error: String
    package let createdAt: Timestamp
}

/// The lease of one run; what the run writes counts only while it is held.
package struct JobLease: Sendable, Equatable {
    package let job: ID<Job>
    package let epoch: Int64

    package init(job: ID<Job>, epoch: Int64) {
        self.job = job
        self.epoch = epoch
    }
}

/// Which endpoints' jobs are meant, where the subjects are webhooks.
package enum WebhookHealth: Sendable, Equatable {
    case any
    /// Those that took something lately, or have failed for at most so many seconds.
    case healthy(grace: Int64)
    /// Those that have only failed for longer.
    case failing(grace: Int64)

    /// The condition on `jobs`, with what it binds.
    fileprivate func condition(_ dialect: Dialect, at now: Timestamp) -> (sql: String, bound: [any SQLBindable]) {
        let isFailing = """
            EXISTS (SELECT 1 FROM webhooks w WHERE w.id = jobs.subject AND w.failing_since < \(dialect.clock) - ?)
            """
        switch self {
        case .any: return ("", [])
        case .healthy(let grace): return (" AND NOT " + isFailing, [now, grace])
        case .failing(let grace): return (" AND " + isFailing, [now, grace])
        }
    }
}

// Leases count by the database's clock, so that no node's own clock can take or keep one.
extension Transaction {
    /// Asks for work: a job that waits is brought forward, one that runs is run again, one in quarantine stays there.
    ///
    /// - Parameter delay: seconds from now.
    package func enqueueJob(
        _ id: ID<Job>, kind: String, subject: String, delay: Int64, at now: Timestamp
    ) throws(StoreError) {
        let time = dialect.clock
        try send(
            """
            INSERT INTO jobs (id, kind, subject, state, run_at, created_at) VALUES (?, ?, ?, 'waiting', \(time) + ?, ?)
            ON CONFLICT (kind, subject) DO UPDATE SET asked = jobs.asked + 1,
                run_at = CASE WHEN excluded.run_at < jobs.run_at THEN excluded.run_at ELSE jobs.run_at END
            WHERE jobs.state = 'waiting'
            """, id, kind, subject, now, delay, now)
    }

    /// Makes sure that a job exists; one that does is left alone.
    package func ensureJob(
        _ id: ID<Job>, kind: String, subject: String, at now: Timestamp
    ) throws(StoreError) {
        try send(
            """
            INSERT INTO jobs (id, kind, subject, state, run_at, created_at) VALUES (?, ?, ?, 'waiting', \(dialect.clock), ?)
            ON CONFLICT DO NOTHING
            """, id, kind, subject, now, now)
    }

    /// Takes due jobs of some kinds under a new lease each, the longest due first.
    ///
    /// Each kind is looked for by itself: only then does the index give what is due, in its order. A list of kinds is
    /// looked for among all jobs that wait, such as those of every open order.
    /// - Parameter accounts: those whose jobs are passed over.
    package func claimJobs(
        kinds: [String], of health: WebhookHealth = .any, besides accounts: [AccountID] = [], limit: Int64,
        lease: Int64, at now: Timestamp
    ) throws(StoreError) -> [JobRecord] {
        guard !kinds.isEmpty else { return [] }
        let (endpoints, others) = (health.condition(dialect, at: now), Self.asksNone(of: accounts))
        let ofKind = """
            SELECT id, run_at FROM (
                SELECT id, run_at FROM jobs
                WHERE state = 'waiting' AND kind = ?\(endpoints.sql) AND run_at <= \(dialect.clock)
                  AND lease_until <= \(dialect.clock)\(others.sql)
                ORDER BY run_at, id LIMIT ?\(dialect.skipLocked)) AS of_kind
            """
        let all = kinds.map { _ in ofKind }.joined(separator: " UNION ALL ")
        let bound = kinds.flatMap { kind -> [any SQLBindable] in
            [kind] + endpoints.bound + [now, now] + others.bound + [limit]
        }
        return try claim(
            "SELECT id FROM (\(all)) AS of_all ORDER BY run_at, id LIMIT ?", bound + [limit], lease: lease, at: now)
    }

    /// Takes one job under a new lease whenever it is due; nil when somebody else runs it or it is in quarantine.
    package func claimJob(
        kind: String, subject: String, lease: Int64, at now: Timestamp
    ) throws(StoreError) -> JobRecord? {
        let choice = """
            SELECT id FROM jobs
            WHERE state = 'waiting' AND kind = ? AND subject = ? AND lease_until <= \(dialect.clock)\(dialect.skipLocked)
            """
        return try claim(choice, [kind, subject, now], lease: lease, at: now).first
    }

    /// Takes the chosen jobs under a lease.
    ///
    /// - Parameter choice: a query of ids. It stands apart, because a subquery may be run again for every row, and its limit
    ///   with it.
    private func claim(
        _ choice: String, _ bound: [any SQLBindable], lease: Int64, at now: Timestamp
    ) throws(StoreError) -> [JobRecord] {
        try rows(
            """
            WITH due AS MATERIALIZED (\(choice))
            UPDATE jobs SET lease_until = \(dialect.clock) + ?, lease_epoch = lease_epoch + 1, attempts = attempts + 1,
                silence = silence + 1
            WHERE id IN (SELECT id FROM due)
            RETURNING *, 1 AS is_running
            """, bound + [now, lease]
        ).map { row throws(StoreError) in try Self.job(row) }
    }

    /// Sets when a running job is due again if its lease ends by itself.
    ///
    /// - Parameter error: what is known of the runs before this one.
    package func putOffNextRun(
        _ lease: JobLease, by seconds: Int64, error: String, at now: Timestamp
    ) throws(StoreError) {
        try send(
            "UPDATE jobs SET run_at = \(dialect.clock) + ?, error = ? WHERE id = ? AND lease_epoch = ?", now, seconds,
            error, lease.job, lease.epoch)
    }

    /// A lease that its run has given back stays so, even where a beat comes late.
    ///
    /// - Returns: false when the lease was lost; the run must stop.
    package func extendJob(_ lease: JobLease, by seconds: Int64, at now: Timestamp) throws(StoreError) -> Bool {
        try run(
            "UPDATE jobs SET lease_until = \(dialect.clock) + ? WHERE id = ? AND lease_epoch = ? AND lease_until > 0",
            now, seconds, lease.job, lease.epoch) == 1
    }

    /// Whether the lease is still this run's; until the commit nobody else can take it.
    ///
    /// Others may ask for the job again meanwhile: a stronger lock would cross theirs.
    package func holds(_ lease: JobLease) throws(StoreError) -> Pending<Bool> {
        let sql = "SELECT id FROM jobs WHERE id = ? AND lease_epoch = ?"
        return try ask(sql + dialect.forKeyShare, lease.job, lease.epoch).map { !$0.isEmpty }
    }

    /// Ends a job; one that was asked for again meanwhile is due at once instead.
    ///
    /// - Returns: false when the lease was lost.
    package func finishJob(_ lease: JobLease, asked: Int64, at now: Timestamp) throws(StoreError) -> Bool {
        let ended = try run(
            "DELETE FROM jobs WHERE id = ? AND lease_epoch = ? AND asked = ?", lease.job, lease.epoch, asked)
        if ended == 1 { return true }
        return try run(
            """
            UPDATE jobs SET lease_until = 0, attempts = 0, silence = 0, error = '', run_at = \(dialect.clock)
            WHERE id = ? AND lease_epoch = ?
            """, now, lease.job, lease.epoch) == 1
    }

    /// Puts a job off after a good run; one that was asked for again meanwhile is due at once.
    ///
    /// - Returns: false when the lease was lost.
    package func putOffJob(
        _ lease: JobLease, asked: Int64, delay: Int64, at now: Timestamp
    ) throws(StoreError) -> Bool {
        try run(
            """
            UPDATE jobs SET lease_until = 0, attempts = 0, silence = 0, error = '',
                run_at = \(dialect.clock) + CASE WHEN asked = ? THEN ? ELSE 0 END
            WHERE id = ? AND lease_epoch = ?
            """, now, asked, delay, lease.job, lease.epoch) == 1
    }

    /// Puts a job off after a run that failed.
    ///
    /// - Parameter isAnew: whether the count of attempts begins anew.
    /// - Returns: false when the lease was lost.
    package func putOffFailedJob(
        _ lease: JobLease, delay: Int64, error: String, isAnew: Bool, at now: Timestamp
    ) throws(StoreError) -> Bool {
        try run(
            """
            UPDATE jobs SET lease_until = 0, attempts = CASE WHEN ? = 1 THEN 0 ELSE attempts END, silence = 0,
                error = ?, run_at = \(dialect.clock) + ?
            WHERE id = ? AND lease_epoch = ?
            """, isAnew, error, now, delay, lease.job, lease.epoch) == 1
    }

    /// - Returns: false when the lease was lost.
    package func quarantineJob(_ lease: JobLease, error: String) throws(StoreError) -> Bool {
        try run(
            "UPDATE jobs SET state = 'quarantined', lease_until = 0, error = ? WHERE id = ? AND lease_epoch = ?", error,
            lease.job, lease.epoch) == 1
    }

    /// Makes a job due now, out of the quarantine too.
    ///
    /// - Returns: false when there is no such job.
    package func retryJob(_ id: ID<Job>, at now: Timestamp) throws(StoreError) -> Bool {
        try run(
            """
            UPDATE jobs SET state = 'waiting', attempts = 0, silence = 0, asked = asked + 1, run_at = \(dialect.clock)
            WHERE id = ?
            """, now, id) == 1
    }

    /// Ends every lease: the process that owns the database has just started, so whoever held one is gone.
    package func endLeases() throws(StoreError) { try run("UPDATE jobs SET lease_until = 0 WHERE lease_until <> 0") }

    /// Takes a subject's job out of the quarantine.
    package func releaseJob(kind: String, subject: String, at now: Timestamp) throws(StoreError) {
        try send(
            """
            UPDATE jobs SET state = 'waiting', attempts = 0, silence = 0, run_at = \(dialect.clock)
            WHERE kind = ? AND subject = ? AND state = 'quarantined'
            """, now, kind, subject)
    }

    /// Forgets a subject's job, in whatever state.
    package func dropJob(kind: String, subject: String) throws(StoreError) {
        try send("DELETE FROM jobs WHERE kind = ? AND subject = ?", kind, subject)
    }
}

extension Database {
    /// Whether there is any job of this kind.
    package func hasJob(_ kind: String) throws(StoreError) -> Bool {
        try !rows("SELECT id FROM jobs WHERE kind = ? LIMIT 1", [kind]).isEmpty
    }

    package func job(_ id: ID<Job>, at now: Timestamp) throws(StoreError) -> JobRecord? {
        try rows(
            "SELECT *, CASE WHEN lease_until > \(dialect.clock) THEN 1 ELSE 0 END AS is_running FROM jobs WHERE id = ?",
            [now, id]
        ).first.map { row throws(StoreError) in try Self.job(row) }
    }

    /// Those of these kinds of which a job is due that nobody runs.
    ///
    /// One of each kind is enough, however many are due.
    package func dueKinds(
        of kinds: [String], endpoints health: WebhookHealth = .any, besides accounts: [AccountID] = [],
        at now: Timestamp
    ) throws(StoreError) -> [String] {
        guard !kinds.isEmpty else { return [] }
        let (endpoints, others) = (health.condition(dialect, at: now), Self.asksNone(of: accounts))
        let values = Array(repeating: "(?)", count: kinds.count).joined(separator: ", ")
        return try rows(
            """
            WITH wanted (kind) AS (VALUES \(values))
            SELECT found.kind FROM (
                SELECT w.kind, (
                    SELECT 1 FROM jobs WHERE jobs.kind = w.kind AND state = 'waiting'\(endpoints.sql)
                      AND run_at <= \(dialect.clock) AND lease_until <= \(dialect.clock)\(others.sql) LIMIT 1) AS due
                FROM wanted w) found
            WHERE found.due = 1
            """, kinds.map { $0 as any SQLBindable } + endpoints.bound + [now, now] + others.bound
        ).map { row throws(StoreError) in try row.text("kind") }
    }

    package func jobID(kind: String, subject: String) throws(StoreError) -> ID<Job>? {
        try row("SELECT id FROM jobs WHERE kind = ? AND subject = ?", kind, subject)?.id("id")
    }

    /// Newest first; a state that is nil restricts nothing.
    package func jobs(
        _ state: Job.State?, before cursor: String?, limit: Int64, at now: Timestamp
    ) throws(StoreError) -> [JobRecord] {
        var conditions: [String] = []
        var arguments: [any SQLBindable] = [now]
        if let state {
            conditions.append("state = ?")
            arguments.append(state.rawValue)
        }
        if let cursor {
            conditions.append("id < ?")
            arguments.append(cursor)
        }
        let restriction = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        arguments.append(limit)
        return try rows(
            "SELECT *, CASE WHEN lease_until > \(dialect.clock) THEN 1 ELSE 0 END AS is_running FROM jobs" + restriction
                + " ORDER BY id DESC LIMIT ?", arguments
        ).map { row throws(StoreError) in try Self.job(row) }
    }

    static func job(_ row: Row) throws(StoreError) -> JobRecord {
        JobRecord(
            id: try row.id("id"), kind: try row.text("kind"), subject: try row.text("subject"),
            state: try row.choice("state"), runAt: try row.time("run_at"), attempts: try row.int("attempts"),
            silence: try row.int("silence"), asked: try row.int("asked"), epoch: try row.int("lease_epoch"),
            isRunning: try row.bool("is_running"),
            error: try row.text("error"), createdAt: try row.time("created_at"))
    }
}
