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
    /// - Throws: `notFound` for an unknown token or method, `invalidNotification` for what does not verify: it is counted,
    ///   and kept for a while with its reason.
    package func receiveNotification(
        token: String, _ notification: RawNotification
    ) async throws(GatewayError) -> Acknowledgement {
        guard let account = registry.account(notifyToken: token),
            account.manifest.notifications.contains(notification.method)
        else { throw .notFound }
        let received: ReceivedNotification
        do throws(NotificationRefusal) {
            received = try await verify(notification, at: account)
        } catch {
            if case .unproven(let reason) = error {
                refusals.count(reason, at: account.id)
                await keepRefused(notification, at: account.id, because: reason)
            }
            throw error.gatewayError
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
    ) async throws(NotificationRefusal) -> ReceivedNotification {
        do throws(ProviderError) {
            return try await account.provider.receive(notification)
        } catch {
            let refusal = NotificationRefusal(error)
            var metadata: Logger.Metadata = ["account": "\(account.id.rawValue)"]
            switch refusal {
            case .unproven(let reason):
                metadata["reason"] = "\(reason.word)"
                if case .rejected(let detail) = error { metadata["detail"] = "\(detail)" }
                logger.notice("a notification was refused", metadata: metadata)
            case .unavailable:
                logger.notice("a notification could not be verified now", metadata: metadata)
            }
            throw refusal
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
