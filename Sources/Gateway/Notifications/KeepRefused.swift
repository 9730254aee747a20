import Crypto
import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

extension Gateway {
    /// The newest so many of an account are kept.
    private static let refusedLimit: Int64 = 1_000
    /// A larger body is no notification of any provider; it is counted and forgotten.
    private static let refusedBytes = 256 << 10

    /// Keeps a notification that did not verify, so that it can be verified again once a mistake of ours is mended.
    func keepRefused(
        _ notification: RawNotification, at account: AccountID, because reason: UnprovenReason
    ) async {
        guard notification.body.count <= Self.refusedBytes else { return }
        let id = ids.make(Domain.Notification.self)
        let now = time.now
        do {
            let raw = try SealedNotification(notification, id, by: keyRing)
            let record = NotificationRecord(
                id: id, account: account, eventID: "refused/\(id)", type: "", facts: "[]", body: raw.body,
                headers: raw.head, digest: Data(SHA256.hash(data: notification.body)), receivedAt: now,
                refusal: reason.word)
            try await write { tx in try tx.keepRefused(record, limit: Self.refusedLimit) }
        } catch {
            logger.warning("a refused notification was not kept", metadata: ["account": "\(account.rawValue)"])
        }
    }
}
