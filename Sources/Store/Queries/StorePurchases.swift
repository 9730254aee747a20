package import Domain
package import FoundationEssentials

/// A verified store purchase as it is kept: the newest signed version of each transaction, with what became of it.
package struct PurchaseRecord: Sendable, Equatable {
    package internal(set) var purchase: StorePurchase
    package let account: AccountID
    /// nil while nobody has claimed it.
    package let user: ID<User>?
    /// nil while no SKU knows the product.
    package let sku: SKUCode?
    /// The days that the pattern or the client's fallback gives.
    package let days: Int64?
    package let order: ID<Order>?
    /// Whether its order gave nothing, because the user owned it already.
    package internal(set) var isHeld = false

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

extension Database {
    /// Whether something that was owned already was bought again, so that it was not given.
    static var isHeld: String {
        """
        EXISTS (SELECT 1 FROM order_anomalies a
            WHERE a.order_id = purchases.order_id AND a.anomaly = 'duplicate_ownership')
        AND NOT EXISTS (SELECT 1 FROM grants g
            WHERE g.source_kind = 'apple_transaction' AND g.environment = purchases.environment
              AND g.source_id = purchases.key AND g.user_id = purchases.user_id)
        """
    }

    /// All but the evidence, which is most of a row.
    static var purchaseColumns: String {
        """
        environment, account, bundle_id, product_id, transaction_id, original_transaction_id, kind, purchased_at, \
        expires_at, signed_at, quantity, price, currency, app_account_token, is_renewal, is_upgraded, is_family_shared, \
        revoked_at, revocation_reason, revocation_percentage, revocation_ends_sharing, offer, commitment_ends_at, \
        web_order_line_item_id, receipt, receipt_ends_at, receipt_signed_at, receipt_revoked_at, user_id, sku, days, order_id, \
        CASE WHEN \(isHeld) THEN 1 ELSE 0 END AS is_held
        """
    }

    package func storePurchase(_ environment: Environment, _ key: String) throws(StoreError) -> PurchaseRecord? {
        try askStorePurchase(environment, key).value()
    }

    package func askStorePurchase(
        _ environment: Environment, _ key: String
    ) throws(StoreError) -> Pending<PurchaseRecord?> {
        try askStorePurchases(where: "environment = ? AND key = ?", [environment.rawValue, key]).map(\.first)
    }

    /// Every transaction of one original transaction, oldest first.
    package func storePurchases(
        _ environment: Environment, original: String
    ) throws(StoreError) -> [PurchaseRecord] {
        try askStorePurchases(
            where: "environment = ? AND original_transaction_id = ?", [environment.rawValue, original]
        ).value()
    }

    /// Every transaction of many original transactions, those of each oldest first.
    package func storePurchases(
        of subjects: [StoreSubject]
    ) throws(StoreError) -> [StoreSubject: [PurchaseRecord]] {
        var found: [StoreSubject: [PurchaseRecord]] = [:]
        for environment in Environment.allCases {
            let originals = subjects.filter { $0.environment == environment }.map(\.original)
            let rows = try rowsByKey(originals, "original_transaction_id", binding: [environment.rawValue]) {
                """
                SELECT \(Self.purchaseColumns) FROM purchases WHERE environment = ? AND original_transaction_id IN (\($0))
                ORDER BY original_transaction_id, purchased_at, key
                """
            }
            for (original, rows) in rows {
                found[StoreSubject(environment, original)] = try rows.map { row throws(StoreError) in
                    try Self.purchase(row)
                }
            }
        }
        return found
    }

    /// Kept transactions by a condition of SQL, oldest first.
    func askStorePurchases(
        where condition: String, _ arguments: [any SQLBindable]
    ) throws(StoreError) -> Pending<[PurchaseRecord]> {
        try askRows(
            "SELECT \(Self.purchaseColumns) FROM purchases WHERE \(condition) ORDER BY purchased_at, key", arguments
        ).each(Self.purchase)
    }

    /// Claimed purchases that no SKU knew when they came, oldest first.
    package func unmappedPurchases(
        after cursor: (Environment, String)?, limit: Int64
    ) throws(StoreError) -> [PurchaseRecord] {
        try rows(
            """
            SELECT \(Self.purchaseColumns) FROM purchases WHERE sku IS NULL AND (environment, key) > (?, ?)
            ORDER BY environment, key LIMIT ?
            """, [cursor?.0.rawValue ?? "", cursor?.1 ?? "", limit]
        ).map { row throws(StoreError) in try Self.purchase(row) }
    }

    /// Given purchases that an earlier release treated otherwise: a part was taken back, an end was signed of what is no
    /// subscription by its type, or the period lay ahead when it was signed.
    package func purchasesToRegrade(
        after cursor: (Environment, String)?, limit: Int64
    ) throws(StoreError) -> [PurchaseRecord] {
        try rows(
            """
            SELECT \(Self.purchaseColumns) FROM purchases
            WHERE (environment, key) > (?, ?) AND order_id IS NOT NULL AND user_id IS NOT NULL
              AND (revoked_at IS NOT NULL AND revocation_percentage < \(Order.wholeShare)
                OR expires_at IS NOT NULL AND (kind <> 'Auto-Renewable Subscription' OR purchased_at > signed_at))
            ORDER BY environment, key LIMIT ?
            """, [cursor?.0.rawValue ?? "", cursor?.1 ?? "", limit]
        ).map { row throws(StoreError) in try Self.purchase(row) }
    }

    /// Whether a store's purchase paid an order.
    package func isStoreOrder(_ order: ID<Order>) throws(StoreError) -> Bool { try askIsStoreOrder(order).value() }

    package func askIsStoreOrder(_ order: ID<Order>) throws(StoreError) -> Pending<Bool> {
        try ask("SELECT key FROM purchases WHERE order_id = ?", order).map { !$0.isEmpty }
    }

    /// The account that verified the purchase of an order; nil where it is no store's order.
    package func storeAccount(of order: ID<Order>) throws(StoreError) -> AccountID? {
        try row("SELECT account FROM purchases WHERE order_id = ?", order)?.account("account")
    }

    /// Whose the purchase of an order is by now; nil where it is no store's order.
    package func purchaser(of order: ID<Order>) throws(StoreError) -> ID<User>? {
        try row("SELECT user_id FROM purchases WHERE order_id = ?", order)?.optionalID("user_id")
    }

    /// The owner that a purchase is bound to.
    package func purchaseOwner(_ environment: Environment, original: String) throws(StoreError) -> ID<User>? {
        try askPurchaseOwner(of: StoreSubject(environment, original)).value()
    }

    package func askPurchaseOwner(of subject: StoreSubject) throws(StoreError) -> Pending<ID<User>?> {
        try ask(
            "SELECT user_id FROM purchase_owners WHERE environment = ? AND original_transaction_id = ?",
            subject.environment.rawValue, subject.original
        ).first { row throws(StoreError) in try row.id("user_id") }
    }

    /// The user whom an `appAccountToken` was made for.
    package func user(appAccountToken token: String) throws(StoreError) -> ID<User>? {
        try askUser(appAccountToken: token).value()
    }

    package func askUser(appAccountToken token: String) throws(StoreError) -> Pending<ID<User>?> {
        try ask("SELECT user_id FROM user_states WHERE app_account_token = ?", token)
            .first { row throws(StoreError) in try row.id("user_id") }
    }

    /// The SKU that an Apple product id means: an entry of the app before one of any app, a literal before a pattern.
    package func skuOf(appleProduct product: String, bundle: String) throws(StoreError) -> (sku: SKU, days: Int64?)? {
        let named = try askSKU(named: product, bundle: bundle).value()
        return try skuOf(appleProduct: product, bundle: bundle, named: named)
    }

    /// The SKU that names an Apple product id literally: for the app before for any app.
    package func askSKU(named product: String, bundle: String) throws(StoreError) -> Pending<SKU?> {
        let own = "\(bundle):\(product)"
        return try ask(
            """
            SELECT a.entry, s.number, s.body FROM apple_products a JOIN skus s ON s.id = a.sku WHERE a.entry = ?
            UNION ALL
            SELECT a.entry, s.number, s.body FROM apple_products a JOIN skus s ON s.id = a.sku WHERE a.entry = ?
            """, own, product
        ).map { rows throws(StoreError) in
            let row = rows.first { $0["entry"] == .text(own) } ?? rows.first
            return try row.map { row throws(StoreError) in try Self.sku(row) }
        }
    }

    /// - Parameter named: what ``askSKU(named:bundle:)`` finds.
    package func skuOf(
        appleProduct product: String, bundle: String, named: SKU?
    ) throws(StoreError) -> (sku: SKU, days: Int64?)? {
        if let named { return (named, named.durationDays) }
        var fitting: (code: SKUCode, days: Int64)?
        for row in try rows("SELECT entry, sku FROM apple_products WHERE is_pattern = 1 ORDER BY entry") {
            guard let entry = AppleProduct(try row.text("entry")), entry.bundle == nil || entry.bundle == bundle,
                let days = entry.days(in: product), entry.bundle != nil || fitting == nil
            else { continue }
            fitting = (try row.code("sku"), days)
            if entry.bundle != nil { break }
        }
        guard let fitting, let sku = try sku(fitting.code) else { return nil }
        return (sku, fitting.days)
    }

    /// A user's orders that wait for an Apple purchase of this product and were made before it: those of the SKU that the
    /// product means now, then those of one that offered it, newest first.
    package func ordersAwaiting(
        appleProduct product: String, sku: SKUCode, user: ID<User>, before limit: Timestamp
    ) throws(StoreError) -> [(order: ID<Order>, payment: ID<Payment>)] {
        var waiting: [(order: ID<Order>, payment: ID<Payment>)] = []
        let offers = try rows(
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

    static func purchase(_ row: Row) throws(StoreError) -> PurchaseRecord {
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
        if let at = try row.optionalInt("receipt_revoked_at"), let signed = try row.optionalInt("receipt_signed_at") {
            purchase.receiptRevocation = StorePurchase.ReceiptRevocation(at: at, signedAt: signed)
        }
        var record = PurchaseRecord(
            purchase: purchase, account: try row.account("account"), user: try row.optionalID("user_id"),
            sku: try row.optionalText("sku").flatMap(SKUCode.init), days: try row.optionalInt("days"),
            order: try row.optionalID("order_id"))
        record.isHeld = try row.bool("is_held")
        return record
    }
}

extension Transaction {
    /// Keeps a purchase: a transaction that is not known is added, a newer signed version replaces an older one.
    ///
    /// What a receipt says gives way to what was signed of the transaction itself, whichever came first, with one exception:
    /// a newer receipt that says that it was taken back is believed. No receipt gives anything again, because most of them
    /// do not tell of a refund. Of two versions that were signed in the same millisecond one counts always.
    /// - Parameter evidence: nil leaves what was kept before.
    /// - Returns: false when the stored version is as new, so that nothing changed.
    package func keepPurchase(
        _ purchase: StorePurchase, key: String, account: AccountID, evidence: Data?, at now: Timestamp
    ) throws(StoreError) -> Pending<Bool> {
        let isNewer = try keepVersion(purchase, key: key, account: account, evidence: evidence, at: now)
        guard purchase.receipt != nil, let revocation = purchase.revocation else { return isNewer.map { $0 == 1 } }
        let isTakenBack = try attempt(
            """
            UPDATE purchases SET receipt_signed_at = ?, receipt_revoked_at = ?,
                revoked_at = CASE WHEN revoked_at IS NULL AND (receipt IS NOT NULL OR signed_at < ?) THEN ?
                    ELSE revoked_at END
            WHERE environment = ? AND key = ? AND COALESCE(receipt_signed_at, -1) < ?
            """, purchase.signedAt, revocation.at, purchase.signedAt, revocation.at, purchase.environment.rawValue, key,
            purchase.signedAt)
        return isNewer.with(isTakenBack).map { $0 == 1 || $1 == 1 }
    }

    private func keepVersion(
        _ purchase: StorePurchase, key: String, account: AccountID, evidence: Data?, at now: Timestamp
    ) throws(StoreError) -> Pending<Int> {
        try attempt(
            """
            INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
                original_transaction_id, kind, purchased_at, expires_at, signed_at, quantity, price, currency,
                app_account_token, is_renewal, is_upgraded, is_family_shared, revoked_at, revocation_reason,
                revocation_percentage, revocation_ends_sharing, offer, commitment_ends_at, web_order_line_item_id,
                receipt, receipt_ends_at, evidence, received_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
            purchase.webOrderLineItemID, purchase.receipt?.rawValue, purchase.receiptEndsAt, evidence, now)
    }

    /// Binds an original transaction to its first claimant.
    ///
    /// - Parameter known: the owner just before, whom nobody can have changed since.
    /// - Returns: the owner: this user, or who came before.
    package func bindPurchase(
        _ subject: StoreSubject, to user: ID<User>, known: Pending<ID<User>?>? = nil, at now: Timestamp
    ) throws(StoreError) -> ID<User> {
        let bound = try run(
            """
            INSERT INTO purchase_owners (environment, original_transaction_id, user_id, bound_at) VALUES (?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, subject.environment.rawValue, subject.original, user, now)
        if bound == 1 { return user }
        if let owner = try known?.value() { return owner }
        guard let owner = try purchaseOwner(subject.environment, original: subject.original) else {
            throw .unavailable("a purchase is being bound")
        }
        return owner
    }

    /// Gives an original transaction's binding, its kept purchases and their grants to another user.
    package func movePurchases(
        _ environment: Environment, original: String, from old: ID<User>, to new: ID<User>, at now: Timestamp
    ) throws(StoreError) {
        try run(
            """
            UPDATE purchase_owners SET user_id = ?, bound_at = ?
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, new, now, environment.rawValue, original, old)
        try run(
            """
            UPDATE grants SET user_id = ? WHERE user_id = ? AND environment = ?
              AND (source_kind = 'apple_subscription' AND source_id = ?
                OR source_kind = 'apple_transaction' AND source_id IN (
                    SELECT key FROM purchases WHERE environment = ? AND original_transaction_id = ?))
            """, new, old, environment.rawValue, original, environment.rawValue, original)
        try run(
            """
            UPDATE purchases SET user_id = ?, consumption_consent = NULL
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, new, environment.rawValue, original, old)
        try run(
            """
            UPDATE subscriptions SET user_id = ?
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, new, environment.rawValue, original, old)
    }

    /// Records whose a purchase is, what it means and which order it completes.
    package func placePurchase(
        _ purchase: StorePurchase, key: String, user: ID<User>?, sku: SKUCode?, days: Int64?, order: ID<Order>?
    ) throws(StoreError) {
        try send(
            "UPDATE purchases SET user_id = ?, sku = ?, days = ?, order_id = ? WHERE environment = ? AND key = ?",
            user, sku, days, order, purchase.environment.rawValue, key)
    }
}
