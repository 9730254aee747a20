import Crypto
package import Domain
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
    /// - Parameter address: where it comes from; nil where that is not known.
    /// - Throws: `notFound` for an unknown token or method, `invalidNotification` for what does not verify: it is counted,
    ///   and kept for a while with its reason.
    package func receiveNotification(
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
                refusals.count(reason, at: account.id)
                await keepRefused(notification, at: account.id, because: reason, from: address)
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
            let stored = try tx.notifications.insert(record)
            if stored.isWaiting {
                try tx.jobs.ensure(
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

    /// Lets the account's provider judge a notification, beside the event loops.
    private func received(
        _ notification: RawNotification, at account: ConfiguredAccount
    ) async throws(GatewayError) -> Result<ReceivedNotification, ProviderError> {
        try await verification.run {
            do throws(ProviderError) {
                return .success(try await account.provider.receive(notification))
            } catch {
                return .failure(error)
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
            id: id, account: account, eventID: received.eventID.firstScalars(255),
            type: received.type.firstScalars(128),
            facts: facts, body: raw.body, headers: raw.head, digest: Data(SHA256.hash(data: notification.body)),
            receivedAt: notification.receivedAt ?? time.now)
    }
}

extension ReceivedNotification {
    /// Whether a database can hold what it states: SQL text cannot hold U+0000.
    fileprivate var isStorable: Bool {
        guard !eventID.utf8.contains(0), !type.utf8.contains(0), let json = try? facts.storedJSON() else {
            return false
        }
        // In JSON it is written as an escape; a backslash itself is written twice.
        return !json.contains(#"\u0000"#) || !json.replacing(#"\\"#, with: "").contains(#"\u0000"#)
    }
}
