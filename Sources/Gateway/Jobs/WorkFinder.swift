import Domain
import ProviderKit
import Store

/// Makes the jobs of all work that is due.
package struct WorkFinder: Sendable {
    let store: StoreAccess
    let registry: ProviderRegistry
    let ids: IDSource
    let time: BusinessTime
    let signals: JobSignals
    let renewals: RenewalMeter

    private static let findInterval: Int64 = 10
    private static let findLimit: Int64 = 500
    private static let hangingSeconds: Int64 = 7 * 86_400

    /// The kinds of due work with the usual search, each with the kind of its jobs.
    private static let due: [(kind: JobKind, work: DueWork)] = [
        (.processNotification, .storedNotifications), (.expireOrder, .expiredOrders),
        (.completeRequest, .abandonedRequests), (.renewSubscription, .managedSubscriptions),
        (.announceRenewal, .renewalNotices), (.reconcileSetup, .setups), (.revokeMandate, .mandates),
        (.reportExternalPurchase, .externalTokens),
    ]

    /// Makes the jobs of all work that is due.
    ///
    /// Work is found by its state, so that no job can be forgotten.
    /// - Throws: the error of the first search that failed, after all other searches.
    func find() async throws(GatewayError) -> JobOutcome {
        var isMore = false
        var failure: GatewayError?
        let accounts = registry.syncing.map(\.id)
        let stores = accounts.isEmpty ? [] : [(JobKind.checkSubscription, DueWork.subscriptions(accounts: accounts))]
        let searches: [() async throws(GatewayError) -> Int64] =
            (Self.due + stores).map { kind, work in
                { () async throws(GatewayError) in try await find(work, for: kind) }
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
        let overdue = time.now.adding(seconds: -RenewalMeter.overdueSeconds)
        let (count, isHeld) = try await store.report { db in
            (try db.managedSubscriptions.countOverdue(before: overdue), try db.billingHold.find() != nil)
        }
        renewals.setOverdue(count)
        renewals.setHeld(isHeld)
        return .again(after: isMore ? 0 : Self.findInterval)
    }

    /// Makes the jobs of one kind, at most as many as one search reads.
    ///
    /// - Returns: the number of jobs.
    private func find(_ work: DueWork, for kind: JobKind) async throws(GatewayError) -> Int64 {
        let reading = time.reading
        let now = reading.business
        let subjects = try await store.report { db in
            try db.jobs.listDueSubjects(of: work, without: kind.rawValue, limit: Self.findLimit, at: reading)
        }
        guard !subjects.isEmpty else { return 0 }
        let jobs = subjects.map { (id: ids.make(Job.self), subject: $0) }
        try await store.write { tx in
            for job in jobs { try tx.jobs.ensure(job.id, kind: kind.rawValue, subject: job.subject, at: now) }
        }
        signals.workers.notify()
        return Int64(jobs.count)
    }

    /// Makes the jobs that ask about payments in flight.
    ///
    /// - Returns: the number of payments that were read.
    private func lookAtPayments() async throws(GatewayError) -> Int64 {
        let now = time.now
        let looked = try await store.report { db in
            try db.payments.listDue(hanging: Self.hangingSeconds, limit: Self.findLimit, at: now)
        }
        return try await follow(looked, by: .reconcilePayment, at: now) { tx in try tx.payments.postponeChecks(looked) }
    }

    private func lookAtRefunds() async throws(GatewayError) -> Int64 {
        let now = time.now
        let looked = try await store.report { db in try db.refunds.listDue(limit: Self.findLimit, at: now) }
        return try await follow(looked, by: .reconcileRefund, at: now) { tx in try tx.refunds.postponeChecks(looked) }
    }

    private func follow(
        _ looked: [DueCheck], by kind: JobKind, at now: Timestamp,
        putOff: @escaping @Sendable (any Transaction) throws -> Void
    ) async throws(GatewayError) -> Int64 {
        guard !looked.isEmpty else { return 0 }
        let jobs = looked.filter(\.isDue).map { (id: ids.make(Job.self), subject: $0.id) }
        try await store.write { tx in
            for job in jobs { try tx.jobs.ensure(job.id, kind: kind.rawValue, subject: job.subject, at: now) }
            try putOff(tx)
        }
        if !jobs.isEmpty { signals.workers.notify() }
        return Int64(looked.count)
    }

    /// Makes the jobs that always exist, at the start of a node.
    package func prepare() async throws(GatewayError) {
        let now = time.now
        let jobs = JobKind.standing.map { (id: ids.make(Job.self), kind: $0.rawValue) }
        // Notifications that a store sent while no node ran are requested at once.
        let missed = registry.syncing.flatMap { account in
            account.store.askedEnvironments.map { (id: ids.make(Job.self), subject: "\(account.id)/\($0.rawValue)") }
        }
        try await store.write { tx in
            for job in jobs { try tx.jobs.ensure(job.id, kind: job.kind, subject: "", at: now) }
            // A restart is how an operator says that a refused key was mended, or set.
            try tx.externalPurchases.endEndlessHolds()
            try tx.externalPurchases.lookAtDue(at: now)
            for job in missed {
                try tx.jobs.enqueue(
                    job.id, kind: JobKind.replayNotifications.rawValue, subject: job.subject, delay: 0, at: now)
            }
        }
    }

    /// Ends the leases of the previous process on SQLite, which only one process uses.
    ///
    /// So a restart need not wait until they expire.
    func endOldLeases() async throws(GatewayError) {
        guard store.database.engine.dialect == .sqlite else { return }
        try await store.write { tx in try tx.jobs.endLeases() }
    }
}
