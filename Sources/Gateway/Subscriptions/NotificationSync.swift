import Domain
import Logging
import ProviderKit
import Store

/// The result of requesting missed notifications from a store.
struct MissedNotifications: Sendable {
    /// The number of notifications in the store's list, and the number of those that were missing here.
    var listed: Int64 = 0
    var new: Int64 = 0
    /// The apps that the store refuses, each with its reason.
    var refused: [String] = []
    /// The failure of an app for which a retry soon helps.
    var trouble: StoreSyncError?
}

/// Requests the notifications that stores sent, and accepts those that never arrived.
struct NotificationSync: Sendable {
    let store: StoreAccess
    let registry: ProviderRegistry
    let notifications: Notifications
    let subscriptions: SubscriptionSync
    let time: BusinessTime
    let logger: Logger

    /// The seconds that are requested again, since the store may list a notification later than it was signed.
    private static let overlap: Int64 = 3_600
    /// The seconds of one request; the progress is stored after each.
    private static let window: Int64 = 86_400

    /// Accepts an account's missed notifications; the job's subject is `<account>/<environment>`.
    func run(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        let parts = job.subject.split(separator: "/").map(String.init)
        guard parts.count == 2, let environment = Environment(rawValue: parts[1]),
            let account = registry.syncing.first(where: { $0.id.rawValue == parts[0] }),
            account.store.askedEnvironments.contains(environment)
        else { return .done }
        let missed = try await takeMissed(from: account, in: environment)
        switch missed.trouble {
        case .retryable(let after?): return .again(after: max(1, after.rawValue - time.real.now.rawValue))
        case .some: return .pending
        case nil: return .again(after: account.store.syncInterval)
        }
    }

    /// Queries a store for everything of an account: its notifications, then each subscription.
    func syncAll(_ id: AccountID) async throws(GatewayError) -> SyncCounts {
        var counts = SyncCounts()
        guard let account = registry.syncing.first(where: { $0.id == id }) else { return counts }
        for environment in account.store.askedEnvironments {
            let missed = try await takeMissed(from: account, in: environment)
            counts.checked += missed.listed
            counts.changed += missed.new
            counts.refused += missed.refused
        }
        try await subscriptions.refreshAll(at: account, counting: &counts)
        return counts
    }

    /// Requests the notifications of each app; an app that the store refuses does not stop the others.
    private func takeMissed(
        from account: SyncingAccount, in environment: Environment
    ) async throws(GatewayError) -> MissedNotifications {
        var missed = MissedNotifications()
        for app in account.store.askedApps(in: environment) {
            do throws(SyncFailure) {
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

    /// Requests an app's notifications since the last time, with an overlap, or as far back as the store has them.
    ///
    /// The progress is stored for each app, so that after a failure only that app is requested again.
    private func takeMissed(
        of app: String, from account: SyncingAccount, in environment: Environment,
        into missed: inout MissedNotifications
    ) async throws(SyncFailure) {
        // A store lists its notifications by its own clock.
        let now = registry[account.id].map { time.now(at: $0) } ?? time.real.now
        let last = try await inSync { () async throws(GatewayError) in
            try await store.read { db in try db.notifications.fetchedUntil(account.id, environment, app: app) }
        }
        let oldest = now.adding(seconds: Self.overlap - account.store.keepsNotifications(in: environment))
        var from = max(oldest, last.map { $0.adding(seconds: -Self.overlap) } ?? oldest)
        while from < now {
            let until = min(now, from.adding(seconds: Self.window))
            // The end is exclusive; this adds notifications that were signed in this second.
            let end = until == now ? now.adding(seconds: 1) : until
            let pages = account.store.notifications(of: app, in: environment, from: from, until: end)
            try await take(pages, at: account.id, into: &missed)
            try await inSync { () async throws(GatewayError) in
                try await store.write { tx in
                    try tx.notifications.setFetched(until: until, account.id, environment, app: app)
                }
            }
            from = until
        }
    }

    private func take(
        _ pages: StorePages<[RawNotification]>, at account: AccountID, into missed: inout MissedNotifications
    ) async throws(SyncFailure) {
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
