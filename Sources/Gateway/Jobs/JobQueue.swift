package import Domain
import Logging
import ServiceLifecycle
package import Store

/// The queue of jobs: claims due jobs, runs them under leases and records how they ended.
package struct JobQueue: Sendable {
    let store: StoreAccess
    let calls: ProviderCalls
    let time: BusinessTime
    /// The position that each search for jobs reads anew; nil where nobody can move the clock.
    let movable: NodeClock?
    /// Sleeps; returns at once when its task is cancelled.
    let pause: @Sendable (Duration) async -> Void
    let logger: Logger

    /// Claims due jobs of these kinds, at most `limit`.
    ///
    /// - Parameters:
    ///   - accounts: the accounts whose jobs are left out; nil where jobs are not counted by account.
    ///   - isMove: true for a move of the clock, during which nobody else gets a job.
    package func claim(
        _ kinds: [JobKind], of endpoints: WebhookHealth = .any, besides accounts: [AccountID]? = nil, limit: Int64,
        inMove isMove: Bool = false
    ) async throws(GatewayError) -> [ClaimedJob] {
        // A lane is often woken for a job that another one has taken; the check before it saves a transaction.
        let due = try await dueKinds(
            of: kinds, endpoints: endpoints, besides: accounts ?? [], inMove: isMove)
        guard let lease = due.map(\.lease).min() else { return [] }
        let now = time.reading
        return try await store.write { tx in
            let jobs = try tx.jobs.claim(
                kinds: due.map(\.rawValue), of: endpoints, besides: accounts ?? [], limit: limit, lease: lease,
                inMove: isMove, at: now
            ).compactMap(ClaimedJob.init).map { (job) throws(StoreError) in try tx.prepare(job, at: now.business) }
            guard accounts != nil else { return jobs }
            return try jobs.map { (job) throws(StoreError) in
                var job = job
                job.accounts = Set(try tx.jobs.listAccounts(of: job.subject))
                return job
            }
        }
    }

    /// The kinds among these for which a job is due that no worker holds.
    func dueKinds(
        of kinds: [JobKind], endpoints: WebhookHealth = .any, besides accounts: [AccountID] = [],
        inMove isMove: Bool = false
    ) async throws(GatewayError) -> [JobKind] {
        let now = time.reading
        let (names, reads) = (kinds.map(\.rawValue), movable != nil)
        let (due, state) = try await store.read { db in
            (
                try db.jobs.listDueKinds(of: names, endpoints: endpoints, besides: accounts, inMove: isMove, at: now),
                reads ? try db.clock.find() : nil
            )
        }
        if let state { movable?.adopt(state) }
        return due.compactMap(JobKind.init)
    }

    /// The kinds among these for which a job is due that no worker holds; where none is, the time after which one may be.
    ///
    /// - Returns: a time that is nil where time alone makes nothing due.
    func search(for kinds: [JobKind]) async throws(GatewayError) -> (due: [JobKind], next: Duration?) {
        // The seconds that are read after these milliseconds are not earlier, so the time is never too long.
        let (milliseconds, now, names) = (time.real.milliseconds(), time.reading, kinds.map(\.rawValue))
        let (due, seconds) = try await store.read { db in
            let due = try db.jobs.listDueKinds(of: names, at: now)
            return (due, due.isEmpty ? try db.dueTimes.secondsUntilDue(of: names, at: now) : 0)
        }
        let next = seconds.map { Duration.milliseconds($0 * 1_000 - milliseconds % 1_000) }
        return (due.compactMap(JobKind.init), next)
    }

    /// Claims a job, due or not.
    ///
    /// - Returns: nil where another worker has it, or it has ended or is in quarantine.
    func claim(_ kind: JobKind, subject: String) async throws(GatewayError) -> ClaimedJob? {
        let now = time.reading
        return try await store.write { tx in
            try tx.jobs.claim(kind: kind.rawValue, subject: subject, lease: kind.lease, at: now.real)
                .flatMap(ClaimedJob.init).map { (job) throws(StoreError) in try tx.prepare(job, at: now.business) }
        }
    }

    /// Runs a job now, unless another worker has it, so that a caller need not wait for a worker.
    ///
    /// A client that disconnects does not end the run.
    func performNow(
        _ kind: JobKind, subject: String,
        _ work: @escaping @Sendable (ClaimedJob) async throws(GatewayError) -> JobOutcome
    ) async throws(GatewayError) {
        guard let job = try await claim(kind, subject: subject) else { return }
        await performNow(job, work)
    }

    /// Runs a claimed job now; a client that disconnects does not end the run.
    func performNow(
        _ job: ClaimedJob, _ work: @escaping @Sendable (ClaimedJob) async throws(GatewayError) -> JobOutcome
    ) async {
        await calls.perform { await perform(job, work) }
    }

    /// Runs a claimed job under its lease, which is extended meanwhile, and records the end.
    ///
    /// A run that has lost its lease records nothing. Its log lines name the job's id, or the request that waits for it.
    func perform(
        _ job: ClaimedJob, _ work: @escaping @Sendable (ClaimedJob) async throws(GatewayError) -> JobOutcome
    ) async {
        let trace = RequestTrace.current ?? RequestTrace(requestID: job.id.rawValue)
        await RequestTrace.$current.withValue(trace) {
            await keepingLease(of: job) { await run(job, work) }
        }
    }

    private func run(
        _ job: ClaimedJob, _ work: @escaping @Sendable (ClaimedJob) async throws(GatewayError) -> JobOutcome
    ) async {
        if job.silence > JobKind.mostSilentRuns {
            // Too many runs ended without a result, perhaps because the job crashes its process.
            guard job.kind.goesOn else {
                _ = try? await quarantine(job, job.silentRuns)
                return
            }
            // It is tried once a day all the same.
            if job.kind.waitsForMoney {
                logger.error("a job that waits for money never says how it ends", metadata: job.metadata)
            }
        }
        let end = await JobLease.$current.withValue(job.lease) { () async -> Result<JobOutcome, GatewayError> in
            do throws(GatewayError) { return .success(try await work(job)) } catch { return .failure(error) }
        }
        do throws(GatewayError) {
            guard try await record(end.mapError(JobFailure.init), of: job) else { throw .leaseLost }
        } catch {
            // The lease expires, and the job is claimed again.
            logger.warning("a job's end was not recorded", metadata: job.metadata)
        }
    }

    /// Extends a job's lease while it runs; a run that has lost its lease is cancelled before another one begins.
    ///
    /// A run may take longer than a lease, in a worker as in a request.
    private func keepingLease(of job: ClaimedJob, _ run: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await run() }
            group.addTask {
                while !Task.isCancelled {
                    await pause(.seconds(job.kind.lease / 4))
                    if Task.isCancelled { return }
                    // While the lease is valid, a database that is down for a moment is asked again.
                    guard await keepsLease(job) else { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Extends a job's lease.
    ///
    /// - Returns: false where another worker has the job.
    func keepsLease(_ job: ClaimedJob) async -> Bool {
        let now = time.real.now
        do throws(GatewayError) {
            return try await store.write { tx in try tx.jobs.extend(job.lease, by: job.kind.lease, at: now) }
        } catch {
            // The database is down: until it is back, the run cannot commit anything either.
            return true
        }
    }

    private func record(_ end: Result<JobOutcome, JobFailure>, of job: ClaimedJob) async throws(GatewayError) -> Bool {
        let now = time.now
        let lease = job.lease
        switch end {
        case .success(.recorded): return true
        case .success(.done):
            return try await store.write { tx in try tx.jobs.finish(lease, requests: job.asked, at: now) }
        case .success(.again(let delay)):
            return try await store.write { tx in
                try tx.jobs.postpone(lease, requests: job.asked, delay: delay, at: now)
            }
        case .success(.pending):
            return try await fail(job, "not final yet")
        case .failure(.retry(let reason)):
            logger.notice("a job will be tried again", metadata: job.metadata)
            return try await fail(job, reason)
        case .failure(.poison(let reason)) where job.kind.isEndless:
            logger.error("a job that must go on failed", metadata: job.metadata)
            return try await fail(job, reason)
        case .failure(.poison(let reason)):
            return try await quarantine(job, reason)
        case .failure(.leaseLost):
            return false
        }
    }

    private func fail(_ job: ClaimedJob, _ reason: String) async throws(GatewayError) -> Bool {
        let schedule = job.kind.backOff
        let isOver = job.attempt > schedule.count
        guard !isOver || job.kind.goesOn else { return try await quarantine(job, reason) }
        let delay = schedule[min(Int(job.attempt), schedule.count) - 1]
        let now = time.now
        let isAnew = isOver && job.kind.waitsForMoney
        return try await store.write { tx in
            try tx.jobs.postponeFailed(job.lease, delay: delay, error: reason.stored(500), isAnew: isAnew, at: now)
        }
    }

    private func quarantine(_ job: ClaimedJob, _ reason: String) async throws(GatewayError) -> Bool {
        logger.error("a job is in quarantine", metadata: job.metadata)
        return try await store.write { tx in
            // The lease is checked first: without it another worker is processing the notification.
            guard try tx.jobs.quarantine(job.lease, error: reason.stored(500)) else { return false }
            if job.kind == .processNotification, let id = ID<Domain.Notification>(job.subject) {
                try tx.notifications.quarantine(id)
            }
            return true
        }
    }
}

extension JobQueries where Connection == any Transaction {
    /// Inserts a job that its maker claims at once, under a first lease.
    ///
    /// - Returns: false where there is a job of this kind and subject already.
    func insert(_ job: ClaimedJob, at now: ClockReading) throws(StoreError) -> Bool {
        try insertClaimed(
            job.lease, kind: job.kind.rawValue, subject: job.subject, requests: job.asked, for: job.kind.lease,
            at: now)
    }
}

extension Transaction {
    /// Stores when a job is due again if its run ends without a result.
    fileprivate func prepare(_ job: ClaimedJob, at now: Timestamp) throws(StoreError) -> ClaimedJob {
        if let delay = job.kind.delay(afterSilence: job.silence) {
            try jobs.postponeAfterLease(job.lease, by: delay, error: job.silentRuns, at: now)
        }
        return job
    }
}

extension JobFailure {
    fileprivate init(_ error: GatewayError) {
        switch error {
        case .leaseLost: self = .leaseLost
        case .internalError: self = .poison("an error of ours; the log has it under this job's id")
        default: self = .retry("\(error)")
        }
    }
}

extension ClaimedJob {
    fileprivate var silentRuns: String { "\(silence - 1) runs ended without a result" }
    fileprivate var metadata: Logger.Metadata { ["job": "\(id)", "kind": "\(kind.rawValue)"] }

    /// nil for a kind that this release does not know; its lease runs out and a newer node takes it.
    init?(_ record: JobRecord) {
        guard let kind = JobKind(rawValue: record.kind) else { return nil }
        self.init(
            id: record.id, kind: kind, subject: record.subject, attempt: record.attempts, silence: record.silence,
            lease: JobLease(job: record.id, epoch: record.epoch), asked: record.requests)
    }
}

extension JobLease {
    /// The lease of the job that the current task runs, which every write checks; nil outside of jobs.
    @TaskLocal static var current: JobLease?

    /// Ends a run that was cancelled or whose process stops: its successor would repeat what it does next.
    ///
    /// - Throws: `leaseLost`.
    static func requireRunning() throws(GatewayError) {
        guard current != nil else { return }
        if Task.isCancelled || Task.isShuttingDownGracefully { throw .leaseLost }
    }
}
