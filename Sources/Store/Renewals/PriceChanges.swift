package import Domain

/// An announced price for the subscriptions of a SKU that run.
package struct PriceChangeRecord: Sendable, Equatable {
    package let id: ID<PriceChange>
    package let sku: SKUCode
    package let prices: [Money]
    package let effectiveAt: Timestamp
    package let announcedAt: Timestamp

    package init(
        id: ID<PriceChange>, sku: SKUCode, prices: [Money], effectiveAt: Timestamp, announcedAt: Timestamp
    ) {
        self.id = id
        self.sku = sku
        self.prices = prices
        self.effectiveAt = effectiveAt
        self.announcedAt = announcedAt
    }
}

/// Announced prices.
///
/// `db.priceChanges` reads; `tx.priceChanges` also writes.
package struct PriceChangeQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var priceChanges: PriceChangeQueries<any Database> { PriceChangeQueries(db: self, tx: self) }
}

extension Transaction {
    package var priceChanges: PriceChangeQueries<any Transaction> { PriceChangeQueries(db: self, tx: self) }
}

extension PriceChangeQueries {
    package func find(_ id: ID<PriceChange>) throws(StoreError) -> PriceChangeRecord? {
        try db.row("SELECT * FROM price_changes WHERE id = ?", id).map { row throws(StoreError) in
            PriceChangeRecord(
                id: try row.id("id"), sku: try row.code("sku"), prices: try row.json("prices", [Money].self),
                effectiveAt: try row.time("effective_at"), announcedAt: try row.time("announced_at"))
        }
    }
}

extension PriceChangeQueries where Connection == any Transaction {
    /// Inserts a price that replaces those of the SKU that were announced before and do not hold yet.
    package func insert(_ change: PriceChangeRecord) throws(StoreError) {
        try tx.execute(
            "INSERT INTO price_changes (id, sku, prices, effective_at, announced_at) VALUES (?, ?, ?, ?, ?)", change.id,
            change.sku, try change.prices.storedJSON(), change.effectiveAt, change.announcedAt)
        try tx.execute(
            "UPDATE price_changes SET replaced_by = ? WHERE sku = ? AND replaced_by IS NULL AND id <> ?", change.id,
            change.sku, change.id)
    }
}
