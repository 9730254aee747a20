package import Domain
import ProviderKit
import Store
import Synchronization

/// What a reconciliation that an admin asked for came to.
package enum AccountSync: Sendable, Equatable {
    /// Payments and refunds that were asked about, and how many of them moved.
    case done(checked: Int64, changed: Int64)
    /// Still under way as this job.
    case running(ID<Job>)
}

extension Gateway {
    private static let syncLimit: Int64 = 1_000
    private static let syncWait: Duration = .seconds(10)

    /// Reconciles an account now: what the periodic jobs would ask about.
    ///
    /// - Returns: the counts, or after 10 s the job that goes on with it.
    /// - Throws: `notFound`.
    package func syncAccount(_ id: String, context: CallContext) async throws(GatewayError) -> AccountSync {
        guard let account = AccountID(id).flatMap({ registry[$0] }) else { throw .notFound }
        let (job, now) = (ids.make(Job.self), time.now)
        try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            try settlement.tx.releaseJob(
                kind: JobKind.syncAccount.rawValue, subject: account.id.rawValue, at: now)
            try settlement.tx.enqueueJob(
                job, kind: JobKind.syncAccount.rawValue, subject: account.id.rawValue, delay: 0, at: now)
            try settlement.audit(
                subject: "account/\(account.id.rawValue)", "account.synced", before: "", after: job.rawValue)
        }
        if let counts = await firstOf(account.id) { return .done(checked: counts.checked, changed: counts.changed) }
        let running = try await read { db in
            try db.jobID(kind: JobKind.syncAccount.rawValue, subject: account.id.rawValue)
        }
        return .running(running ?? job)
    }

    private typealias Counts = (checked: Int64, changed: Int64)

    /// What the run comes to, or nil when it takes too long or is another worker's; it goes on all the same.
    private func firstOf(_ account: AccountID) async -> Counts? {
        let (ends, end) = AsyncStream<Counts?>.makeStream()
        Task {
            let counts = await calls.perform { await runSync(account) }
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

    private func runSync(_ account: AccountID) async -> Counts? {
        guard let job = try? await claimJob(.syncAccount, subject: account.rawValue) else { return nil }
        let counts = Mutex<Counts?>(nil)
        await perform(job) { (job) async throws(GatewayError) in
            let found = try await reconcileAccount(account, cause: cause(job))
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
    private func reconcileAccount(_ account: AccountID, cause: Cause) async throws(GatewayError) -> Counts {
        let (payments, refunds) = try await read { db in try db.inFlight(at: account, limit: Self.syncLimit) }
        var changed: Int64 = 0
        for id in payments {
            try requireRunning()
            guard let before = try await read({ db in try db.payment(id)?.payment }) else { continue }
            try await ask(before, cause: cause) { try? await $0.query($1) }
            let after = try await read { db in try db.payment(id)?.payment.state }
            if after != before.state { changed += 1 }
        }
        for id in refunds {
            let before = try await read { db in try db.refund(id)?.state }
            try await continueRefund(id, cause: cause)
            let after = try await read { db in try db.refund(id)?.state }
            if after != before { changed += 1 }
        }
        let store = try await syncStore(account)
        return (Int64(payments.count + refunds.count) + store.checked, changed + store.changed)
    }
}
