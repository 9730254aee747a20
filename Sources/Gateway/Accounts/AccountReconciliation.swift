package import Domain
import ProviderKit
import Store
import Synchronization

/// The result of a reconciliation that an admin asked for.
package enum AccountSync: Sendable, Equatable {
    /// The numbers of payments and refunds that were asked about and that changed; for a store, the apps that it refuses,
    /// each with its reason.
    case done(checked: Int64, changed: Int64, refused: [String] = [])
    /// The job that continues the reconciliation.
    case running(ID<Job>)
}

/// Reconciles everything of one account at an admin's request.
package struct AccountReconciliation: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let attempts: PaymentAttempts
    let sending: RefundSending
    let queue: JobQueue
    /// Asks a store for its subscriptions and notifications.
    let syncStore: @Sendable (AccountID) async throws(GatewayError) -> SyncCounts

    private static let syncPage: Int64 = 100
    private static let syncWait: Duration = .seconds(10)

    /// Reconciles an account now: everything that the periodic jobs would ask about.
    ///
    /// - Returns: the counts, or after 10 s the job that continues it.
    /// - Throws: `notFound`.
    package func sync(_ id: String, context: CallContext) async throws(GatewayError) -> AccountSync {
        guard let account = AccountID(id).flatMap({ settlements.providers.registry[$0] }) else {
            throw .unknown(.account, id)
        }
        let (job, now) = (settlements.ids.make(Job.self), settlements.time.now)
        try await settlements.run(context.audit) { settlement in
            // The lock orders the entries of the account's audit chain.
            try settlement.tx.accounts.lock(account.id)
            try settlement.tx.jobs.release(
                kind: JobKind.syncAccount.rawValue, subject: account.id.rawValue, at: now)
            try settlement.tx.jobs.enqueue(
                job, kind: JobKind.syncAccount.rawValue, subject: account.id.rawValue, delay: 0, at: now)
            try settlement.log.audit(
                subject: "account/\(account.id.rawValue)", "account.synced", before: "", after: job.rawValue)
        }
        if let counts = await firstOf(account.id) {
            return .done(checked: counts.checked, changed: counts.changed, refused: counts.refused)
        }
        let running = try await store.read { db in
            try db.jobs.findID(kind: JobKind.syncAccount.rawValue, subject: account.id.rawValue)
        }
        return .running(running ?? job)
    }

    /// Waits for the run's counts.
    ///
    /// - Returns: nil where it takes too long or another worker has the job; the run continues all the same.
    private func firstOf(_ account: AccountID) async -> SyncCounts? {
        let (ends, end) = AsyncStream<SyncCounts?>.makeStream()
        Task {
            let counts = await settlements.providers.perform { await run(account) }
            end.yield(counts)
        }
        let limit = Task {
            await queue.pause(Self.syncWait)
            end.yield(nil)
        }
        defer { limit.cancel() }
        for await first in ends { return first }
        return nil
    }

    private func run(_ account: AccountID) async -> SyncCounts? {
        guard let job = try? await queue.claim(.syncAccount, subject: account.rawValue) else { return nil }
        let counts = Mutex<SyncCounts?>(nil)
        await queue.perform(job) { (job) async throws(GatewayError) in
            let found = try await reconcile(account, audit: job.audit)
            counts.withLock { $0 = found }
            return .done
        }
        return counts.withLock { $0 }
    }

    /// Continues a reconciliation whose worker is gone.
    func perform(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let account = AccountID(job.subject) else { return .done }
        _ = try await reconcile(account, audit: job.audit)
        return .done
    }

    /// Queries every payment and refund of an account that is not final; queries a store for its subscriptions and its
    /// notifications.
    private func reconcile(_ account: AccountID, audit: AuditContext) async throws(GatewayError) -> SyncCounts {
        let payments = try await forEach { (last: ID<Payment>?) async throws(GatewayError) in
            try await store.report { db in try db.payments.listInFlight(at: account, before: last, limit: Self.syncPage)
            }
        } do: { (id: ID<Payment>) async throws(GatewayError) in
            guard let before = try await store.read({ db in try db.payments.find(id).value()?.payment }) else {
                return false
            }
            try await attempts.ask(before, audit: audit) { try? await $0.query($1) }
            return try await store.read { db in try db.payments.find(id).value()?.payment.state } != before.state
        }
        let refunds = try await forEach { (last: ID<Refund>?) async throws(GatewayError) in
            try await store.report { db in try db.refunds.listInFlight(at: account, before: last, limit: Self.syncPage)
            }
        } do: { (id: ID<Refund>) async throws(GatewayError) in
            let before = try await store.read { db in try db.refunds.find(id)?.state }
            try await sending.sendAmongOthers(id, audit: audit)
            return try await store.read { db in try db.refunds.find(id)?.state } != before
        }
        var counts = try await syncStore(account)
        counts.checked += payments.checked + refunds.checked
        counts.changed += payments.changed + refunds.changed
        return counts
    }

    /// Works through pages until one is empty.
    ///
    /// - Parameters:
    ///   - page: reads the page after the last item of the page before.
    ///   - work: returns true where something changed.
    private func forEach<Subject>(
        _ page: (ID<Subject>?) async throws(GatewayError) -> [ID<Subject>],
        do work: (ID<Subject>) async throws(GatewayError) -> Bool
    ) async throws(GatewayError) -> SyncCounts {
        var counts = SyncCounts()
        var last: ID<Subject>?
        while case let found = try await page(last), !found.isEmpty {
            for id in found {
                try JobLease.requireRunning()
                counts.checked += 1
                if try await work(id) { counts.changed += 1 }
            }
            last = found.last
        }
        return counts
    }
}

/// The counts of a reconciliation.
struct SyncCounts: Sendable {
    var checked: Int64 = 0
    var changed: Int64 = 0
    var refused: [String] = []
}
