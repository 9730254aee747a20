import Crypto
import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// The limits, in this node's memory, of storing unsigned notifications.
///
/// Anybody who knows an account's address can send any number of them, and storing them must not occupy the database. A
/// notification with a valid signature is always stored.
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

/// The quarantine of notifications that did not verify.
struct RefusedNotifications: Sendable {
    private let store: StoreAccess
    private let keyRing: KeyRing
    private let ids: IDSource
    private let time: BusinessTime
    private let lines: RepeatedLines
    private let logger: Logger
    private let meter: RefusalMeter
    private let limits: RefusalLimits

    /// - Parameter accounts: the configured accounts, for which refusals are counted.
    init(
        store: StoreAccess, keyRing: KeyRing, accounts: [AccountID], ids: IDSource, time: BusinessTime,
        lines: RepeatedLines, logger: Logger
    ) {
        self.store = store
        self.keyRing = keyRing
        self.ids = ids
        self.time = time
        self.lines = lines
        self.logger = logger
        meter = RefusalMeter(accounts)
        limits = RefusalLimits(time: time.real)
    }

    /// The largest number and bytes of an account's refused notifications.
    private static let refusedLimits = RefusedLimits(count: 1_000, bytes: 8 << 20)
    /// The largest unsigned body that is stored; no provider's notification is larger.
    private static let refusedBytes = 256 << 10

    /// Counts a notification that did not verify, and stores it, so that it can be verified again once the
    /// configuration is corrected.
    ///
    /// A repetition is stored once. Where there is no room, the oldest unsigned one is deleted first.
    func keep(
        _ notification: RawNotification, at account: AccountID, because reason: UnprovenReason,
        from address: IPAddress? = nil
    ) async {
        meter.count(reason, at: account)
        if !reason.isSigned {
            guard notification.body.count <= Self.refusedBytes, limits.allow(account, from: address) else {
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
            try await store.write { tx in
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
        return Hex.encoded(hash.finalize())
    }
}
