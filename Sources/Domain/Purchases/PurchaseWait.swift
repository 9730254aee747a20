/// What a kept purchase waits for.
package enum PurchaseWait: String, Sendable, CaseIterable {
    /// A SKU that knows its product.
    case unmapped
    /// A user who claims it.
    case unclaimed
}
