import Crypto
import Domain
import FoundationEssentials
import Logging
package import ProviderKit
import Store

extension Gateway {
    /// Verifies a notification, stores it once with the job that processes it, and returns the provider's own
    /// acknowledgement.
    ///
    /// The acknowledgement is given only after the notification is durable, and whatever processing comes to; a repetition
    /// is acknowledged and changes nothing.
    /// - Throws: `notFound` for an unknown token or method, `invalidNotification` for what does not verify (it is kept for a
    ///   while).
    package func receiveNotification(
        token: String, _ notification: RawNotification
    ) async throws(GatewayError) -> Acknowledgement {
        guard let account = registry.account(notifyToken: token),
            account.manifest.notifications.contains(notification.method)
        else { throw .notFound }
        let received: ReceivedNotification
        do throws(GatewayError) {
            received = try await verify(notification, at: account)
        } catch {
            if error == .invalidNotification { await keepRefused(notification, at: account.id) }
            throw error
        }
        let record = try seal(notification, received, at: account.id)
        try await keep(record)
        return received.acknowledgement
    }

    /// Stores a verified notification with its job, and runs that now rather than at the workers' next look.
    func keep(_ record: NotificationRecord) async throws(GatewayError) {
        let (job, now) = (ids.make(Job.self), time.now)
        let stored = try await write { tx in
            let stored = try tx.storeNotification(record)
            if stored.isWaiting {
                try tx.ensureJob(
                    job, kind: JobKind.processNotification.rawValue, subject: stored.id.rawValue, at: now)
            }
            return stored
        }
        guard stored.isWaiting else { return }
        // What goes wrong here is the job's to try again.
        _ = try? await performNow(.processNotification, subject: stored.id.rawValue)
    }

    func verify(
        _ notification: RawNotification, at account: ConfiguredAccount
    ) async throws(GatewayError) -> ReceivedNotification {
        do throws(ProviderError) {
            return try await account.provider.receive(notification)
        } catch {
            logger.notice("a notification was refused", metadata: ["account": "\(account.id.rawValue)"])
            switch error {
            case .unavailable, .outcomeUnknown: throw .temporarilyUnavailable(retryAfter: 5)
            case .invalidSignature, .rejected, .unsupported: throw .invalidNotification
            }
        }
    }

    func seal(
        _ notification: RawNotification, _ received: ReceivedNotification, at account: AccountID
    ) throws(GatewayError) -> NotificationRecord {
        let id = ids.make(Domain.Notification.self)
        guard let facts = try? received.facts.storedJSON(),
            let raw = try? SealedNotification(notification, id, by: keyRing)
        else { throw .internalError }
        return NotificationRecord(
            id: id, account: account, eventID: String(received.eventID.prefix(255)),
            type: String(received.type.prefix(128)),
            facts: facts, body: raw.body, headers: raw.head, digest: Data(SHA256.hash(data: notification.body)),
            receivedAt: notification.receivedAt ?? time.now)
    }
}
