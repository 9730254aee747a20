import Crypto
import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// How many messages that nobody signed are kept, in this node's memory.
///
/// Whoever knows an account's address can send as many as they like; what is kept of them must not cost the database its
/// time. What a provider did sign is kept whatever came before it.
struct RefusalLimits: Sendable {
    private let byAccount: RateLimiter
    private let byAddress: RateLimiter

    init(time: TimeSource) {
        byAccount = RateLimiter(perMinute: 120, time: time)
        byAddress = RateLimiter(perMinute: 60, time: time)
    }

    func allow(_ account: AccountID, from address: IPAddress?) -> Bool {
        byAddress.take(address?.source.description ?? "unknown") == nil && byAccount.take(account.rawValue) == nil
    }
}

extension Gateway {
    /// So many of an account are kept, and so many bytes of them.
    private static let refusedLimits = RefusedLimits(count: 1_000, bytes: 8 << 20)
    /// A larger body that nobody signed is no notification of any provider; it is counted and forgotten.
    private static let refusedBytes = 256 << 10

    /// Keeps a notification that did not verify, so that it can be verified again once a mistake of ours is mended.
    ///
    /// It is kept once, however often it comes. Where there is no room, those make room first that nobody signed, the
    /// oldest of them first.
    func keepRefused(
        _ notification: RawNotification, at account: AccountID, because reason: UnprovenReason,
        from address: IPAddress? = nil
    ) async {
        if !reason.isSigned {
            guard notification.body.count <= Self.refusedBytes, refusalLimits.allow(account, from: address) else {
                return
            }
        }
        let id = ids.make(Domain.Notification.self)
        let now = time.now
        do {
            let raw = try SealedNotification(notification, id, by: keyRing)
            let record = NotificationRecord(
                id: id, account: account, eventID: "refused/\(notification.digest)", type: "", facts: "[]",
                body: raw.body, headers: raw.head, digest: Data(SHA256.hash(data: notification.body)), receivedAt: now,
                refusal: reason.word)
            try await write { tx in
                try tx.notifications.insertRefused(record, isSigned: reason.isSigned, limits: Self.refusedLimits)
            }
        } catch {
            lines.write("a refused notification was not kept", of: account.rawValue, ["account": "\(account)"]) {
                logger.warning("a refused notification was not kept", metadata: $0)
            }
        }
    }
}

extension RawNotification {
    /// The SHA-256 of the query and the body, in hexadecimal.
    fileprivate var digest: String {
        var hash = SHA256()
        hash.update(data: Data("\(query.utf8.count):\(query)".utf8))
        hash.update(data: body)
        return hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
