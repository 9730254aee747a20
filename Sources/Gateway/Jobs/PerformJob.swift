package import Domain
import Logging
package import Store

extension Gateway {
    /// Takes up to so many due jobs of these kinds.
    ///
    /// - Parameter accounts: those whose jobs are passed over; nil where it does not matter which accounts jobs ask.
    package func claimJobs(
        _ kinds: [JobKind], of endpoints: WebhookHealth = .any, besides accounts: [AccountID]? = nil, limit: Int64
    ) async throws(GatewayError) -> [ClaimedJob] {
        // Lanes are often woken for what another has taken, which should cost no transaction.
        let due = try await dueKinds(of: kinds, endpoints: endpoints, besides: accounts ?? [])
        guard let lease = due.map(\.lease).min() else { return [] }
        let now = time.now
        return try await write { tx in
            let jobs = try tx.jobs.claim(
                kinds: due.map(\.rawValue), of: endpoints, besides: accounts ?? [], limit: limit, lease: lease, at: now
            ).compactMap(ClaimedJob.init).map { (job) throws(StoreError) in try tx.prepare(job, at: now) }
            guard accounts != nil else { return jobs }
            return try jobs.map { (job) throws(StoreError) in
                var job = job
                job.accounts = Set(try tx.jobs.listAccounts(of: job.subject))
                return job
            }
        }
    }

    /// Those of these kinds for which there is work that nobody does.
    func dueKinds(
        of kinds: [JobKind], endpoints: WebhookHealth = .any, besides accounts: [AccountID] = []
    ) async throws(GatewayError) -> [JobKind] {
        let now = time.now
        let names = kinds.map(\.rawValue)
        return try await read { db in
            try db.jobs.listDueKinds(of: names, endpoints: endpoints, besides: accounts, at: now)
        }
        .compactMap(JobKind.init)
    }

    /// Takes one job, due or not; nil when it is another worker's, has ended or is in quarantine.
    func claimJob(_ kind: JobKind, subject: String) async throws(GatewayError) -> ClaimedJob? {
        let now = time.now
        return try await write { tx in
            try tx.jobs.claim(kind: kind.rawValue, subject: subject, lease: kind.lease, at: now)
                .flatMap(ClaimedJob.init).map { (job) throws(StoreError) in try tx.prepare(job, at: now) }
        }
    }

    /// Runs one job now, where nobody else does; for what need not wait for a worker's next look.
    ///
    /// A client who hangs up does not end the run.
    func performNow(_ kind: JobKind, subject: String) async throws(GatewayError) {
        guard let job = try await claimJob(kind, subject: subject) else { return }
        await calls.perform { await self.perform(job) }
    }

    /// Runs a claimed job under its lease.
    package func perform(_ job: ClaimedJob) async {
        await perform(job) { (job) async throws(GatewayError) in try await self.work(job) }
    }

    /// Runs a claimed job again and again under its one lease, until it has to be given back.
    ///
    /// - Parameter pause: returns when it is time to look again, false when it is time to stop.
    func perform(_ job: ClaimedJob, again pause: @escaping @Sendable (UInt64) async -> Bool) async {
        await perform(job) { (job) async throws(GatewayError) in
            while true {
                let asked = self.outbox.asked
                let outcome = try await self.work(job)
                guard await pause(asked) else { return outcome }
            }
        }
    }

    /// Runs a claimed job's work under its lease, which is kept alive meanwhile, and records how it ended; a lost lease
    /// records nothing.
    func perform(
        _ job: ClaimedJob, _ work: @escaping @Sendable (ClaimedJob) async throws(GatewayError) -> JobOutcome
    ) async {
        await keepingLease(of: job) { await self.run(job, work) }
    }

    private func run(
        _ job: ClaimedJob, _ work: @escaping @Sendable (ClaimedJob) async throws(GatewayError) -> JobOutcome
    ) async {
        if job.silence > JobKind.mostSilentRuns {
            // So many runs ended without a word, perhaps together with their process.
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
            // The lease runs out by itself, and the job is taken again.
            logger.warning("a job's end was not recorded", metadata: job.metadata)
        }
    }

    /// Who acts when a job does.
    func cause(_ job: ClaimedJob) -> Cause { Cause(actor: .system(job.kind.rawValue), requestID: job.id.rawValue) }

    /// What each kind does.
    private func work(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        switch job.kind {
        case .processNotification: try await processNotification(job)
        case .expireOrder: try await expireOrder(job)
        case .reconcilePayment: try await reconcilePayment(job)
        case .reconcileRefund: try await reconcileRefund(job)
        case .closeAttempts: try await closeAttempts(job)
        case .completeRequest: try await completeRequest(job)
        case .syncAccount: try await syncAccount(job)
        case .checkSubscription: try await checkSubscription(job)
        case .replayNotifications: try await replayNotifications(job)
        case .answerConsumption: try await answerConsumption(job)
        case .checkReceipt: try await checkReceipt(job)
        case .grantUnmapped: try await grantUnmapped(job)
        case .regradePurchases: try await regradePurchases(job)
        case .findWork: try await findWork()
        case .crossBoundaries: try await crossBoundaries()
        case .dispatchEvents: try await dispatchEvents()
        case .deliverWebhook: try await deliverWebhook(job)
        case .retryDeliveries: try await retryDeliveries(job)
        case .endDeliveries: try await endDeliveries(job)
        case .sealAudit: try await sealAudit()
        case .applyRetention: try await applyRetention()
        }
    }

    private func record(_ end: Result<JobOutcome, JobFailure>, of job: ClaimedJob) async throws(GatewayError) -> Bool {
        let now = time.now
        let lease = job.lease
        switch end {
        case .success(.done):
            return try await write { tx in try tx.jobs.finish(lease, requests: job.asked, at: now) }
        case .success(.again(let delay)):
            return try await write { tx in
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
        return try await write { tx in
            try tx.jobs.postponeFailed(job.lease, delay: delay, error: reason.stored(500), isAnew: isAnew, at: now)
        }
    }

    private func quarantine(_ job: ClaimedJob, _ reason: String) async throws(GatewayError) -> Bool {
        logger.error("a job is in quarantine", metadata: job.metadata)
        return try await write { tx in
            // First of all the lease: without it, another worker is processing that notification.
            guard try tx.jobs.quarantine(job.lease, error: reason.stored(500)) else { return false }
            if job.kind == .processNotification, let id = ID<Domain.Notification>(job.subject) {
                try tx.notifications.quarantine(id)
            }
            return true
        }
    }
}

extension Transaction {
    /// Says when a job is due again if its run ends without a word.
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
