package import Domain

/// A product that kept purchases name and that no SKU knew when they came.
package struct UnknownProduct: Sendable, Equatable {
    package let bundle: String
    package let product: String
    package let purchases: Int64
    /// When the last of them was bought.
    package let newest: Timestamp
}

extension Database {
    /// The products of the purchases that no SKU knew, the one bought last first.
    package func unknownProducts(limit: Int64) throws(StoreError) -> [UnknownProduct] {
        try rows(
            """
            SELECT bundle_id, product_id, COUNT(*) AS purchases, MAX(purchased_at) AS newest
            FROM purchases WHERE sku IS NULL GROUP BY bundle_id, product_id
            ORDER BY newest DESC, bundle_id, product_id LIMIT ?
            """, [limit]
        ).map { row throws(StoreError) in
            UnknownProduct(
                bundle: try row.text("bundle_id"), product: try row.text("product_id"),
                purchases: try row.int("purchases"), newest: Timestamp(try row.int("newest").flooredSeconds))
        }
    }
}
