import Domain
package import Store

extension Gateway {
    /// The products that kept purchases name and that give nothing today, the one bought last first: no SKU knows them, or it
    /// does not say how long they last.
    ///
    /// A purchase that nobody has claimed keeps no SKU even when one knows its product by now, so the catalogue is asked.
    /// - Parameter bound: how many products are looked at.
    package func unknownProducts(bound: Int64 = 1_000) async throws(GatewayError) -> [UnknownProduct] {
        try await report { db in
            try db.purchases.listUnknownProducts(limit: bound).filter { found in
                let known = try db.skus.find(appleProduct: found.product, bundle: found.bundle)
                return known.map { !$0.sku.lasts($0.days) } ?? true
            }
        }
    }
}
