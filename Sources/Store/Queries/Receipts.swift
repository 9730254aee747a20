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
}

extension Transaction {
    /// Keeps a receipt once.
    ///
    /// - Parameter evidence: sealed.
    package func keepReceipt(
        _ digest: ReceiptDigest, account: AccountID, evidence: Data, at now: Timestamp
    ) throws(StoreError) {
        try run(
            """
            INSERT INTO receipts (digest, account, evidence, received_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, digest.rawValue, account, evidence, now)
    }

    /// Forgets a receipt whose purchases all have other evidence by now, unless a job of this kind needs it still.
    package func dropReceipt(_ digest: ReceiptDigest, unlessJob kind: String) throws(StoreError) {
        try run(
            """
            DELETE FROM receipts WHERE digest = ?
              AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.receipt = receipts.digest)
              AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = ? AND j.subject = receipts.digest)
            """, digest.rawValue, kind)
    }
}
