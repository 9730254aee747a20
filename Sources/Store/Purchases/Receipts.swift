package import Domain
package import FoundationEssentials

/// A stored receipt.
package struct ReceiptRecord: Sendable {
    package let account: AccountID
    package let evidence: Data
}

/// App Store receipts, sealed.
///
/// `db.receipts` reads; `tx.receipts` also writes.
package struct ReceiptQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var receipts: ReceiptQueries<any Database> { ReceiptQueries(db: self, tx: self) }
}

extension Transaction {
    package var receipts: ReceiptQueries<any Transaction> { ReceiptQueries(db: self, tx: self) }
}

extension ReceiptQueries {
    package func find(_ digest: ReceiptDigest) throws(StoreError) -> ReceiptRecord? {
        try db.row("SELECT account, evidence FROM receipts WHERE digest = ?", digest.rawValue).map {
            row throws(StoreError) in
            ReceiptRecord(account: try row.account("account"), evidence: try row.blob("evidence"))
        }
    }

    /// Examines the next receipts in the order of their digests and lists those that neither a purchase nor a job
    /// needs.
    ///
    /// - Parameters:
    ///   - kind: the kind of the jobs that check a receipt.
    ///   - limit: the number of receipts to examine.
    /// - Returns: the unused receipts, and the last one that was examined; nil at the end.
    package func listUnused(
        withoutJob kind: String, after last: ReceiptDigest?, limit: Int64
    ) throws(StoreError) -> (unused: [ReceiptDigest], last: ReceiptDigest?) {
        let found = try db.rows(
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

extension ReceiptQueries where Connection == any Transaction {
    /// Inserts a receipt, or sets the time of a stored one to now.
    ///
    /// - Parameter evidence: the sealed receipt.
    package func upsert(
        _ digest: ReceiptDigest, account: AccountID, evidence: Data, at now: Timestamp
    ) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO receipts (digest, account, evidence, received_at) VALUES (?, ?, ?, \(tx.dialect.businessClock))
            ON CONFLICT (digest) DO UPDATE SET received_at = excluded.received_at, account = excluded.account,
                evidence = CASE WHEN receipts.account = excluded.account THEN receipts.evidence ELSE excluded.evidence END
            """, digest.rawValue, account, evidence, now)
    }

    /// Deletes a receipt that neither a purchase nor a job needs, unless it was sent again recently.
    ///
    /// - Returns: true when it was deleted.
    package func delete(
        _ digest: ReceiptDigest, withoutJob kind: String, olderThan seconds: Int64, at now: Timestamp
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            DELETE FROM receipts WHERE digest = ? AND received_at < \(tx.dialect.businessClock) - ?
              AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.receipt = receipts.digest)
              AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = ? AND j.subject = receipts.digest)
            """, digest.rawValue, now, seconds, kind) == 1
    }
}
