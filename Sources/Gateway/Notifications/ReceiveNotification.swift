import Crypto
import Domain
import FoundationEssentials
import Logging
package import ProviderKit
import Store

extension Gateway {
    /// Verifies a notification, stores it once, processes it, and returns the provider's own acknowledgement.
    ///
    /// The acknowledgement is given only after the notification is durable; a repetition is acknowledged and changes nothing.
    /// - Throws: `notFound` for an unknown token or method, `invalidNotification` for what does not verify.
    package func receiveNotification(
        token: String, _ notification: RawNotification
    ) async throws(GatewayError) -> Acknowledgement {
        guard let account = registry.account(notifyToken: token),
            account.manifest.notifications.contains(notification.method)
        else { throw .notFound }
        let received = try await verify(notification, at: account)
        let record = try seal(notification, received, at: account.id)
        let stored = try await write { tx in try tx.storeNotification(record) }
        if stored.isWaiting { try await processNotification(stored.id) }
        return received.acknowledgement
    }

    private func verify(
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

    private func seal(
        _ notification: RawNotification, _ received: ReceivedNotification, at account: AccountID
    ) throws(GatewayError) -> NotificationRecord {
        let id = ids.make(Domain.Notification.self)
        let headers = notification.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        guard let facts = try? received.facts.storedJSON(),
            let body = try? keyRing.seal(notification.body, place: "notifications.body/\(id)"),
            let sealedHeaders = try? keyRing.seal(
                Data("\(notification.query)\n\(headers)".utf8), place: "notifications.headers/\(id)")
        else { throw .internalError }
        return NotificationRecord(
            id: id, account: account, eventID: String(received.eventID.prefix(255)),
            type: String(received.type.prefix(128)),
            facts: facts, body: body, headers: sealedHeaders, digest: Data(SHA256.hash(data: notification.body)),
            receivedAt: time.now)
    }
}
