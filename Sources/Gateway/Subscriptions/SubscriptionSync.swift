import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// An account whose store can be queried.
struct SyncingAccount: Sendable {
    let id: AccountID
    let store: any StoreSyncing
}

extension ProviderRegistry {
    /// The enabled accounts whose stores can be queried.
    var syncing: [SyncingAccount] {
        accounts.compactMap { account in
            guard account.enabled, let store = account.provider as? any StoreSyncing,
                !store.askedEnvironments.isEmpty
            else { return nil }
            return SyncingAccount(id: account.id, store: store)
        }
    }
}

/// The reason why a query of a store was not completed.
enum SyncFailure: Error {
    case gateway(GatewayError)
    case store(StoreSyncError)
}

/// Runs a use case, with its errors as failures of the sync.
func inSync<T>(
    _ body: () async throws(GatewayError) -> T
) async throws(SyncFailure) -> T {
    do throws(GatewayError) { return try await body() } catch { throw .gateway(error) }
}

/// Queries stores about the current status of subscriptions, and about their customers' other purchases.
struct SubscriptionSync: Sendable {
    let settlements: SettlementRunner
    let evidence: EvidenceVerifier
    let logger: Logger

    /// The number of a job's runs in which a store is queried again soon that does not know a purchase yet; afterwards
    /// it is queried at the usual interval.
    private static let patientRuns: Int64 = 5
    /// The seconds after the expected end of a period until the store is queried about the renewal.
    private static let renewalSlack: Int64 = 600
    /// The seconds until the next attempt for a subscription whose store cannot be queried.
    private static let unaskedPause: Int64 = 86_400

    private var store: StoreAccess { settlements.store }
    private var now: Timestamp { settlements.time.now }
    /// The seconds by which business time is ahead of the real time, in which a store says when to ask again.
    private var ahead: Int64 {
        let reading = settlements.time.reading
        return reading.business.rawValue - reading.real.rawValue
    }

    /// Queries a store about one subscription, and about its customer's purchases since the last time.
    func check(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Subscription>(job.subject),
            let record = try await store.read({ db in try db.subscriptions.find(id) })
        else { return .done }
        let syncing = settlements.providers.registry.syncing
        guard let account = syncing.first(where: { $0.id == record.account }),
            account.store.askedEnvironments.contains(record.environment)
        else {
            try await postpone(id, until: now.adding(seconds: Self.unaskedPause))
            return .done
        }
        do throws(SyncFailure) {
            _ = try await refresh(record, by: account)
        } catch {
            switch error {
            case .gateway(let error): throw error
            case .store(.retryable(let after?)):
                return .again(after: max(1, after.rawValue - settlements.time.real.now.rawValue))
            case .store(.retryable(nil)): return .pending
            // A new purchase can be unknown to the store for a while.
            case .store(.unknownYet) where job.attempt <= Self.patientRuns: return .pending
            case .store(let error):
                logger.notice(
                    "a store was asked about a subscription in vain",
                    metadata: ["subscription": "\(id)", "reason": "\(error)"])
                try await postpone(id, until: now.adding(seconds: account.store.syncInterval))
            }
        }
        return .done
    }

    /// Queries an account's store about each of its subscriptions, and adds the counts.
    ///
    /// The periodic jobs query the rest if the store cannot answer now.
    func refreshAll(at account: SyncingAccount, counting counts: inout SyncCounts) async throws(GatewayError) {
        var last: ID<Subscription>?
        while true {
            let page = try await store.read { [last] db in
                try db.subscriptions.list(at: account.id, in: account.store.askedEnvironments, after: last, limit: 100)
            }
            guard let end = page.last else { return }
            for record in page {
                try JobLease.requireRunning()
                counts.checked += 1
                do throws(SyncFailure) {
                    if try await refresh(record, by: account) { counts.changed += 1 }
                } catch {
                    switch error {
                    case .gateway(let error): throw error
                    case .store(.retryable(let after)):
                        return try await postpone(record.id, until: after.map { $0.adding(seconds: ahead) } ?? now)
                    case .store:
                        try await postpone(record.id, until: now.adding(seconds: account.store.syncInterval))
                    }
                }
            }
            last = end.id
        }
    }

    /// - Returns: true where the answers changed the subscription.
    private func refresh(_ record: SubscriptionRecord, by account: SyncingAccount) async throws(SyncFailure) -> Bool {
        let known = try await inSync { () async throws(GatewayError) in
            try await store.read { db in
                try db.purchases.list(record.environment, original: record.original).last?.purchase
            }
        }
        guard let known else {
            // Only a renewal was ever stated, so there is no transaction to query.
            try await inSync { () async throws(GatewayError) in
                try await postpone(record.id, until: now.adding(seconds: Self.unaskedPause))
            }
            return false
        }
        let status: StoreAnswer
        do throws(StoreSyncError) {
            status = try await settlements.providers.measured(account.id) { () async throws(StoreSyncError) in
                try await account.store.subscriptions(of: known)
            }
        } catch {
            throw .store(error)
        }
        try await apply(status, to: record, from: account, cursor: nil)
        do throws(SyncFailure) {
            try await readHistory(of: known, record, after: record.historyCursor, by: account)
        } catch {
            guard case .store(.startAgain) = error, record.historyCursor != nil else { throw error }
            try await readHistory(of: known, record, after: nil, by: account)
        }
        return try await inSync { () async throws(GatewayError) in
            try await scheduleNext(record, interval: account.store.syncInterval)
        }
    }

    private func readHistory(
        of purchase: StorePurchase, _ record: SubscriptionRecord, after cursor: String?, by account: SyncingAccount
    ) async throws(SyncFailure) {
        var pages = account.store.history(of: purchase, after: cursor).makeAsyncIterator()
        // After a page that does not verify, the stored cursor stays, so that the page is read again another day.
        var isComplete = true
        while true {
            let page: StoreAnswer?
            do throws(StoreSyncError) {
                let start = ContinuousClock.now
                defer { settlements.providers.load.measure(account.id, since: start) }
                page = try await pages.next(isolation: nil)
            } catch {
                throw .store(error)
            }
            guard let page else { return }
            isComplete = isComplete && page.refused == 0
            try await apply(page, to: record, from: account, cursor: isComplete ? page.cursor : nil)
        }
    }

    /// Applies a page of answers, and stores the position in the history in the same transaction.
    private func apply(
        _ answer: StoreAnswer, to record: SubscriptionRecord, from account: SyncingAccount, cursor: String?
    ) async throws(SyncFailure) {
        let audit = AuditContext(
            actor: .system(JobKind.checkSubscription.rawValue), requestID: JobLease.current?.job.rawValue ?? "")
        let statements = evidence.statements(of: answer, from: account.id)
        try await inSync { () async throws(GatewayError) in
            try await settlements.run(audit) { settlement in
                try settlement.ownership.lockHolders(of: statements.map(\.statement))
                try settlement.purchases.apply(statements)
                if let cursor { try settlement.tx.subscriptions.setHistoryCursor(cursor, of: record.id) }
            }
        }
    }

    /// Sets the time of the next query: soon after an expected renewal, and never for a subscription that ended long
    /// ago.
    ///
    /// - Returns: true where the subscription has changed.
    private func scheduleNext(_ record: SubscriptionRecord, interval: Int64) async throws(GatewayError) -> Bool {
        let now = now
        let usual = now.adding(seconds: interval)
        return try await store.write { tx in
            guard let after = try tx.subscriptions.find(record.id) else { return false }
            var next: Timestamp? = usual
            if let snapshot = try SubscriptionSnapshot.load(after, from: tx, at: now) {
                let renewal = snapshot.expires_at.adding(seconds: Self.renewalSlack)
                if renewal > now { next = min(usual, renewal) }
                let isOver = [.expired, .revoked, .inBillingRetry].contains(snapshot.status)
                if isOver && now.rawValue - snapshot.expires_at.rawValue > StoreRenewal.longestRetry { next = nil }
            }
            try tx.subscriptions.setNextCheck(next, of: record.id)
            return after.announcedState != record.announcedState || after.renewal != record.renewal
        }
    }

    private func postpone(_ subscription: ID<Subscription>, until next: Timestamp) async throws(GatewayError) {
        try await store.write { tx in try tx.subscriptions.setNextCheck(next, of: subscription) }
    }
}
