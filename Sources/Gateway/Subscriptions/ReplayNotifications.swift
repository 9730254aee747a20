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
            let account = syncing.first(where: { $0.id.rawValue == parts[0] }),
            account.store.askedEnvironments.contains(environment)
        else { return .done }
        do throws(CheckFailure) {
            _ = try await takeMissed(from: account, in: environment)
        } catch {
            switch error {
            case .gateway(let error): throw error
            case .store(.retryable(let after?)): return .again(after: max(1, after.rawValue - time.now.rawValue))
            case .store(.retryable(nil)): return .pending
            case .store(let error): noteRefusal(error, of: account.id)
            }
        }
        return .again(after: account.store.syncInterval)
    }

    private func noteRefusal(_ error: StoreSyncError, of account: AccountID) {
        logger.error(
            "a store was asked for its notifications in vain",
            metadata: ["account": "\(account.rawValue)", "reason": "\(error)"])
    }

    /// From the last time on, with an overlap, or as far back as the store keeps them.
    ///
    /// - Returns: how many were listed, and how many of them were news.
    func takeMissed(
        from account: SyncingAccount, in environment: Environment
    ) async throws(CheckFailure) -> (listed: Int64, new: Int64) {
        let now = time.now
        let last: Timestamp?
        do throws(GatewayError) {
            last = try await read { db in try db.notificationsAskedUntil(account.id, environment) }
        } catch {
            throw .gateway(error)
        }
        let oldest = now.adding(seconds: Self.overlap - account.store.keepsNotifications(in: environment))
        var from = max(oldest, last.map { $0.adding(seconds: -Self.overlap) } ?? oldest)
        var counts = (listed: 0 as Int64, new: 0 as Int64)
        while from < now {
            let until = min(now, from.adding(seconds: Self.window))
            // The end is exclusive, and what was signed in this second counts.
            let end = until == now ? now.adding(seconds: 1) : until
            let found = try await takeMissed(from: account, in: environment, from: from, until: end)
            counts = (counts.listed + found.listed, counts.new + found.new)
            do throws(GatewayError) {
                try await write { tx in
                    try tx.setNotificationsAsked(until: until, account.id, environment)
                }
            } catch {
                throw .gateway(error)
            }
            from = until
        }
        return counts
    }

    private func takeMissed(
        from account: SyncingAccount, in environment: Environment, from: Timestamp, until: Timestamp
    ) async throws(CheckFailure) -> (listed: Int64, new: Int64) {
        var counts = (listed: 0 as Int64, new: 0 as Int64)
        var pages = account.store.notifications(in: environment, from: from, until: until).makeAsyncIterator()
        while true {
            let page: [RawNotification]?
            do throws(StoreSyncError) {
                page = try await pages.next(isolation: nil)
            } catch {
                throw .store(error)
            }
            guard let page else { return counts }
            for raw in page {
                counts.listed += 1
                do throws(GatewayError) {
                    if try await takeMissed(raw, at: account.id) { counts.new += 1 }
                } catch {
                    throw .gateway(error)
                }
            }
        }
    }

    /// - Returns: false for what is there already, and for what does not verify; that is kept for a while.
    private func takeMissed(_ raw: RawNotification, at id: AccountID) async throws(GatewayError) -> Bool {
        guard let account = registry[id] else { return false }
        do throws(GatewayError) {
            let received = try await verify(raw, at: account)
            if try await read({ db in try db.hasNotification(id, eventID: received.eventID) }) { return false }
            try await keep(try seal(raw, received, at: id))
            return true
        } catch {
            guard error == .invalidNotification else { throw error }
            await keepRefused(raw, at: id)
            return false
        }
    }

    /// Everything that an admin's sync asks of a store: its notifications, then each subscription.
    func syncStore(_ id: AccountID) async throws(GatewayError) -> (checked: Int64, changed: Int64) {
        guard let account = syncing.first(where: { $0.id == id }) else { return (0, 0) }
        var counts = (checked: 0 as Int64, changed: 0 as Int64)
        for environment in account.store.askedEnvironments {
            do throws(CheckFailure) {
                let missed = try await takeMissed(from: account, in: environment)
                counts = (counts.checked + missed.listed, counts.changed + missed.new)
            } catch {
                switch error {
                case .gateway(let error): throw error
                case .store(let error): noteRefusal(error, of: id)
                }
            }
        }
        var last: ID<Subscription>?
        while true {
            let page = try await read { [last] db in
                try db.subscriptions(at: id, in: account.store.askedEnvironments, after: last, limit: 100)
            }
            guard let end = page.last else { return counts }
            for record in page {
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
