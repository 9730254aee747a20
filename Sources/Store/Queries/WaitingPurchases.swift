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
        let condition =
            switch wait {
            case .unmapped: "sku IS NULL"
            case .unclaimed: "user_id IS NULL"
            case nil: "(sku IS NULL OR user_id IS NULL)"
            }
        return try rows(
            """
            SELECT \(Self.purchaseColumns), key, received_at FROM purchases
            WHERE \(condition) AND (received_at, environment, key) < (?, ?, ?)
            ORDER BY received_at DESC, environment DESC, key DESC LIMIT ?
            """,
            [cursor?.receivedAt ?? Timestamp(.max), cursor?.environment ?? "", cursor?.key ?? "", limit]
        ).map { row throws(StoreError) in
            WaitingPurchase(
                record: try Self.purchase(row), key: try row.text("key"), receivedAt: try row.time("received_at"))
        }
    }
}
