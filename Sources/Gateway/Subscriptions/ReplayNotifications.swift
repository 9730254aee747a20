import Domain
import Logging
import ProviderKit
import Store

extension Gateway {
    /// So much is asked for again, since a notification can be listed later than it was signed.
    private static let overlap: Int64 = 3_600
    /// What is asked for at once; how far it went is remembered after each.
    private static let window: Int64 = 86_400

    /// Asks a store for the notifications that it sent, and takes in what never arrived.
    func replayNotifications(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        let parts = job.subject.split(separator: "/").map(String.init)
        guard parts.count == 2, let environment = Environment(rawValue: parts[1]),
            let account = registry.syncing.first(where: { $0.id.rawValue == parts[0] }),
            account.store.askedEnvironments.contains(environment)
        else { return .done }
        let missed = try await takeMissed(from: account, in: environment)
        switch missed.trouble {
        case .retryable(let after?): return .again(after: max(1, after.rawValue - time.now.rawValue))
        case .some: return .pending
        case nil: return .again(after: account.store.syncInterval)
        }
    }

    /// Asks for each app's, so that one whose notifications cannot be had keeps nothing from the others.
    func takeMissed(
        from account: SyncingAccount, in environment: Environment
    ) async throws(GatewayError) -> MissedNotifications {
        var missed = MissedNotifications()
        for app in account.store.askedApps(in: environment) {
            do throws(CheckFailure) {
                try await takeMissed(of: app, from: account, in: environment, into: &missed)
            } catch {
                var level = Logger.Level.error
                switch error {
                case .gateway(let error): throw error
                case .store(.retryable(let after)):
                    missed.trouble = .retryable(after: after)
                    level = .notice
                case .store(let error): missed.refused.append("\(app) (\(environment.rawValue)): \(error.reason)")
                }
                logger.log(
                    level: level, "a store was asked for its notifications in vain",
                    metadata: [
                        "account": "\(account.id)", "app": "\(app)", "environment": "\(environment.rawValue)",
                        "reason": "\(error)",
                    ])
            }
        }
        return missed
    }

    /// From the last time on, with an overlap, or as far back as the store keeps them.
    ///
    /// How far that was is remembered for each app: what one could not be asked for is asked for another day, and not anew
    /// for all of them.
    private func takeMissed(
        of app: String, from account: SyncingAccount, in environment: Environment,
        into missed: inout MissedNotifications
    ) async throws(CheckFailure) {
        let now = time.now
        let last: Timestamp?
        do throws(GatewayError) {
            last = try await read { db in try db.notifications.fetchedUntil(account.id, environment, app: app) }
        } catch {
            throw .gateway(error)
        }
        let oldest = now.adding(seconds: Self.overlap - account.store.keepsNotifications(in: environment))
        var from = max(oldest, last.map { $0.adding(seconds: -Self.overlap) } ?? oldest)
        while from < now {
            let until = min(now, from.adding(seconds: Self.window))
            // The end is exclusive, and what was signed in this second counts.
            let end = until == now ? now.adding(seconds: 1) : until
            let pages = account.store.notifications(of: app, in: environment, from: from, until: end)
            try await take(pages, at: account.id, into: &missed)
            do throws(GatewayError) {
                try await write { tx in
                    try tx.notifications.setFetched(until: until, account.id, environment, app: app)
                }
            } catch {
                throw .gateway(error)
            }
            from = until
        }
    }

    private func take(
        _ pages: StorePages<[RawNotification]>, at account: AccountID, into missed: inout MissedNotifications
    ) async throws(CheckFailure) {
        var pages = pages.makeAsyncIterator()
        while true {
            let page: [RawNotification]?
            do throws(StoreSyncError) {
                page = try await pages.next(isolation: nil)
            } catch {
                throw .store(error)
            }
            guard let page else { return }
            for raw in page {
                missed.listed += 1
                do throws(GatewayError) {
                    try JobLease.requireRunning()
                    if try await notifications.takeMissed(raw, at: account) { missed.new += 1 }
                } catch {
                    throw .gateway(error)
                }
            }
        }
    }

    /// Everything that an admin's sync asks of a store: its notifications, then each subscription.
    func syncStore(_ id: AccountID) async throws(GatewayError) -> SyncCounts {
        var counts = SyncCounts()
        guard let account = registry.syncing.first(where: { $0.id == id }) else { return counts }
        for environment in account.store.askedEnvironments {
            let missed = try await takeMissed(from: account, in: environment)
            counts.checked += missed.listed
            counts.changed += missed.new
            counts.refused += missed.refused
        }
        var last: ID<Subscription>?
        while true {
            let page = try await read { [last] db in
                try db.subscriptions.list(at: id, in: account.store.askedEnvironments, after: last, limit: 100)
            }
            guard let end = page.last else { return counts }
            for record in page {
                try JobLease.requireRunning()
                counts.checked += 1
                do throws(CheckFailure) {
                    if try await refresh(record, by: account) { counts.changed += 1 }
                } catch {
                    switch error {
                    case .gateway(let error): throw error
                    case .store(.retryable(let after)):
                        // Nothing else would be answered now: the jobs go on with the rest.
                        try await putOff(record.id, until: after ?? time.now)
                        return counts
                    case .store:
                        try await putOff(record.id, until: time.now.adding(seconds: account.store.syncInterval))
                    }
                }
            }
            last = end.id
        }
    }
}

/// What asking a store for missed notifications came to.
struct MissedNotifications: Sendable {
    /// How many were listed, and how many of them were news.
    var listed: Int64 = 0
    var new: Int64 = 0
    /// The apps that the store refuses, each with its reason.
    var refused: [String] = []
    /// Why an app's could not be asked for, where asking again soon helps.
    var trouble: StoreSyncError?
}

extension StoreSyncError {
    fileprivate var reason: String {
        switch self {
        case .refused(let words): words
        case .unknownYet: "not known yet"
        case .startAgain: "the pages have to be read from their start again"
        case .retryable: "it cannot answer now"
        }
    }
}
