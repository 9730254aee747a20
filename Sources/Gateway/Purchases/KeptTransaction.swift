import Domain
import FoundationEssentials
import Store

/// The transaction of a claim: as it is stored, or as it will be inserted.
///
/// A new one is inserted once, with its user, SKU and order: its row and the entries of its indexes are the dearest write
/// of an attach.
struct KeptTransaction {
    let record: PurchaseRecord
    let key: String
    /// True where the claim changed the stored transaction, or is new.
    let isNewer: Bool
    private let isStored: Bool
    /// The sealed signed text of a transaction that is not stored yet.
    private let evidence: Data?

    /// Stores the newer version of a known transaction.
    ///
    /// A receipt's transaction is also stored where it is new, because its revocation has rules of its own
    /// (``PurchaseQueries/upsert(_:key:account:evidence:at:)``).
    ///
    /// - Parameter known: the stored transaction. The caller has locked its original, so that no other is stored meanwhile.
    init(_ claim: PurchaseClaim, key: String, known: PurchaseRecord?, in log: ChangeLog) throws {
        self.key = key
        let (purchase, purchases) = (claim.purchase, log.tx.purchases)
        if known == nil, purchase.receipt == nil {
            record = PurchaseRecord(
                purchase: purchase, account: claim.account, user: nil, sku: nil, days: nil, order: nil)
            (isNewer, isStored, evidence) = (true, false, claim.evidence)
            return
        }
        isNewer = try purchases.upsert(
            purchase, key: key, account: claim.account, evidence: claim.evidence, at: log.now
        ).value()
        let stored = isNewer ? try purchases.find(purchase.environment, key).value() : known
        guard let stored else { throw StoreError.corrupt("a purchase was not kept") }
        (record, isStored, evidence) = (stored, true, nil)
    }

    /// Stores the user, the SKU and the order of the transaction, and itself where it is new.
    func assign(user: ID<User>, sku: SKUCode?, days: Int64?, order: ID<Order>?, in log: ChangeLog) throws {
        let (purchase, purchases) = (record.purchase, log.tx.purchases)
        guard !isStored else {
            return try purchases.assign(purchase, key: key, user: user, sku: sku, days: days, order: order)
        }
        let complete = PurchaseRecord(
            purchase: purchase, account: record.account, user: user, sku: sku, days: days, order: order)
        try purchases.insert(complete, key: key, evidence: evidence, at: log.now)
    }
}
