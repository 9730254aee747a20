import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// An account whose store can be asked.
struct SyncingAccount: Sendable {
    let id: AccountID
    let store: any StoreSyncing
}

extension ProviderRegistry {
    /// The enabled accounts whose stores can be asked.
    var syncing: [SyncingAccount] {
        accounts.compactMap { account in
            guard account.enabled, let store = account.provider as? any StoreSyncing,
                !store.askedEnvironments.isEmpty
            else { return nil }
            return SyncingAccount(id: account.id, store: store)
        }
    }
}

extension Gateway {
    /// A store that knows nothing of a purchase is asked again at this pace so many times, then with all the others.
    private static let patientRuns: Int64 = 5
    /// A store is asked so long after a period should have been renewed.
    private static let renewalSlack: Int64 = 600
    /// What cannot be asked about now is looked at again after a day.
    private static let unaskedPause: Int64 = 86_400

    /// Asks a store where a subscription stands, and for what else its customer has bought since the last time.
    func checkSubscription(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Subscription>(job.subject),
            let record = try await read({ db in try db.subscriptions.find(id) })
        else { return .done }
        guard let account = registry.syncing.first(where: { $0.id == record.account }),
            account.store.askedEnvironments.contains(record.environment)
        else {
            try await putOff(id, until: time.now.adding(seconds: Self.unaskedPause))
            return .done
        }
        do throws(CheckFailure) {
            _ = try await refresh(record, by: account)
        } catch {
            switch error {
            case .gateway(let error): throw error
            case .store(.retryable(let after?)): return .again(after: max(1, after.rawValue - time.now.rawValue))
            case .store(.retryable(nil)): return .pending
            // A purchase that was just made can be unknown for a while.
            case .store(.unknownYet) where job.attempt <= Self.patientRuns: return .pending
            case .store(let error):
                logger.notice(
                    "a store was asked about a subscription in vain",
                    metadata: ["subscription": "\(id)", "reason": "\(error)"])
                try await putOff(id, until: time.now.adding(seconds: account.store.syncInterval))
            }
        }
        return .done
    }

    /// - Returns: whether anything was news.
    func refresh(_ record: SubscriptionRecord, by account: SyncingAccount) async throws(CheckFailure) -> Bool {
        let known: StorePurchase?
        do throws(GatewayError) {
            known = try await read { db in
                try db.purchases.list(record.environment, original: record.original).last?.purchase
            }
        } catch {
            throw .gateway(error)
        }
        guard let known else {
            // Nothing but a renewal was ever told: there is no transaction to ask about.
            do throws(GatewayError) {
                try await putOff(record.id, until: time.now.adding(seconds: Self.unaskedPause))
            } catch {
                throw .gateway(error)
            }
            return false
        }
        let standing: StoreAnswer
        do throws(StoreSyncError) {
            standing = try await account.store.subscriptions(of: known)
        } catch {
            throw .store(error)
        }
        try await settle(standing, of: record, by: account, cursor: nil)
        do throws(CheckFailure) {
            try await readHistory(of: known, record, after: record.historyCursor, by: account)
        } catch {
            guard case .store(.startAgain) = error, record.historyCursor != nil else { throw error }
            try await readHistory(of: known, record, after: nil, by: account)
        }
        do throws(GatewayError) {
            return try await finishCheck(of: record, interval: account.store.syncInterval)
        } catch {
            throw .gateway(error)
        }
    }

    private func readHistory(
        of purchase: StorePurchase, _ record: SubscriptionRecord, after cursor: String?, by account: SyncingAccount
    ) async throws(CheckFailure) {
        var pages = account.store.history(of: purchase, after: cursor).makeAsyncIterator()
        // What does not verify today is read again another day.
        var isWhole = true
        while true {
            let page: StoreAnswer?
            do throws(StoreSyncError) {
                page = try await pages.next(isolation: nil)
            } catch {
                throw .store(error)
            }
            guard let page else { return }
            isWhole = isWhole && page.refused == 0
            try await settle(page, of: record, by: account, cursor: isWhole ? page.cursor : nil)
        }
    }

    /// Settles a page of answers, and remembers in the same transaction how far that was.
    private func settle(
        _ answer: StoreAnswer, of record: SubscriptionRecord, by account: SyncingAccount, cursor: String?
    ) async throws(CheckFailure) {
        let cause = AuditContext(
            actor: .system(JobKind.checkSubscription.rawValue), requestID: JobLease.current?.job.rawValue ?? "")
        do throws(GatewayError) {
            try await settle(cause) { [statements = statements(of: answer, from: account.id)] settlement in
                try settlement.ownership.lockHolders(of: statements.map(\.statement))
                try settlement.purchases.apply(statements)
                if let cursor { try settlement.tx.subscriptions.setHistoryCursor(cursor, of: record.id) }
            }
        } catch {
            throw .gateway(error)
        }
    }

    /// Decides when the store is asked next: sooner around an expected renewal, no more when it is long over.
    private func finishCheck(of record: SubscriptionRecord, interval: Int64) async throws(GatewayError) -> Bool {
        let now = time.now
        let usual = now.adding(seconds: interval)
        return try await write { tx in
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

    func putOff(_ subscription: ID<Subscription>, until next: Timestamp) async throws(GatewayError) {
        try await write { tx in try tx.subscriptions.setNextCheck(next, of: subscription) }
    }
}

/// Why a check did not come to its end.
enum CheckFailure: Error {
    case gateway(GatewayError)
    case store(StoreSyncError)
}
