package import Domain

/// A stored job.
package struct JobRecord: Sendable {
    package let id: ID<Job>
    package let kind: String
    package let subject: String
    package let state: Job.State
    package let runAt: Timestamp
    /// The attempts since the last success.
    package let attempts: Int64
    /// The attempts since the last one that recorded its end; more than one means that a process died during an
    /// attempt.
    package let silence: Int64
    /// The number of times that it was enqueued.
    package let requests: Int64
    package let epoch: Int64
    /// True while an attempt holds the lease.
    package let isRunning: Bool
    package let error: String
    package let createdAt: Timestamp
}

/// The lease of one attempt; the attempt's writes count only while it holds the lease.
package struct JobLease: Sendable, Equatable {
    package let job: ID<Job>
    package let epoch: Int64

    package init(job: ID<Job>, epoch: Int64) {
        self.job = job
        self.epoch = epoch
    }
}

/// A restriction of webhook jobs by the health of their endpoints.
package enum WebhookHealth: Sendable, Equatable {
    case any
    /// Endpoints without failures, or failing for at most this number of seconds.
    case healthy(grace: Int64)
    /// Endpoints that have only failed, for more than this number of seconds.
    case failing(grace: Int64)

    /// A condition on `jobs`, with its arguments.
    fileprivate func condition(_ dialect: Dialect, at now: ClockReading) -> (sql: String, bound: [any SQLBindable]) {
        let isFailing = """
            EXISTS (SELECT 1 FROM webhooks w WHERE w.id = jobs.subject AND w.failing_since < \(dialect.businessClock) - ?)
            """
        switch self {
        case .any: return ("", [])
        case .healthy(let grace): return (" AND NOT " + isFailing, [now.business, grace])
        case .failing(let grace): return (" AND " + isFailing, [now.business, grace])
        }
    }
}

/// The job queue.
///
/// `db.jobs` reads; `tx.jobs` also writes.
package struct JobQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var jobs: JobQueries<any Database> { JobQueries(db: self, tx: self) }
}

extension Transaction {
    package var jobs: JobQueries<any Transaction> { JobQueries(db: self, tx: self) }
}

extension JobQueries {
    /// Returns whether there is any job of this kind.
    package func hasAny(_ kind: String) throws(StoreError) -> Bool {
        try !db.rows("SELECT id FROM jobs WHERE kind = ? LIMIT 1", [kind]).isEmpty
    }

    package func find(_ id: ID<Job>, at now: Timestamp) throws(StoreError) -> JobRecord? {
        try db.rows(
            "SELECT *, CASE WHEN lease_until > \(db.dialect.realClock) THEN 1 ELSE 0 END AS is_running FROM jobs WHERE id = ?",
            [now, id]
        ).first.map(JobRecord.init(row:))
    }

    /// Lists those of these kinds that have at least one due job without a lease.
    ///
    /// - Parameter isMove: true for a move of the clock; while one holds the clock, nothing is due for anybody else.
    package func listDueKinds(
        of kinds: [String], endpoints health: WebhookHealth = .any, besides accounts: [AccountID] = [],
        inMove isMove: Bool = false, at now: ClockReading
    ) throws(StoreError) -> [String] {
        guard !kinds.isEmpty else { return [] }
        let (endpoints, others) = (health.condition(db.dialect, at: now), Self.callsNone(of: accounts))
        let values = Array(repeating: "(?)", count: kinds.count).joined(separator: ", ")
        return try db.rows(
            """
            WITH wanted (kind) AS (VALUES \(values))
            SELECT found.kind FROM (
                SELECT w.kind, (
                    SELECT 1 FROM jobs WHERE jobs.kind = w.kind AND state = 'waiting'\(endpoints.sql)
                      AND run_at <= \(db.dialect.businessClock) AND lease_until <= \(db.dialect.realClock)\(others.sql) LIMIT 1) AS due
                FROM wanted w) found
            WHERE found.due = 1\(isMove ? "" : " AND " + db.dialect.clockRuns)
            """,
            kinds.map { $0 as any SQLBindable } + endpoints.bound + [now.business, now.real] + others.bound
                + (isMove ? [] : [now.real])
        ).map { row throws(StoreError) in try row.text("kind") }
    }

    package func findID(kind: String, subject: String) throws(StoreError) -> ID<Job>? {
        try db.row("SELECT id FROM jobs WHERE kind = ? AND subject = ?", kind, subject)?.id("id")
    }

    /// Lists jobs, newest first; nil lists all states.
    ///
    /// - Parameter now: the real time, by which leases end.
    package func list(
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
        return try db.rows(
            "SELECT *, CASE WHEN lease_until > \(db.dialect.realClock) THEN 1 ELSE 0 END AS is_running FROM jobs"
                + restriction
                + " ORDER BY id DESC LIMIT ?", arguments
        ).map(JobRecord.init(row:))
    }
}

// Leases are timed by the real clock, due times by business time; on PostgreSQL both are the database's, so that no node's
// clock can begin or extend a lease.
extension JobQueries where Connection == any Transaction {
    /// Enqueues a job: a waiting one becomes due earlier, a running one runs again, a quarantined one stays there.
    ///
    /// - Parameter delay: seconds from now.
    package func enqueue(
        _ id: ID<Job>, kind: String, subject: String, delay: Int64, at now: Timestamp
    ) throws(StoreError) {
        tx.markDueTimes()
        let time = tx.dialect.businessClock
        try tx.enqueue(
            """
            INSERT INTO jobs (id, kind, subject, state, run_at, created_at) VALUES (?, ?, ?, 'waiting', \(time) + ?, ?)
            ON CONFLICT (kind, subject) DO UPDATE SET asked = jobs.asked + 1,
                run_at = CASE WHEN excluded.run_at < jobs.run_at THEN excluded.run_at ELSE jobs.run_at END
            WHERE jobs.state = 'waiting'
            """, id, kind, subject, now, delay, now)
    }

    /// Inserts a job unless there is one with this kind and subject.
    package func ensure(
        _ id: ID<Job>, kind: String, subject: String, at now: Timestamp
    ) throws(StoreError) {
        tx.markDueTimes()
        try tx.enqueue(
            """
            INSERT INTO jobs (id, kind, subject, state, run_at, created_at) VALUES (?, ?, ?, 'waiting', \(tx.dialect.businessClock), ?)
            ON CONFLICT DO NOTHING
            """, id, kind, subject, now, now)
    }

    /// Inserts a job under its first lease, so that the process that makes it runs it at once, unless there is one with
    /// this kind and subject.
    ///
    /// - Parameters:
    ///   - lease: a lease of a new job, with the epoch 1.
    ///   - requests: the number of requests for the job, which its end compares.
    ///   - seconds: the length of the lease.
    /// - Returns: false where there is such a job, which another process may be running.
    package func insertClaimed(
        _ lease: JobLease, kind: String, subject: String, requests: Int64, for seconds: Int64, at now: ClockReading
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            INSERT INTO jobs
                (id, kind, subject, state, run_at, asked, lease_until, lease_epoch, attempts, silence, created_at)
            VALUES (?, ?, ?, 'waiting', \(tx.dialect.businessClock), ?, \(tx.dialect.realClock) + ?, ?, 1, 1, ?)
            ON CONFLICT DO NOTHING
            """, lease.job, kind, subject, now.business, requests, now.real, seconds, lease.epoch, now.business) == 1
    }

    /// Claims due jobs of these kinds, each under a new lease, longest due first.
    ///
    /// Each kind is searched by itself: only then does the index give due jobs in their order. A search for a list of
    /// kinds would read all waiting jobs, such as those of every open order.
    ///
    /// - Parameters:
    ///   - accounts: jobs that call one of these accounts are left out.
    ///   - isMove: true for a move of the clock; while one holds the clock, nobody else claims a job.
    package func claim(
        kinds: [String], of health: WebhookHealth = .any, besides accounts: [AccountID] = [], limit: Int64,
        lease: Int64, inMove isMove: Bool = false, at now: ClockReading
    ) throws(StoreError) -> [JobRecord] {
        guard !kinds.isEmpty else { return [] }
        let (endpoints, others) = (health.condition(tx.dialect, at: now), Self.callsNone(of: accounts))
        let ofKind = """
            SELECT id, run_at FROM (
                SELECT id, run_at FROM jobs
                WHERE state = 'waiting' AND kind = ?\(endpoints.sql) AND run_at <= \(tx.dialect.businessClock)
                  AND lease_until <= \(tx.dialect.realClock)\(others.sql)
                ORDER BY run_at, id LIMIT ?\(tx.dialect.skipLocked)) AS of_kind
            """
        let all = kinds.map { _ in ofKind }.joined(separator: " UNION ALL ")
        let bound = kinds.flatMap { kind -> [any SQLBindable] in
            [kind] + endpoints.bound + [now.business, now.real] + others.bound + [limit]
        }
        let paused = isMove ? "" : " WHERE " + tx.dialect.clockRuns
        return try claim(
            "SELECT id FROM (\(all)) AS of_all\(paused) ORDER BY run_at, id LIMIT ?",
            bound + (isMove ? [] : [now.real]) + [limit], lease: lease, at: now.real)
    }

    /// Claims one job under a new lease, due or not; nil when another attempt has the lease or the job is in
    /// quarantine.
    ///
    /// - Parameter now: the real time.
    package func claim(
        kind: String, subject: String, lease: Int64, at now: Timestamp
    ) throws(StoreError) -> JobRecord? {
        let choice = """
            SELECT id FROM jobs
            WHERE state = 'waiting' AND kind = ? AND subject = ? AND lease_until <= \(tx.dialect.realClock)\(tx.dialect.skipLocked)
            """
        return try claim(choice, [kind, subject, now], lease: lease, at: now).first
    }

    /// Claims the chosen jobs under a new lease.
    ///
    /// - Parameters:
    ///   - choice: a query of ids. It is materialized, because a subquery with a limit could be evaluated again for every
    ///     row.
    ///   - now: the real time.
    private func claim(
        _ choice: String, _ bound: [any SQLBindable], lease: Int64, at now: Timestamp
    ) throws(StoreError) -> [JobRecord] {
        try tx.rows(
            """
            WITH due AS MATERIALIZED (\(choice))
            UPDATE jobs SET lease_until = \(tx.dialect.realClock) + ?, lease_epoch = lease_epoch + 1, attempts = attempts + 1,
                silence = silence + 1
            WHERE id IN (SELECT id FROM due)
            RETURNING *, 1 AS is_running
            """, bound + [now, lease]
        ).map(JobRecord.init(row:))
    }

    /// Sets the due time of a running job, for the case that its lease expires.
    ///
    /// - Parameter error: the text about the attempts before this one.
    package func postponeAfterLease(
        _ lease: JobLease, by seconds: Int64, error: String, at now: Timestamp
    ) throws(StoreError) {
        try tx.enqueue(
            "UPDATE jobs SET run_at = \(tx.dialect.businessClock) + ?, error = ? WHERE id = ? AND lease_epoch = ?", now,
            seconds,
            error, lease.job, lease.epoch)
    }

    /// Extends a lease; a late heartbeat does not extend a lease that its attempt has given back.
    ///
    /// - Parameter now: the real time.
    /// - Returns: false when the lease was lost; the attempt must stop.
    package func extend(_ lease: JobLease, by seconds: Int64, at now: Timestamp) throws(StoreError) -> Bool {
        try tx.execute(
            "UPDATE jobs SET lease_until = \(tx.dialect.realClock) + ? WHERE id = ? AND lease_epoch = ? AND lease_until > 0",
            now, seconds, lease.job, lease.epoch) == 1
    }

    /// Returns whether this attempt still has the lease; until the commit no other attempt can claim the job.
    ///
    /// The job may be enqueued again meanwhile: a stronger lock would deadlock with that.
    package func isCurrent(_ lease: JobLease) throws(StoreError) -> DeferredResult<Bool> {
        let sql = "SELECT id FROM jobs WHERE id = ? AND lease_epoch = ?"
        return try tx.deferredRows(sql + tx.dialect.forKeyShare, lease.job, lease.epoch).map { !$0.isEmpty }
    }

    /// Deletes a job after a successful attempt; one that was enqueued again meanwhile is due at once instead.
    ///
    /// - Returns: false when the lease was lost.
    package func finish(_ lease: JobLease, requests: Int64, at now: Timestamp) throws(StoreError) -> Bool {
        let ended = try tx.execute(
            "DELETE FROM jobs WHERE id = ? AND lease_epoch = ? AND asked = ?", lease.job, lease.epoch, requests)
        if ended == 1 { return true }
        tx.markDueTimes()
        return try tx.execute(
            """
            UPDATE jobs SET lease_until = 0, attempts = 0, silence = 0, error = '', run_at = \(tx.dialect.businessClock)
            WHERE id = ? AND lease_epoch = ?
            """, now, lease.job, lease.epoch) == 1
    }

    /// Postpones a job after a successful attempt; one that was enqueued again meanwhile is due at once.
    ///
    /// - Returns: false when the lease was lost.
    package func postpone(
        _ lease: JobLease, requests: Int64, delay: Int64, at now: Timestamp
    ) throws(StoreError) -> Bool {
        tx.markDueTimes()
        return try tx.execute(
            """
            UPDATE jobs SET lease_until = 0, attempts = 0, silence = 0, error = '',
                run_at = \(tx.dialect.businessClock) + CASE WHEN asked = ? THEN ? ELSE 0 END
            WHERE id = ? AND lease_epoch = ?
            """, now, requests, delay, lease.job, lease.epoch) == 1
    }

    /// Postpones a job after a failed attempt.
    ///
    /// - Parameter isAnew: true resets the count of attempts to 0.
    /// - Returns: false when the lease was lost.
    package func postponeFailed(
        _ lease: JobLease, delay: Int64, error: String, isAnew: Bool, at now: Timestamp
    ) throws(StoreError) -> Bool {
        tx.markDueTimes()
        return try tx.execute(
            """
            UPDATE jobs SET lease_until = 0, attempts = CASE WHEN ? = 1 THEN 0 ELSE attempts END, silence = 0,
                error = ?, run_at = \(tx.dialect.businessClock) + ?
            WHERE id = ? AND lease_epoch = ?
            """, isAnew, error, now, delay, lease.job, lease.epoch) == 1
    }

    /// - Returns: false when the lease was lost.
    package func quarantine(_ lease: JobLease, error: String) throws(StoreError) -> Bool {
        try tx.execute(
            "UPDATE jobs SET state = 'quarantined', lease_until = 0, error = ? WHERE id = ? AND lease_epoch = ?", error,
            lease.job, lease.epoch) == 1
    }

    /// Makes a job due now, also one in quarantine.
    ///
    /// - Returns: false when there is no such job.
    package func retry(_ id: ID<Job>, at now: Timestamp) throws(StoreError) -> Bool {
        tx.markDueTimes()
        return try tx.execute(
            """
            UPDATE jobs SET state = 'waiting', attempts = 0, silence = 0, asked = asked + 1, run_at = \(tx.dialect.businessClock)
            WHERE id = ?
            """, now, id) == 1
    }

    /// Ends every lease: the only process that uses the database has just started, so no attempt is running.
    package func endLeases() throws(StoreError) {
        tx.markDueTimes()
        try tx.execute("UPDATE jobs SET lease_until = 0 WHERE lease_until <> 0")
    }

    /// Takes a subject's job out of quarantine.
    package func release(kind: String, subject: String, at now: Timestamp) throws(StoreError) {
        tx.markDueTimes()
        try tx.enqueue(
            """
            UPDATE jobs SET state = 'waiting', attempts = 0, silence = 0, run_at = \(tx.dialect.businessClock)
            WHERE kind = ? AND subject = ? AND state = 'quarantined'
            """, now, kind, subject)
    }

    /// Deletes a subject's job, whatever its state.
    package func delete(kind: String, subject: String) throws(StoreError) {
        try tx.enqueue("DELETE FROM jobs WHERE kind = ? AND subject = ?", kind, subject)
    }
}

extension JobRecord {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.id("id"), kind: try row.text("kind"), subject: try row.text("subject"),
            state: try row.choice("state"), runAt: try row.time("run_at"), attempts: try row.int("attempts"),
            silence: try row.int("silence"), requests: try row.int("asked"), epoch: try row.int("lease_epoch"),
            isRunning: try row.bool("is_running"),
            error: try row.text("error"), createdAt: try row.time("created_at"))
    }
}
