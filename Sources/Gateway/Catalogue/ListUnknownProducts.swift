package import Store

extension Gateway {
    /// The products that kept purchases name and no SKU knows today, the one bought last first.
    ///
    /// A purchase that nobody has claimed keeps no SKU even when one knows its product by now, so the catalogue is asked.
    /// - Parameter bound: how many products are looked at.
    package func unknownProducts(bound: Int64 = 1_000) async throws(GatewayError) -> [UnknownProduct] {
        try await read { db in
            try db.unknownProducts(limit: bound).filter { found in
                try db.skuOf(appleProduct: found.product, bundle: found.bundle) == nil
            }
        }
    }
}
