package import Domain

// The catalogue: a SKU's body is its JSON; which SKU an Apple product id means is a table, so that it is unique.
extension Database {
    package func sku(_ code: SKUCode) throws(StoreError) -> SKU? {
        try row("SELECT number, body FROM skus WHERE id = ?", code).map { row throws(StoreError) in try Self.sku(row) }
    }

    /// Many SKUs by their ids.
    package func skus(_ codes: [SKUCode]) throws(StoreError) -> [SKUCode: SKU] {
        var skus: [SKUCode: SKU] = [:]
        let found = try rowsByKey(codes, "id") { "SELECT id, number, body FROM skus WHERE id IN (\($0))" }
        for row in found.values.joined() { skus[try row.code("id")] = try Self.sku(row) }
        return skus
    }

    /// Up to `limit` SKUs by descending number, older than `cursor`.
    package func skus(before cursor: Int64?, limit: Int64, activeOnly: Bool) throws(StoreError) -> [SKU] {
        try rows(
            """
            SELECT number, body FROM skus
            WHERE number < ? AND active >= ?
            ORDER BY number DESC LIMIT ?
            """, [cursor ?? .max, activeOnly, limit]
        ).map { row throws(StoreError) in try Self.sku(row) }
    }

    /// Every SKU that is offered, by ascending number.
    package func activeSKUs() throws(StoreError) -> [SKU] {
        try rows("SELECT number, body FROM skus WHERE active = 1 ORDER BY number")
            .map { row throws(StoreError) in try Self.sku(row) }
    }

    package func hasSKUs() throws(StoreError) -> Bool { try row("SELECT number FROM skus LIMIT 1") != nil }

    static func sku(_ row: Row) throws(StoreError) -> SKU {
        var sku = try decodedSKUs.value("body", of: row)
        sku.number = try row.int("number")
        return sku
    }
}

extension Transaction {
    /// Locks the catalogue's writers one behind the other and returns the SKU as it stands.
    package func lockSKU(_ code: SKUCode) throws(StoreError) -> SKU? {
        _ = try rows("SELECT value FROM counters WHERE name = 'sku'" + dialect.forUpdate, [])
        return try sku(code)
    }

    /// Locks the catalogue's writers one behind the other and returns every SKU as it stands, by ascending number.
    package func lockCatalogue() throws(StoreError) -> [SKU] {
        _ = try rows("SELECT value FROM counters WHERE name = 'sku'" + dialect.forUpdate, [])
        return try skus(before: nil, limit: .max, activeOnly: false).reversed()
    }

    /// Adds a SKU under the next number.
    ///
    /// - Returns: nil when its id is taken.
    package func insertSKU(_ sku: SKU, at now: Timestamp) throws(StoreError) -> SKU? {
        let counter = try rows("UPDATE counters SET value = value + 1 WHERE name = 'sku' RETURNING value", [])
        guard let number = try counter.first?.int("value") else { throw .corrupt("the SKU counter is gone") }
        var numbered = sku
        numbered.number = number
        let made = try rows(
            """
            INSERT INTO skus (id, number, active, body, updated_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING RETURNING id
            """, [sku.id, number, sku.active, try numbered.storedJSON(), now])
        return made.isEmpty ? nil : numbered
    }

    package func updateSKU(_ sku: SKU, at now: Timestamp) throws(StoreError) {
        try run(
            "UPDATE skus SET active = ?, body = ?, updated_at = ? WHERE id = ?", sku.active, try sku.storedJSON(), now,
            sku.id)
    }

    /// Maps the SKU's Apple product ids to it; an active SKU takes over what only archived ones have.
    ///
    /// - Returns: the ids that another active SKU has; when there are any, the caller throws and nothing is kept.
    package func claimAppleProducts(_ sku: SKU) throws(StoreError) -> [String] {
        try releaseAppleProducts(sku)
        var taken: [String] = []
        for product in sku.appleProducts {
            let entry = product.canonical
            let claimed = try rows(
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
        try run("DELETE FROM apple_products WHERE sku = ?", sku.id)
    }
}

private let decodedSKUs = Remembered<String, SKU>()
