package import Domain
package import FoundationEssentials

/// A stored App Store transaction in its newest signed version, with its user, SKU and order.
package struct PurchaseRecord: Sendable, Equatable {
    package internal(set) var purchase: StorePurchase
    package let account: AccountID
    /// nil while it is unclaimed.
    package let user: ID<User>?
    /// nil while no SKU maps the product.
    package let sku: SKUCode?
    /// The days from the SKU's pattern or the client's fallback.
    package let days: Int64?
    package let order: ID<Order>?
    /// True when its order granted nothing, because the user owned the product already.
    package internal(set) var isDuplicate = false

    package init(
        purchase: StorePurchase, account: AccountID, user: ID<User>?, sku: SKUCode?, days: Int64?, order: ID<Order>?
    ) {
        self.purchase = purchase
        self.account = account
        self.user = user
        self.sku = sku
        self.days = days
        self.order = order
    }
}

/// Verified App Store transactions.
///
/// `db.purchases` reads; `tx.purchases` also writes.
package struct PurchaseQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var purchases: PurchaseQueries<any Database> { PurchaseQueries(db: self, tx: self) }
}

extension Transaction {
    package var purchases: PurchaseQueries<any Transaction> { PurchaseQueries(db: self, tx: self) }
}

extension PurchaseQueries {
    /// Lists the latest purchases that a user holds now or has an order of, newest first.
    package func list(of user: ID<User>, limit: Int64) throws(StoreError) -> [PurchaseRecord] {
        try db.rows(
            """
            SELECT \(PurchaseRecord.columns) FROM (
                SELECT place, name FROM (SELECT environment AS place, key AS name FROM purchases WHERE user_id = ?
                    ORDER BY purchased_at DESC, key DESC LIMIT ?) AS own
                UNION
                SELECT p.environment, p.key FROM orders o JOIN purchases p ON p.order_id = o.id
                WHERE o.user_id = ? AND (p.user_id IS NULL OR p.user_id <> o.user_id)) AS found
            CROSS JOIN purchases WHERE environment = found.place AND key = found.name
            ORDER BY purchased_at DESC, key DESC LIMIT ?
            """, [user, limit, user, limit]
        ).map(PurchaseRecord.init(row:))
    }

    package func find(
        _ environment: Environment, _ key: String
    ) throws(StoreError) -> DeferredResult<PurchaseRecord?> {
        try list(where: "environment = ? AND key = ?", [environment.rawValue, key]).map(\.first)
    }

    /// Lists the transactions of one original transaction, oldest first.
    package func list(
        _ environment: Environment, original: String
    ) throws(StoreError) -> [PurchaseRecord] {
        try list(
            where: "environment = ? AND original_transaction_id = ?", [environment.rawValue, original]
        ).value()
    }

    /// Lists the transactions of many original transactions, oldest first within each.
    package func list(
        of subjects: [StoreSubject]
    ) throws(StoreError) -> [StoreSubject: [PurchaseRecord]] {
        var found: [StoreSubject: [PurchaseRecord]] = [:]
        for environment in Environment.allCases {
            let originals = subjects.filter { $0.environment == environment }.map(\.original)
            let rows = try db.rowsByKey(originals, "original_transaction_id", binding: [environment.rawValue]) {
                """
                SELECT \(PurchaseRecord.columns) FROM purchases WHERE environment = ? AND original_transaction_id IN (\($0))
                ORDER BY original_transaction_id, purchased_at, key
                """
            }
            for (original, rows) in rows {
                found[StoreSubject(environment, original)] = try rows.map(PurchaseRecord.init(row:))
            }
        }
        return found
    }

    /// Lists the transactions that meet a condition in SQL, oldest first.
    func list(
        where condition: String, _ arguments: [any SQLBindable]
    ) throws(StoreError) -> DeferredResult<[PurchaseRecord]> {
        try db.deferredRows(
            "SELECT \(PurchaseRecord.columns) FROM purchases WHERE \(condition) ORDER BY purchased_at, key", arguments
        ).each(PurchaseRecord.init(row:))
    }

    /// Lists purchases with an order that an earlier release evaluated differently.
    ///
    /// These are partially revoked purchases, products other than auto-renewable subscriptions with a signed end, and
    /// periods that began after they were signed.
    package func listOutdated(
        after cursor: (Environment, String)?, limit: Int64
    ) throws(StoreError) -> [PurchaseRecord] {
        try db.rows(
            """
            SELECT \(PurchaseRecord.columns) FROM purchases
            WHERE (environment, key) > (?, ?) AND order_id IS NOT NULL AND user_id IS NOT NULL
              AND (revoked_at IS NOT NULL AND revocation_percentage < \(Order.wholeShare)
                OR expires_at IS NOT NULL AND (kind <> 'Auto-Renewable Subscription' OR purchased_at > signed_at))
            ORDER BY environment, key LIMIT ?
            """, [cursor?.0.rawValue ?? "", cursor?.1 ?? "", limit]
        ).map(PurchaseRecord.init(row:))
    }

    /// Returns whether a store purchase paid an order.
    package func exists(for order: ID<Order>) throws(StoreError) -> DeferredResult<Bool> {
        try db.deferredRows("SELECT key FROM purchases WHERE order_id = ?", order).map { !$0.isEmpty }
    }

    /// Finds the account that verified the purchase of an order; nil for an order of a provider.
    package func findAccount(of order: ID<Order>) throws(StoreError) -> AccountID? {
        try db.row("SELECT account FROM purchases WHERE order_id = ?", order)?.account("account")
    }

    /// Finds the user who holds the purchase of an order now; nil for an order of a provider.
    package func findUser(of order: ID<Order>) throws(StoreError) -> ID<User>? {
        try db.row("SELECT user_id FROM purchases WHERE order_id = ?", order)?.optionalID("user_id")
    }

    /// Lists a user's unpaid orders that offered this Apple product and were made before the purchase.
    ///
    /// Orders of the SKU to which the product maps now come first, then the others, newest first.
    package func listAwaitingOrders(
        appleProduct product: String, sku: SKUCode, user: ID<User>, before limit: Timestamp
    ) throws(StoreError) -> [(order: ID<Order>, payment: ID<Payment>)] {
        var waiting: [(order: ID<Order>, payment: ID<Payment>)] = []
        let offers = try db.rows(
            """
            SELECT p.order_id, p.id, p.offers FROM payments p JOIN orders o ON o.id = p.order_id
            WHERE o.user_id = ? AND o.state <> 'paid' AND p.offers IS NOT NULL AND o.created_at <= ?
            ORDER BY CASE WHEN o.sku = ? THEN 0 ELSE 1 END, p.order_id DESC, p.id DESC LIMIT 100
            """, [user, limit, sku])
        for row in offers where try row.text("offers").split(separator: " ").contains(product[...]) {
            waiting.append((try row.id("order_id"), try row.id("id")))
        }
        return waiting
    }
}

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

    /// Inserts a transaction that is not stored, with its user, SKU and order.
    ///
    /// - Parameter evidence: the sealed signed text.
    package func insert(
        _ record: PurchaseRecord, key: String, evidence: Data?, at now: Timestamp
    ) throws(StoreError) {
        try tx.enqueue(Self.insertion, try Self.values(of: record, key: key, evidence: evidence, at: now))
    }

    private func upsertVersion(
        _ purchase: StorePurchase, key: String, account: AccountID, evidence: Data?, at now: Timestamp
    ) throws(StoreError) -> DeferredResult<Int> {
        let record = PurchaseRecord(
            purchase: purchase, account: account, user: nil, sku: nil, days: nil, order: nil)
        return try tx.deferredExecute(
            """
            \(Self.insertion)
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
                app_transaction_id = COALESCE(excluded.app_transaction_id, purchases.app_transaction_id),
                evidence = COALESCE(excluded.evidence, purchases.evidence)
            WHERE (CASE WHEN excluded.receipt IS NULL THEN 1 ELSE 0 END, excluded.signed_at,
                    COALESCE(excluded.revoked_at, 0), COALESCE(excluded.revocation_percentage, \(Order.wholeShare)),
                    excluded.is_upgraded, COALESCE(excluded.expires_at, 0))
                > (CASE WHEN purchases.receipt IS NULL THEN 1 ELSE 0 END, purchases.signed_at,
                    COALESCE(purchases.revoked_at, 0), COALESCE(purchases.revocation_percentage, \(Order.wholeShare)),
                    purchases.is_upgraded, COALESCE(purchases.expires_at, 0))
            """, try Self.values(of: record, key: key, evidence: evidence, at: now))
    }

    private static var insertion: String {
        """
        INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
            original_transaction_id, kind, purchased_at, expires_at, signed_at, quantity, price, currency,
            app_account_token, is_renewal, is_upgraded, is_family_shared, revoked_at, revocation_reason,
            revocation_percentage, revocation_ends_sharing, offer, commitment_ends_at, web_order_line_item_id,
            receipt, receipt_ends_at, box, app_transaction_id, evidence, received_at, user_id, sku, days, order_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    }

    /// Returns the values of ``insertion`` in its order.
    private static func values(
        of record: PurchaseRecord, key: String, evidence: Data?, at now: Timestamp
    ) throws(StoreError) -> [any SQLBindable] {
        let purchase = record.purchase
        return [
            purchase.environment.rawValue, key, record.account, purchase.bundleID, purchase.productID,
            purchase.transactionID, purchase.originalTransactionID, purchase.kind.rawValue, purchase.purchasedAt,
            purchase.expiresAt, purchase.signedAt, purchase.quantity, purchase.priceMilliunits,
            purchase.currency?.code, purchase.appAccountToken, purchase.isRenewal, purchase.isUpgraded,
            purchase.isFamilyShared, purchase.revocation?.at, purchase.revocation?.reason,
            purchase.revocation?.percentage, purchase.revocation?.endsSharing, try purchase.offer?.storedJSON(),
            purchase.commitmentEndsAt, purchase.webOrderLineItemID, purchase.receipt?.rawValue,
            purchase.receiptEndsAt, purchase.isFromBox, purchase.appTransactionID, evidence, now, record.user,
            record.sku, record.days, record.order,
        ]
    }

    /// Sets the user, the SKU and the order of a purchase.
    package func assign(
        _ purchase: StorePurchase, key: String, user: ID<User>?, sku: SKUCode?, days: Int64?, order: ID<Order>?
    ) throws(StoreError) {
        try tx.enqueue(
            "UPDATE purchases SET user_id = ?, sku = ?, days = ?, order_id = ? WHERE environment = ? AND key = ?",
            user, sku, days, order, purchase.environment.rawValue, key)
    }
}

extension PurchaseRecord {
    /// A condition: the purchase granted nothing, because its user owned the product already.
    static var isDuplicateSQL: String {
        """
        EXISTS (SELECT 1 FROM order_anomalies a
            WHERE a.order_id = purchases.order_id AND a.anomaly = 'duplicate_ownership')
        AND NOT EXISTS (SELECT 1 FROM grants g
            WHERE g.source_kind = 'apple_transaction' AND g.environment = purchases.environment
              AND g.source_id = purchases.key AND g.user_id = purchases.user_id)
        """
    }

    /// All columns but the evidence, which is the largest part of a row.
    static var columns: String {
        """
        environment, account, bundle_id, product_id, transaction_id, original_transaction_id, kind, purchased_at, \
        expires_at, signed_at, quantity, price, currency, app_account_token, is_renewal, is_upgraded, is_family_shared, \
        revoked_at, revocation_reason, revocation_percentage, revocation_ends_sharing, offer, commitment_ends_at, \
        web_order_line_item_id, receipt, receipt_ends_at, receipt_signed_at, receipt_revoked_at, box, \
        app_transaction_id, user_id, sku, days, order_id, \
        CASE WHEN \(isDuplicateSQL) THEN 1 ELSE 0 END AS is_held
        """
    }

    init(row: Row) throws(StoreError) {
        let revocation = try row.optionalInt("revoked_at").map { at throws(StoreError) in
            StorePurchase.Revocation(
                at: at, reason: try row.optionalInt("revocation_reason"),
                percentage: try row.optionalInt("revocation_percentage"),
                endsSharing: try row.optionalInt("revocation_ends_sharing") == 1)
        }
        var purchase = StorePurchase(
            environment: try row.choice("environment"), bundleID: try row.text("bundle_id"),
            productID: try row.text("product_id"), transactionID: try row.text("transaction_id"),
            originalTransactionID: try row.text("original_transaction_id"),
            kind: StorePurchase.Kind(rawValue: try row.text("kind")), purchasedAt: try row.int("purchased_at"),
            expiresAt: try row.optionalInt("expires_at"), signedAt: try row.int("signed_at"),
            quantity: try row.int("quantity"), priceMilliunits: try row.optionalInt("price"),
            currency: try row.optionalText("currency").flatMap(Currency.init),
            appAccountToken: try row.optionalText("app_account_token"), isRenewal: try row.bool("is_renewal"),
            isUpgraded: try row.bool("is_upgraded"), isFamilyShared: try row.bool("is_family_shared"),
            revocation: revocation)
        purchase.offer = try row.optionalText("offer") == nil ? nil : try row.json("offer")
        purchase.commitmentEndsAt = try row.optionalInt("commitment_ends_at")
        purchase.webOrderLineItemID = try row.optionalText("web_order_line_item_id")
        purchase.receipt = try row.optionalText("receipt").flatMap(ReceiptDigest.init)
        purchase.receiptEndsAt = try row.optionalInt("receipt_ends_at")
        purchase.appTransactionID = try row.optionalText("app_transaction_id")
        if try row.bool("box") { purchase.box = true }
        if let at = try row.optionalInt("receipt_revoked_at"), let signed = try row.optionalInt("receipt_signed_at") {
            purchase.receiptRevocation = StorePurchase.ReceiptRevocation(at: at, signedAt: signed)
        }
        var record = PurchaseRecord(
            purchase: purchase, account: try row.account("account"), user: try row.optionalID("user_id"),
            sku: try row.optionalText("sku").flatMap(SKUCode.init), days: try row.optionalInt("days"),
            order: try row.optionalID("order_id"))
        record.isDuplicate = try row.bool("is_held")
        self = record
    }
}
