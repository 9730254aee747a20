import Domain
import ProviderKit
import Store

extension Gateway {
    private static let findInterval: Int64 = 10
    private static let findLimit: Int64 = 500
    private static let hangingSeconds: Int64 = 7 * 86_400

    /// Everything that must be looked after, and by which job.
    private static let due: [(kind: JobKind, work: DueWork)] = [
        (.processNotification, .storedNotifications), (.expireOrder, .expiredOrders),
        (.completeRequest, .abandonedRequests),
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
        let searches: [() async throws(GatewayError) -> Int64] =
            (Self.due + stores).map { kind, work in
                { () async throws(GatewayError) in try await self.find(work, for: kind) }
            } + [lookAtPayments, lookAtRefunds]
        for search in searches {
            do throws(GatewayError) {
                if try await search() == Self.findLimit { isMore = true }
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
        let subjects = try await report { db in
            try db.jobs.listDueSubjects(of: work, without: kind.rawValue, limit: Self.findLimit, at: now)
        }
        guard !subjects.isEmpty else { return 0 }
        let jobs = subjects.map { (id: ids.make(Job.self), subject: $0) }
        try await write { tx in
            for job in jobs { try tx.jobs.ensure(job.id, kind: kind.rawValue, subject: job.subject, at: now) }
        }
        signal.notify()
        return Int64(jobs.count)
    }

    /// Makes the jobs that ask about payments in flight.
    ///
    /// - Returns: how many payments were looked at.
    private func lookAtPayments() async throws(GatewayError) -> Int64 {
        let now = time.now
        let looked = try await report { db in
            try db.payments.listDue(hanging: Self.hangingSeconds, limit: Self.findLimit, at: now)
        }
        return try await follow(looked, by: .reconcilePayment, at: now) { tx in try tx.payments.postponeChecks(looked) }
    }

    private func lookAtRefunds() async throws(GatewayError) -> Int64 {
        let now = time.now
        let looked = try await report { db in try db.refunds.listDue(limit: Self.findLimit, at: now) }
        return try await follow(looked, by: .reconcileRefund, at: now) { tx in try tx.refunds.postponeChecks(looked) }
    }

    private func follow(
        _ looked: [DueCheck], by kind: JobKind, at now: Timestamp,
        putOff: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws(GatewayError) -> Int64 {
        guard !looked.isEmpty else { return 0 }
        let jobs = looked.filter(\.isDue).map { (id: ids.make(Job.self), subject: $0.id) }
        try await write { tx in
            for job in jobs { try tx.jobs.ensure(job.id, kind: kind.rawValue, subject: job.subject, at: now) }
            try putOff(tx)
        }
        if !jobs.isEmpty { signal.notify() }
        return Int64(looked.count)
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
            for job in jobs { try tx.jobs.ensure(job.id, kind: job.kind, subject: "", at: now) }
            for job in missed {
                try tx.jobs.enqueue(
                    job.id, kind: JobKind.replayNotifications.rawValue, subject: job.subject, delay: 0, at: now)
            }
        }
    }

    /// Forgets the leases of the process before this one, where no other process can hold any.
    ///
    /// An embedded database has one owner, so that a restart need not wait until they run out.
    func endOldLeases() async throws(GatewayError) {
        guard store.engine.dialect == .sqlite else { return }
        try await write { tx in try tx.jobs.endLeases() }
    }
}
