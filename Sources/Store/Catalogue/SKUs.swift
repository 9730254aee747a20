package import Domain

/// The catalogue: SKUs and the Apple product ids that map to them.
///
/// `db.skus` reads; `tx.skus` also writes.
package struct SKUQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var skus: SKUQueries<any Database> { SKUQueries(db: self, tx: self) }
}

extension Transaction {
    package var skus: SKUQueries<any Transaction> { SKUQueries(db: self, tx: self) }
}

// A SKU's body is its JSON; Apple product ids have a table of their own, so that each maps to one SKU.
extension SKUQueries {
    package func find(_ code: SKUCode) throws(StoreError) -> SKU? {
        try db.row("SELECT number, body FROM skus WHERE id = ?", code).map(SKU.init(row:))
    }

    /// Lists many SKUs by their ids.
    package func list(_ codes: [SKUCode]) throws(StoreError) -> [SKUCode: SKU] {
        var skus: [SKUCode: SKU] = [:]
        let found = try db.rowsByKey(codes, "id") { "SELECT id, number, body FROM skus WHERE id IN (\($0))" }
        for row in found.values.joined() { skus[try row.code("id")] = try SKU(row: row) }
        return skus
    }

    /// Lists up to `limit` SKUs by descending number, older than `cursor`.
    package func list(before cursor: Int64?, limit: Int64, activeOnly: Bool) throws(StoreError) -> [SKU] {
        try db.rows(
            """
            SELECT number, body FROM skus
            WHERE number < ? AND active >= ?
            ORDER BY number DESC LIMIT ?
            """, [cursor ?? .max, activeOnly, limit]
        ).map(SKU.init(row:))
    }

    /// Lists the active SKUs by ascending number.
    package func listActive() throws(StoreError) -> [SKU] {
        try db.rows("SELECT number, body FROM skus WHERE active = 1 ORDER BY number")
            .map(SKU.init(row:))
    }

    package func hasAny() throws(StoreError) -> Bool { try db.row("SELECT number FROM skus LIMIT 1") != nil }
}

// Apple product ids.
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

extension SKUQueries where Connection == any Transaction {
    /// Locks the catalogue for writing until the commit and returns the SKU.
    package func lock(_ code: SKUCode) throws(StoreError) -> SKU? {
        _ = try tx.rows("SELECT value FROM counters WHERE name = 'sku'" + tx.dialect.forUpdate, [])
        return try find(code)
    }

    /// Locks the catalogue for writing until the commit and returns all SKUs by ascending number.
    package func lockAll() throws(StoreError) -> [SKU] {
        _ = try tx.rows("SELECT value FROM counters WHERE name = 'sku'" + tx.dialect.forUpdate, [])
        return try list(before: nil, limit: .max, activeOnly: false).reversed()
    }

    /// Inserts a SKU under the next number.
    ///
    /// - Returns: nil when its id is taken.
    package func insert(_ sku: SKU, at now: Timestamp) throws(StoreError) -> SKU? {
        let counter = try tx.rows("UPDATE counters SET value = value + 1 WHERE name = 'sku' RETURNING value", [])
        guard let number = try counter.first?.int("value") else { throw .corrupt("the SKU counter is gone") }
        var numbered = sku
        numbered.number = number
        let made = try tx.rows(
            """
            INSERT INTO skus (id, number, active, body, updated_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING RETURNING id
            """, [sku.id, number, sku.active, try numbered.storedJSON(), now])
        return made.isEmpty ? nil : numbered
    }

    package func update(_ sku: SKU, at now: Timestamp) throws(StoreError) {
        try tx.execute(
            "UPDATE skus SET active = ?, body = ?, updated_at = ? WHERE id = ?", sku.active, try sku.storedJSON(), now,
            sku.id)
    }

    /// Maps the SKU's Apple product ids to it; an active SKU takes over ids of archived ones.
    ///
    /// - Returns: the ids that another active SKU has; when there are any, the caller throws to roll back.
    package func claimAppleProducts(_ sku: SKU) throws(StoreError) -> [String] {
        try releaseAppleProducts(sku)
        var taken: [String] = []
        for product in sku.appleProducts {
            let entry = product.canonical
            let claimed = try tx.rows(
                """
                INSERT INTO apple_products (entry, sku, is_pattern) VALUES (?, ?, ?)
                ON CONFLICT (entry) DO UPDATE SET sku = excluded.sku
                WHERE apple_products.sku = excluded.sku
                   OR (? = 1 AND (SELECT active FROM skus WHERE skus.id = apple_products.sku) = 0)
                RETURNING entry
                """, [entry, sku.id, product.isPattern, sku.active])
            if claimed.isEmpty { taken.append(entry) }
        }
        return taken
    }

    package func releaseAppleProducts(_ sku: SKU) throws(StoreError) {
        try tx.execute("DELETE FROM apple_products WHERE sku = ?", sku.id)
    }
}

extension SKU {
    init(row: Row) throws(StoreError) {
        var sku = try decodedSKUs.value("body", of: row)
        sku.number = try row.int("number")
        self = sku
    }
}

private let decodedSKUs = DecodeCache<String, SKU>()
