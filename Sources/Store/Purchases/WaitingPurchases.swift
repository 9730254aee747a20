package import Domain

/// A product of stored purchases that no SKU mapped when they arrived.
package struct UnknownProduct: Sendable, Equatable {
    package let bundle: String
    package let product: String
    package let purchases: Int64
    /// The time of the last purchase.
    package let newest: Timestamp
}

/// A stored purchase that waits for a user or a SKU, with the time of its arrival.
package struct WaitingPurchase: Sendable {
    package let record: PurchaseRecord
    package let key: String
    package let receivedAt: Timestamp
}

/// The position of the last purchase of a page.
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

extension PurchaseQueries {
    /// Lists purchases that no SKU mapped when they arrived, in the order of their keys.
    package func listUnmapped(
        after cursor: (Environment, String)?, limit: Int64
    ) throws(StoreError) -> [PurchaseRecord] {
        try db.rows(
            """
            SELECT \(PurchaseRecord.columns) FROM purchases WHERE sku IS NULL AND (environment, key) > (?, ?)
            ORDER BY environment, key LIMIT ?
            """, [cursor?.0.rawValue ?? "", cursor?.1 ?? "", limit]
        ).map(PurchaseRecord.init(row:))
    }

    /// Lists the products of purchases without a SKU, the product that was bought last first.
    package func listUnknownProducts(limit: Int64) throws(StoreError) -> [UnknownProduct] {
        try db.rows(
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

    /// Lists purchases that wait for a user or a SKU, newest first; nil lists both.
    package func listWaiting(
        _ wait: PurchaseWait?, before cursor: WaitingCursor?, limit: Int64
    ) throws(StoreError) -> [WaitingPurchase] {
        let waits =
            switch wait {
            case .unmapped: ["sku IS NULL"]
            case .unclaimed: ["user_id IS NULL"]
            case nil: ["sku IS NULL", "user_id IS NULL"]
            }
        // Each condition has an index of its own; a purchase that waits for both is found twice and returned once.
        let order = "ORDER BY received_at DESC, environment DESC, key DESC LIMIT ?"
        let parts = waits.map {
            """
            SELECT * FROM (SELECT received_at, environment, key FROM purchases
                WHERE \($0) AND (received_at, environment, key) < (?, ?, ?) \(order)) AS part
            """
        }
        let position: [any SQLBindable] = [
            cursor?.receivedAt ?? Timestamp(.max), cursor?.environment ?? "", cursor?.key ?? "", limit,
        ]
        return try db.rows(
            """
            SELECT \(PurchaseRecord.columns), key, received_at FROM (
                SELECT environment AS place, key AS name FROM (\(parts.joined(separator: " UNION "))) AS waiting
                \(order)) AS found
            CROSS JOIN purchases WHERE environment = found.place AND key = found.name
            ORDER BY received_at DESC, environment DESC, key DESC
            """, waits.flatMap { _ in position } + [limit]
        ).map { row throws(StoreError) in
            WaitingPurchase(
                record: try PurchaseRecord(row: row), key: try row.text("key"), receivedAt: try row.time("received_at"))
        }
    }
}
