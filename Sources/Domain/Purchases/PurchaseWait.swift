/// The fact for which a stored purchase without a grant waits.
package enum PurchaseWait: String, Sendable, CaseIterable {
    /// A SKU that knows its product.
    case unmapped
    /// A user who claims it.
    case unclaimed
}
