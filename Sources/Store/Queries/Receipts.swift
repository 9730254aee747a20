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

    /// Of the next receipts in the order of their digests, those that nothing needs any more.
    ///
    /// - Parameters:
    ///   - kind: of the jobs that still ask about a receipt.
    ///   - limit: how many are looked at.
    /// - Returns: with the last that was looked at; nil at the end.
    package func unusedReceipts(
        withoutJob kind: String, after last: ReceiptDigest?, limit: Int64
    ) throws(StoreError) -> (unused: [ReceiptDigest], last: ReceiptDigest?) {
        let found = try rows(
            """
            SELECT r.digest, CASE WHEN EXISTS (SELECT 1 FROM purchases p WHERE p.receipt = r.digest)
                OR EXISTS (SELECT 1 FROM jobs j WHERE j.kind = ? AND j.subject = r.digest) THEN 1 ELSE 0 END AS needed
            FROM (SELECT digest FROM receipts WHERE digest > ? ORDER BY digest LIMIT ?) r ORDER BY r.digest
            """, [kind, last?.rawValue ?? "", limit])
        let digests = try found.map { row throws(StoreError) in try row.text("digest") }
        let unused = zip(digests, found).filter { $1["needed"] == .integer(0) }
        return (unused.compactMap { ReceiptDigest($0.0) }, digests.last.flatMap(ReceiptDigest.init))
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
