package import Domain
package import FoundationEssentials

extension PurchaseQueries where Connection == any Transaction {
    /// Inserts a transaction, or replaces an older signed version of it.
    ///
    /// A signed transaction replaces a receipt, whichever came first, with one exception: a revocation in a newer
    /// receipt counts. No receipt reverses a revocation, because most receipts do not show refunds. Of two versions
    /// that were signed in the same millisecond, always the same one counts.
    ///
    /// - Parameter evidence: the sealed signed text; nil leaves the stored one.
    /// - Returns: false when the stored version is as new, so that nothing changed.
    package func upsert(
        _ purchase: StorePurchase, key: String, account: AccountID, evidence: Data?, at now: Timestamp
    ) throws(StoreError) -> DeferredResult<Bool> {
        let isNewer = try upsertVersion(purchase, key: key, account: account, evidence: evidence, at: now)
        guard purchase.receipt != nil, let revocation = purchase.revocation else { return isNewer.map { $0 == 1 } }
        let isTakenBack = try tx.deferredExecute(
            """
            UPDATE purchases SET receipt_signed_at = ?, receipt_revoked_at = ?,
                revoked_at = CASE WHEN revoked_at IS NULL AND (receipt IS NOT NULL OR signed_at < ?) THEN ?
                    ELSE revoked_at END
            WHERE environment = ? AND key = ? AND COALESCE(receipt_signed_at, -1) < ?
            """, purchase.signedAt, revocation.at, purchase.signedAt, revocation.at, purchase.environment.rawValue, key,
            purchase.signedAt)
        return isNewer.with(isTakenBack).map { $0 == 1 || $1 == 1 }
    }

    private func upsertVersion(
        _ purchase: StorePurchase, key: String, account: AccountID, evidence: Data?, at now: Timestamp
    ) throws(StoreError) -> DeferredResult<Int> {
        try tx.deferredExecute(
            """
            INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
                original_transaction_id, kind, purchased_at, expires_at, signed_at, quantity, price, currency,
                app_account_token, is_renewal, is_upgraded, is_family_shared, revoked_at, revocation_reason,
                revocation_percentage, revocation_ends_sharing, offer, commitment_ends_at, web_order_line_item_id,
                receipt, receipt_ends_at, box, evidence, received_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (environment, key) DO UPDATE SET
                kind = CASE WHEN excluded.kind = '' THEN purchases.kind ELSE excluded.kind END,
                quantity = excluded.quantity, is_renewal = excluded.is_renewal,
                price = COALESCE(excluded.price, purchases.price),
                currency = CASE WHEN excluded.price IS NULL THEN purchases.currency ELSE excluded.currency END,
                is_family_shared = excluded.is_family_shared, receipt = excluded.receipt,
                receipt_ends_at = excluded.receipt_ends_at,
                expires_at = excluded.expires_at, signed_at = excluded.signed_at, is_upgraded = excluded.is_upgraded,
                app_account_token = COALESCE(excluded.app_account_token, purchases.app_account_token),
                revoked_at = CASE WHEN excluded.revoked_at IS NOT NULL THEN excluded.revoked_at
                    WHEN excluded.receipt IS NOT NULL THEN purchases.revoked_at
                    WHEN purchases.receipt_signed_at > excluded.signed_at THEN purchases.receipt_revoked_at END,
                revocation_reason = excluded.revocation_reason,
                revocation_percentage = excluded.revocation_percentage,
                revocation_ends_sharing = excluded.revocation_ends_sharing, offer = excluded.offer,
                commitment_ends_at = excluded.commitment_ends_at,
                web_order_line_item_id = COALESCE(excluded.web_order_line_item_id, purchases.web_order_line_item_id),
                evidence = COALESCE(excluded.evidence, purchases.evidence)
            WHERE (CASE WHEN excluded.receipt IS NULL THEN 1 ELSE 0 END, excluded.signed_at,
                    COALESCE(excluded.revoked_at, 0), COALESCE(excluded.revocation_percentage, \(Order.wholeShare)),
                    excluded.is_upgraded, COALESCE(excluded.expires_at, 0))
                > (CASE WHEN purchases.receipt IS NULL THEN 1 ELSE 0 END, purchases.signed_at,
                    COALESCE(purchases.revoked_at, 0), COALESCE(purchases.revocation_percentage, \(Order.wholeShare)),
                    purchases.is_upgraded, COALESCE(purchases.expires_at, 0))
            """,
            purchase.environment.rawValue, key, account, purchase.bundleID, purchase.productID,
            purchase.transactionID, purchase.originalTransactionID, purchase.kind.rawValue, purchase.purchasedAt,
            purchase.expiresAt, purchase.signedAt, purchase.quantity, purchase.priceMilliunits, purchase.currency?.code,
            purchase.appAccountToken, purchase.isRenewal, purchase.isUpgraded, purchase.isFamilyShared,
            purchase.revocation?.at, purchase.revocation?.reason, purchase.revocation?.percentage,
            purchase.revocation?.endsSharing, try purchase.offer?.storedJSON(), purchase.commitmentEndsAt,
            purchase.webOrderLineItemID, purchase.receipt?.rawValue, purchase.receiptEndsAt,
            purchase.isFromBox, evidence, now)
    }
}
