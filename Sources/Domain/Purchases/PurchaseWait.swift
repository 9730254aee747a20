/// The reason why a stored purchase has no grant yet.
package enum PurchaseWait: String, Sendable, CaseIterable {
    /// No SKU names its product.
    case unmapped
    /// No user has claimed it.
    case unclaimed
}
