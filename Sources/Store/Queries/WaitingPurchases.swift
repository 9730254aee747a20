package import Domain

/// A kept purchase that gives nothing yet, with when it came.
package struct WaitingPurchase: Sendable {
    package let record: PurchaseRecord
    package let key: String
    package let receivedAt: Timestamp
}

/// Where a page of purchases ended.
package struct WaitingCursor: Sendable {
    package let receivedAt: Timestamp
    package let environment: String
    package let key: String

    package init(receivedAt: Timestamp, environment: String, key: String) {
        self.receivedAt = receivedAt
        self.environment = environment
        self.key = key
    }
}

extension Database {
    /// Purchases that wait, newest first; nil: whatever they wait for.
    package func waitingPurchases(
        _ wait: PurchaseWait?, before cursor: WaitingCursor?, limit: Int64
    ) throws(StoreError) -> [WaitingPurchase] {
        let waits =
            switch wait {
            case .unmapped: ["sku IS NULL"]
            case .unclaimed: ["user_id IS NULL"]
            case nil: ["sku IS NULL", "user_id IS NULL"]
            }
        // Each has an index of its own; what waits for both is found twice and taken once.
        let order = "ORDER BY received_at DESC, environment DESC, key DESC LIMIT ?"
        let parts = waits.map {
            """
            SELECT * FROM (SELECT received_at, environment, key FROM purchases
                WHERE \($0) AND (received_at, environment, key) < (?, ?, ?) \(order)) AS part
            """
        }
        let place: [any SQLBindable] = [
            cursor?.receivedAt ?? Timestamp(.max), cursor?.environment ?? "", cursor?.key ?? "", limit,
        ]
        return try rows(
            """
            SELECT \(Self.purchaseColumns), key, received_at FROM (
                SELECT environment AS place, key AS name FROM (\(parts.joined(separator: " UNION "))) AS waiting
                \(order)) AS found
            CROSS JOIN purchases WHERE environment = found.place AND key = found.name
            ORDER BY received_at DESC, environment DESC, key DESC
            """, waits.flatMap { _ in place } + [limit]
        ).map { row throws(StoreError) in
            WaitingPurchase(
                record: try Self.purchase(row), key: try row.text("key"), receivedAt: try row.time("received_at"))
        }
    }
}
