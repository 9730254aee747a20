import Crypto
package import Domain
import FoundationEssentials
import Logging
package import ProviderKit
import Store

/// The inbox of the providers' notifications: verified, stored once, acknowledged, then processed from the stored row.
package struct Notifications: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let queue: JobQueue
    let keyRing: KeyRing
    let refused: RefusedNotifications
    let lines: RepeatedLines
    let logger: Logger

    var registry: ProviderRegistry { settlements.providers.registry }

    /// Verifies a notification, stores it once with the job that processes it, and returns the provider's own
    /// acknowledgement.
    ///
    /// The acknowledgement follows after the notification is durable, also where processing fails; a repetition is
    /// acknowledged and changes nothing.
    /// - Parameter address: the sender's address; nil where unknown.
    /// - Throws: `notFound` for an unknown token or method, `invalidNotification` for one that does not verify, which
    ///   is counted and stored for a limited time with its reason.
    package func receive(
        token: String, _ notification: RawNotification, from address: IPAddress? = nil
    ) async throws(GatewayError) -> Acknowledgement {
        guard let account = registry.account(notifyToken: token),
            account.manifest.notifications.contains(notification.method)
        else { throw .notFound }
        let received: ReceivedNotification
        do throws(NotificationRefusal) {
            received = try await verify(notification, at: account)
        } catch {
            if case .unproven(let reason) = error {
                await refused.keep(notification, at: account.id, because: reason, from: address)
            }
            throw error.gatewayError
        }
        let record = try seal(notification, received, at: account.id)
        try await keep(record)
        return received.acknowledgement
    }

    /// Stores a verified notification with its job, and runs the job now.
    private func keep(_ record: NotificationRecord) async throws(GatewayError) {
        let (job, now) = (settlements.ids.make(Job.self), settlements.time.now)
        let stored = try await store.write { tx in
            let stored = try tx.notifications.insert(record)
            if stored.isWaiting {
                try tx.jobs.ensure(
                    job, kind: JobKind.processNotification.rawValue, subject: stored.id.rawValue, at: now)
            }
            return stored
        }
        guard stored.isWaiting else { return }
        await processNow(stored.id)
    }

    /// Stores and processes a notification from a store's list of those that it sent.
    ///
    /// - Returns: true for one that was missing here.
    func takeMissed(_ notification: RawNotification, at id: AccountID) async throws(GatewayError) -> Bool {
        guard let account = registry[id] else { return false }
        let received: ReceivedNotification
        do throws(NotificationRefusal) {
            received = try await verify(notification, at: account)
        } catch {
            guard case .unproven(let reason) = error else { throw error.gatewayError }
            await refused.keep(notification, at: id, because: reason)
            return false
        }
        if try await store.read({ db in try db.notifications.exists(id, eventID: received.eventID) }) { return false }
        try await keep(try seal(notification, received, at: id))
        return true
    }

    /// Verifies a notification by its account's provider, and logs a refusal.
    func verify(
        _ notification: RawNotification, at account: ConfiguredAccount
    ) async throws(NotificationRefusal) -> ReceivedNotification {
        let result: Result<ReceivedNotification, ProviderError>
        do throws(GatewayError) {
            result = try await received(notification, at: account)
        } catch {
            throw .unavailable
        }
        do throws(ProviderError) {
            let received = try result.get()
            guard received.isStorable else { throw .unproven(.unreadable) }
            return received
        } catch {
            let refusal = NotificationRefusal(error)
            var metadata: Logger.Metadata = ["account": "\(account.id.rawValue)"]
            switch refusal {
            case .unproven(let reason):
                metadata["reason"] = "\(reason.word)"
                if case .rejected(let detail) = error { metadata["detail"] = "\(detail)" }
                lines.write("a notification was refused", of: account.id.rawValue, metadata) {
                    logger.notice("a notification was refused", metadata: $0)
                }
            case .unavailable:
                lines.write("a notification could not be verified now", of: account.id.rawValue, metadata) {
                    logger.notice("a notification could not be verified now", metadata: $0)
                }
            }
            throw refusal
        }
    }

    /// Verifies a notification with its account's provider, on threads beside the event loops.
    private func received(
        _ notification: RawNotification, at account: ConfiguredAccount
    ) async throws(GatewayError) -> Result<ReceivedNotification, ProviderError> {
        try await BackgroundThreads.verification.run {
            do throws(ProviderError) {
                return .success(try await account.provider.receive(notification))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Makes the row of a verified notification, with its raw text sealed.
    ///
    /// - Parameter receivedAt: the business time at which it arrived; nil for now.
    func seal(
        _ notification: RawNotification, _ received: ReceivedNotification, at account: AccountID,
        receivedAt: Timestamp? = nil
    ) throws(GatewayError) -> NotificationRecord {
        let id = settlements.ids.make(Domain.Notification.self)
        guard let facts = try? received.facts.storedJSON(),
            let raw = try? SealedNotification(notification, id, by: keyRing)
        else { throw .internalError }
        return NotificationRecord(
            id: id, account: account, eventID: received.eventID.firstScalars(255),
            type: received.type.firstScalars(128),
            facts: facts, body: raw.body, headers: raw.head, digest: Data(SHA256.hash(data: notification.body)),
            receivedAt: receivedAt ?? settlements.time.now)
    }
}

extension ReceivedNotification {
    /// True where a database can store the notification: SQL text cannot contain U+0000.
    fileprivate var isStorable: Bool {
        guard !eventID.utf8.contains(0), !type.utf8.contains(0), let json = try? facts.storedJSON() else {
            return false
        }
        // JSON escapes U+0000; an escaped backslash before `u0000` is something else.
        return !json.contains(#"\u0000"#) || !json.replacing(#"\\"#, with: "").contains(#"\u0000"#)
    }
}
