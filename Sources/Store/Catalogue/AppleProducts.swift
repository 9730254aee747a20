package import Domain

extension SKUQueries {
    /// Finds the SKU of an Apple product id: an entry for the app before one for any app, a literal before a pattern.
    package func find(appleProduct product: String, bundle: String) throws(StoreError) -> (sku: SKU, days: Int64?)? {
        let named = try findLiteral(appleProduct: product, bundle: bundle).value()
        return try find(appleProduct: product, bundle: bundle, literal: named)
    }

    /// Finds the SKU that names an Apple product id literally, for the app before for any app.
    package func findLiteral(appleProduct product: String, bundle: String) throws(StoreError) -> DeferredResult<SKU?> {
        let own = "\(bundle):\(product)"
        return try db.deferredRows(
            """
            SELECT a.entry, s.number, s.body FROM apple_products a JOIN skus s ON s.id = a.sku WHERE a.entry = ?
            UNION ALL
            SELECT a.entry, s.number, s.body FROM apple_products a JOIN skus s ON s.id = a.sku WHERE a.entry = ?
            """, own, product
        ).map { rows throws(StoreError) in
            let row = rows.first { $0["entry"] == .text(own) } ?? rows.first
            return try row.map(SKU.init(row:))
        }
    }

    /// - Parameter named: the result of ``findLiteral(appleProduct:bundle:)``.
    package func find(
        appleProduct product: String, bundle: String, literal named: SKU?
    ) throws(StoreError) -> (sku: SKU, days: Int64?)? {
        if let named { return (named, named.durationDays) }
        var fitting: (code: SKUCode, days: Int64)?
        for row in try db.rows("SELECT entry, sku FROM apple_products WHERE is_pattern = 1 ORDER BY entry") {
            guard let entry = AppleProduct(try row.text("entry")), entry.bundle == nil || entry.bundle == bundle,
                let days = entry.days(in: product), entry.bundle != nil || fitting == nil
            else { continue }
            fitting = (try row.code("sku"), days)
            if entry.bundle != nil { break }
        }
        guard let fitting, let sku = try find(fitting.code) else { return nil }
        return (sku, fitting.days)
    }
}
