import Domain
import Logging
import Store

/// The days for which notifications and idempotency keys are stored.
package struct RetentionPolicy: Sendable, Equatable {
    /// The days of raw notifications; their hashes and facts stay.
    package var rawDays: Int64
    package var idempotencyDays: Int64

    package init(rawDays: Int64 = 90, idempotencyDays: Int64 = 30) {
        self.rawDays = rawDays
        self.idempotencyDays = idempotencyDays
    }
}

/// Deletes rows after their retention.
struct Retention: Sendable {
    let store: StoreAccess
    let policy: RetentionPolicy
    let time: BusinessTime
    let logger: Logger

    private static let retentionInterval: Int64 = 3_600
    /// The days for which a refused notification is stored (`docs/api.md` section 9).
    private static let refusedDays: Int64 = 7
    /// The days for which a session is stored after it can no longer read, so that its token is refused as ended.
    private static let sessionDays: Int64 = 30
    /// The seconds for which every receipt is stored, because its client may be about to use it.
    private static let receiptSeconds: Int64 = 86_400
    /// The rows of a transaction, few so that it does not block others for long, and the transactions of a run.
    private static let retentionRows: Int64 = 500
    private static let retentionRounds = 20

    /// Deletes rows after their retention, and hashes idempotency keys that an earlier release stored unhashed.
    ///
    /// The evidence of purchases stays, because it proves that a paid order was paid (`docs/domain.md` section 10,
    /// invariant 8).
    func apply() async throws(GatewayError) -> JobOutcome {
        var isMore = false
        for (perishable, days) in [
            (.rawNotifications, policy.rawDays), (.refusedNotifications, Self.refusedDays),
            (.idempotencyKeys, policy.idempotencyDays), (.sessions, Self.sessionDays),
            (.consoleSessions, 0), (.offerSignatures, SignedOffers.lifeDays),
        ] as [(RetentionTable, Int64)] {
            let dropped = try await drop(perishable, olderThan: days)
            guard dropped > 0 else { continue }
            isMore = isMore || dropped >= Int(Self.retentionRows) * Self.retentionRounds
            logger.info(
                "kept for its time and dropped", metadata: ["what": "\(perishable)", "rows": "\(dropped)"])
        }
        try await dropReceipts()
        let digested = try await digestKeys()
        return .again(after: isMore || digested == Self.retentionRows ? 0 : Self.retentionInterval)
    }

    /// Deletes receipts whose purchases all have better evidence by now.
    private func dropReceipts() async throws(GatewayError) {
        let (kind, now) = (JobKind.checkReceipt.rawValue, time.now)
        var last: ReceiptDigest?
        while true {
            let after = last
            let page = try await store.report { db in
                try db.receipts.listUnused(withoutJob: kind, after: after, limit: Self.retentionRows)
            }
            guard let end = page.last else { return }
            last = end
            guard !page.unused.isEmpty else { continue }
            _ = try await store.write { tx in
                try page.unused.count {
                    try tx.receipts.delete($0, withoutJob: kind, olderThan: Self.receiptSeconds, at: now)
                }
            }
        }
    }

    /// Hashes the idempotency keys that an earlier release stored unhashed.
    private func digestKeys() async throws(GatewayError) -> Int64 {
        Int64(try await store.write { tx in try tx.idempotencyKeys.digestAll(limit: Self.retentionRows) })
    }

    private func drop(_ perishable: RetentionTable, olderThan days: Int64) async throws(GatewayError) -> Int {
        let now = time.reading
        var dropped = 0
        for _ in 0..<Self.retentionRounds {
            let rows = try await store.write { tx in
                try tx.retention.delete(perishable, olderThan: days, limit: Self.retentionRows, at: now)
            }
            dropped += rows
            guard rows == Int(Self.retentionRows) else { break }
        }
        return dropped
    }
}
