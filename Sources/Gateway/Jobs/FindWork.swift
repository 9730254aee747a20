import Domain
import ProviderKit
import Store

extension Gateway {
    private static let findInterval: Int64 = 10
    private static let findLimit: Int64 = 500
    /// A payment that the payer has just opened need not be asked about.
    private static let settleSeconds: Int64 = 60
    private static let hangingDays: Int64 = 7

    /// Everything that must be looked after, and by which job.
    private static let due: [(kind: JobKind, work: DueWork)] = [
        (.processNotification, .storedNotifications), (.expireOrder, .expiredOrders),
        (.reconcilePayment, .paymentsInFlight(olderThan: settleSeconds, youngerThan: hangingDays * 86_400)),
        (.reconcileRefund, .refundsInFlight(olderThan: settleSeconds)), (.completeRequest, .abandonedRequests),
    ]

    /// Makes the jobs of whatever is due.
    ///
    /// Work is found by its state, so that none is lost that somebody forgot to ask for.
    /// - Throws: why the first kind of work could not be looked for; the others are found all the same.
    func findWork() async throws(GatewayError) -> JobOutcome {
        var isMore = false
        var failure: GatewayError?
        let accounts = syncing.map(\.id)
        let stores = accounts.isEmpty ? [] : [(JobKind.checkSubscription, DueWork.subscriptions(accounts: accounts))]
        for (kind, work) in Self.due + stores {
            do throws(GatewayError) {
                if try await find(work, for: kind) == Self.findLimit { isMore = true }
            } catch {
                if error == .leaseLost { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return .again(after: isMore ? 0 : Self.findInterval)
    }

    /// Makes the jobs of one kind, as many as one look takes.
    ///
    /// - Returns: how many.
    private func find(_ work: DueWork, for kind: JobKind) async throws(GatewayError) -> Int64 {
        let now = time.now
        let subjects = try await read { db in
            try db.subjects(of: work, without: kind.rawValue, limit: Self.findLimit, at: now)
        }
        guard !subjects.isEmpty else { return 0 }
        let jobs = subjects.map { (id: ids.make(Job.self), subject: $0) }
        try await write { tx in
            for job in jobs { try tx.ensureJob(job.id, kind: kind.rawValue, subject: job.subject, at: now) }
        }
        signal.notify()
        return Int64(jobs.count)
    }

    /// Makes the jobs of which there is always one.
    package func prepareJobs() async throws(GatewayError) {
        let now = time.now
        let jobs = JobKind.standing.map { (id: ids.make(Job.self), kind: $0.rawValue) }
        // Whatever a store said while nobody listened is asked for first of all.
        let missed = syncing.flatMap { account in
            account.store.askedEnvironments.map { (id: ids.make(Job.self), subject: "\(account.id)/\($0.rawValue)") }
        }
        try await write { tx in
            for job in jobs { try tx.ensureJob(job.id, kind: job.kind, subject: "", at: now) }
            for job in missed {
                try tx.enqueueJob(
                    job.id, kind: JobKind.replayNotifications.rawValue, subject: job.subject, delay: 0, at: now)
            }
        }
    }

    /// Forgets the leases of the process before this one, where no other process can hold any.
    ///
    /// An embedded database has one owner, so that a restart need not wait until they run out.
    func endOldLeases() async throws(GatewayError) {
        guard store.engine.dialect == .sqlite else { return }
        try await write { tx in try tx.endLeases() }
    }
}
