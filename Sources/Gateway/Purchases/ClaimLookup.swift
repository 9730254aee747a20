import Domain
import Store

/// The queries with which the fulfilment of a claim begins, sent together.
struct ClaimLookup {
    /// The key of the claim's transaction.
    let key: String
    let stored: DeferredResult<PurchaseRecord?>
    /// The stored transactions that may belong to the same purchase; nil where the claim is known to be alone.
    let candidates: PurchaseCandidates?
    /// The SKU that names the claim's product literally.
    let sku: DeferredResult<SKU?>

    init(_ claim: PurchaseClaim, key: String, isAlone: Bool = false, in tx: any Transaction) throws {
        let purchase = claim.purchase
        self.key = key
        stored = try tx.purchases.find(purchase.environment, key)
        candidates = isAlone ? nil : try tx.purchases.listCandidates(for: purchase)
        sku = try tx.skus.findLiteral(appleProduct: purchase.productID, bundle: purchase.bundleID)
    }
}
