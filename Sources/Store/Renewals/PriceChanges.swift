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

extension PriceChangeQueries {
    /// Counts the subscriptions that are to have an announced price.
    package func countConcerned(by change: ID<PriceChange>) throws(StoreError) -> Int64 {
        try db.row("SELECT COUNT(*) AS n FROM managed_subscriptions WHERE price_change = ?", change)?.int("n") ?? 0
    }

    /// Returns whether a price is higher than that of a running subscription of the SKU.
    package func raises(_ sku: SKUCode, to price: Money) throws(StoreError) -> Bool {
        try db.row(
            """
            SELECT id FROM managed_subscriptions
            WHERE sku = ? AND state = 'running' AND currency = ? AND price < ? LIMIT 1
            """, sku, price.currency.code, price.value) != nil
    }

    /// Lists subscriptions that were not told of an announced price yet.
    package func listUntold(
        of change: ID<PriceChange>, limit: Int64
    ) throws(StoreError) -> [ManagedSubscriptionRecord] {
        try db.rows(
            """
            SELECT * FROM managed_subscriptions
            WHERE price_change = ? AND state = 'running' AND (price_told IS NULL OR price_told <> ?) LIMIT ?
            """, [change, change, limit]
        ).map(ManagedSubscriptionRecord.init(row:))
    }
}

extension PriceChangeQueries where Connection == any Transaction {
    /// Assigns a price to the running subscriptions of its SKU that have another one in its currencies.
    ///
    /// - Returns: the number of subscriptions.
    package func assign(_ change: PriceChangeRecord) throws(StoreError) -> Int64 {
        // A price that was announced before and does not hold yet is replaced, also where the new one is the present
        // one. The notice of the next renewal may have named it, so that is looked at again.
        let hasAnother = "sku = ? AND price_change IS NOT NULL"
        try tx.managedSubscriptions.lockAll(where: hasAnother, change.sku)
        let withdrawn = SubscriptionEntry(
            at: change.announcedAt, cause: .quiet(.priceWithdrawn), facts: SubscriptionEntryFacts())
        try tx.managedSubscriptions.insertEntries(withdrawn, where: hasAnother, change.sku)
        try tx.execute(
            """
            UPDATE managed_subscriptions SET price_change = NULL,
                notice_at = CASE WHEN state = 'running' THEN ? ELSE notice_at END
            WHERE \(hasAnother)
            """, change.announcedAt, change.sku)
        var count: Int64 = 0
        for price in change.prices {
            count += Int64(
                try tx.execute(
                    """
                    UPDATE managed_subscriptions SET price_change = ?
                    WHERE sku = ? AND state = 'running' AND currency = ? AND price <> ?
                    """, change.id, change.sku, price.currency.code, price.value))
        }
        let announced = SubscriptionEntry(
            at: change.announcedAt, cause: .quiet(.priceAnnounced),
            facts: SubscriptionEntryFacts { $0.priceChange = change.id })
        try tx.managedSubscriptions.insertEntries(announced, where: "price_change = ?", change.id)
        return count
    }

    package func markTold(_ change: ID<PriceChange>, of subscription: ID<Subscription>) throws(StoreError) {
        try tx.enqueue(
            "UPDATE managed_subscriptions SET price_told = ? WHERE id = ?", change, subscription)
    }

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
