import Domain
import Store

/// A product that was bought and that no SKU knows.
package struct WaitingProductView: Encodable, Sendable {
    let product_id: String
    let bundle_id: String
    /// Apple's own word.
    let type: String
    let count: Int64
    let users: Int64
    let first_at: Timestamp
    let last_at: Timestamp

    init(_ product: WaitingProduct) {
        product_id = product.product
        bundle_id = product.bundle
        type = product.kind
        count = product.purchases
        users = product.users
        first_at = product.firstAt
        last_at = product.lastAt
    }
}

/// The products that a pattern would fit, and the SKUs that it would meet.
package struct PatternPreview: Encodable, Sendable {
    package struct Match: Encodable, Sendable, Equatable {
        let product_id: String
        let days: Int64
        /// The number of stored purchases of the product.
        let seen: Int64
    }

    let matches: [Match]
    let clashes: [String]
}

extension Catalogue {
    private static let previewLimit: Int64 = 5_000

    /// Lists the products that were bought and that no SKU knows, the one that arrived last first.
    package func waitingProducts(cursor: String?, limit: Int64) async throws(GatewayError) -> Page<WaitingProductView> {
        let start = try Cursor(number: cursor).position ?? 0
        let found = try await store.report { db in
            try db.purchases.listWaitingProducts(after: start, limit: limit + 1)
        }
        let numbered = zip(found, (start + 1)...).map { (product: $0, number: $1) }
        return Page(numbered, limit: limit) { String($0.number) }.map { WaitingProductView($0.product) }
    }

    /// Shows the products, of those that were bought, that a pattern fits, and the active SKUs that name one of them or
    /// have the same pattern.
    ///
    /// - Throws: `invalidRequest` for a text that is no pattern.
    package func preview(_ pattern: String) async throws(GatewayError) -> PatternPreview {
        guard let entry = AppleProduct(pattern), entry.isPattern else {
            throw .invalidRequest(field: "pattern", reason: "must be a product id with ${days} in it")
        }
        return try await store.report { db in
            let matches = try db.purchases.countProducts(
                from: entry.prefix, bundle: entry.bundle, limit: Self.previewLimit
            ).compactMap { product, seen in
                entry.days(in: product).map { PatternPreview.Match(product_id: product, days: $0, seen: seen) }
            }
            let clashes = try db.skus.listActive().filter { sku in
                sku.appleProducts.contains { other in
                    guard entry.bundle == nil || other.bundle == nil || entry.bundle == other.bundle else {
                        return false
                    }
                    if !other.isPattern { return entry.days(in: other.product) != nil }
                    return other.canonical == entry.canonical
                        || matches.contains { other.days(in: $0.product_id) != nil }
                }
            }
            return PatternPreview(matches: matches, clashes: clashes.map(\.id))
        }
    }
}
