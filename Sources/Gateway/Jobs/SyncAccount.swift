package import Domain
import ProviderKit
import Store
import Synchronization

/// What a reconciliation that an admin asked for came to.
package enum AccountSync: Sendable, Equatable {
    /// Payments and refunds that were asked about, and how many of them moved; of a store, the apps that it refuses, each
    /// with its reason.
    case done(checked: Int64, changed: Int64, refused: [String] = [])
    /// Still under way as this job.
    case running(ID<Job>)
}

extension Gateway {
    private static let syncPage: Int64 = 100
    private static let syncWait: Duration = .seconds(10)

    /// Reconciles an account now: what the periodic jobs would ask about.
    ///
    /// - Returns: the counts, or after 10 s the job that goes on with it.
    /// - Throws: `notFound`.
    package func syncAccount(_ id: String, context: CallContext) async throws(GatewayError) -> AccountSync {
        guard let account = AccountID(id).flatMap({ registry[$0] }) else { throw .unknown(.account, id) }
        let (job, now) = (ids.make(Job.self), time.now)
        try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            // Its audit is one chain, whoever writes it.
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
        let running = try await read { db in
            try db.jobs.findID(kind: JobKind.syncAccount.rawValue, subject: account.id.rawValue)
        }
        return .running(running ?? job)
    }

    /// What the run comes to, or nil when it takes too long or is another worker's; it goes on all the same.
    private func firstOf(_ account: AccountID) async -> SyncCounts? {
        let (ends, end) = AsyncStream<SyncCounts?>.makeStream()
        Task {
            let counts = await calls.perform { await self.runSync(account) }
            end.yield(counts)
        }
        let limit = Task {
            await pause(Self.syncWait)
            end.yield(nil)
        }
        defer { limit.cancel() }
        for await first in ends { return first }
        return nil
    }

    private func runSync(_ account: AccountID) async -> SyncCounts? {
        guard let job = try? await claimJob(.syncAccount, subject: account.rawValue) else { return nil }
        let counts = Mutex<SyncCounts?>(nil)
        await perform(job) { (job) async throws(GatewayError) in
            let found = try await self.reconcileAccount(account, cause: self.cause(job))
            counts.withLock { $0 = found }
            return .done
        }
        return counts.withLock { $0 }
    }

    /// Goes on with a reconciliation whose worker is gone.
    func syncAccount(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let account = AccountID(job.subject) else { return .done }
        _ = try await reconcileAccount(account, cause: cause(job))
        return .done
    }

    /// Asks about every payment and refund of an account that is not final; of a store's, about its subscriptions and for
    /// the notifications that it sent.
    private func reconcileAccount(_ account: AccountID, cause: Cause) async throws(GatewayError) -> SyncCounts {
        let payments = try await forEach { (last: ID<Payment>?) async throws(GatewayError) in
            try await report { db in try db.payments.listInFlight(at: account, before: last, limit: Self.syncPage) }
        } do: { (id: ID<Payment>) async throws(GatewayError) in
            guard let before = try await read({ db in try db.payments.find(id).value()?.payment }) else { return false }
            try await ask(before, cause: cause) { try? await $0.query($1) }
            return try await read { db in try db.payments.find(id).value()?.payment.state } != before.state
        }
        let refunds = try await forEach { (last: ID<Refund>?) async throws(GatewayError) in
            try await report { db in try db.refunds.listInFlight(at: account, before: last, limit: Self.syncPage) }
        } do: { (id: ID<Refund>) async throws(GatewayError) in
            let before = try await read { db in try db.refunds.find(id)?.state }
            try await continueRefund(id, cause: cause)
            return try await read { db in try db.refunds.find(id)?.state } != before
        }
        var counts = try await syncStore(account)
        counts.checked += payments.checked + refunds.checked
        counts.changed += payments.changed + refunds.changed
        return counts
    }

    /// Does something with everything that the pages give, until one is empty.
    ///
    /// - Parameters:
    ///   - page: what comes after the last that the page before gave.
    ///   - work: says whether something moved.
    private func forEach<Subject>(
        _ page: (ID<Subject>?) async throws(GatewayError) -> [ID<Subject>],
        do work: (ID<Subject>) async throws(GatewayError) -> Bool
    ) async throws(GatewayError) -> SyncCounts {
        var counts = SyncCounts()
        var last: ID<Subject>?
        while case let found = try await page(last), !found.isEmpty {
            for id in found {
                try requireRunning()
                counts.checked += 1
                if try await work(id) { counts.changed += 1 }
            }
            last = found.last
        }
        return counts
    }
}

/// What a reconciliation came to so far.
struct SyncCounts: Sendable {
    var checked: Int64 = 0
    var changed: Int64 = 0
    var refused: [String] = []
}
