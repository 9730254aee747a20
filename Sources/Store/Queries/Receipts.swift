package import Domain
package import FoundationEssentials

/// A receipt as it is kept, sealed.
package struct ReceiptRecord: Sendable {
    package let account: AccountID
    package let evidence: Data
}

extension Database {
    package func receipt(_ digest: ReceiptDigest) throws(StoreError) -> ReceiptRecord? {
        try row("SELECT account, evidence FROM receipts WHERE digest = ?", digest.rawValue).map {
            row throws(StoreError) in
            ReceiptRecord(account: try row.account("account"), evidence: try row.blob("evidence"))
        }
    }

    /// A page of receipts that nothing needs any more, in the order of their digests.
    ///
    /// - Parameter kind: of the jobs that still ask about a receipt.
    package func unusedReceipts(
        withoutJob kind: String, after last: ReceiptDigest?, limit: Int64
    ) throws(StoreError) -> [ReceiptDigest] {
        try rows(
            """
            SELECT digest FROM receipts r WHERE digest > ?
              AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.receipt = r.digest)
              AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = ? AND j.subject = r.digest)
            ORDER BY digest LIMIT ?
            """, [last?.rawValue ?? "", kind, limit]
        ).map { row throws(StoreError) in try row.text("digest") }
            .compactMap(ReceiptDigest.init)
    }
}

extension Transaction {
    /// Keeps a receipt once, and as something of this moment.
    ///
    /// - Parameter evidence: sealed.
    package func keepReceipt(
        _ digest: ReceiptDigest, account: AccountID, evidence: Data, at now: Timestamp
    ) throws(StoreError) {
        try run(
            """
            INSERT INTO receipts (digest, account, evidence, received_at) VALUES (?, ?, ?, \(dialect.clock))
            ON CONFLICT (digest) DO UPDATE SET received_at = excluded.received_at, account = excluded.account,
                evidence = CASE WHEN receipts.account = excluded.account THEN receipts.evidence ELSE excluded.evidence END
            """, digest.rawValue, account, evidence, now)
    }

    /// Drops a receipt that nothing needs, unless somebody has just sent it again.
    ///
    /// - Returns: whether it was dropped.
    package func dropReceipt(
        _ digest: ReceiptDigest, withoutJob kind: String, olderThan seconds: Int64, at now: Timestamp
    ) throws(StoreError) -> Bool {
        try run(
            """
            DELETE FROM receipts WHERE digest = ? AND received_at < \(dialect.clock) - ?
              AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.receipt = receipts.digest)
              AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = ? AND j.subject = receipts.digest)
            """, digest.rawValue, now, seconds, kind) == 1
    }
}
