package import Domain

/// A product of stored purchases that no SKU mapped when they arrived.
package struct UnknownProduct: Sendable, Equatable {
    package let bundle: String
    package let product: String
    package let purchases: Int64
    /// The time of the last purchase.
    package let newest: Timestamp
}

/// A product of stored purchases that no SKU knows, for admins.
package struct WaitingProduct: Sendable, Equatable {
    package let product: String
    package let bundle: String
    /// Apple's own word.
    package let kind: String
    package let purchases: Int64
    package let users: Int64
    package let firstAt: Timestamp
    package let lastAt: Timestamp
}

/// A stored purchase with the time of its arrival.
package struct ArrivedPurchase: Sendable {
    package let record: PurchaseRecord
    package let key: String
    package let receivedAt: Timestamp
}

/// The position of the last purchase of a page.
package struct ArrivalCursor: Sendable {
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
            FROM purchases\(db.dialect.indexed(by: "purchases_without_sku")) WHERE sku IS NULL
            GROUP BY bundle_id, product_id
            ORDER BY newest DESC, bundle_id, product_id LIMIT ?
            """, [limit]
        ).map { row throws(StoreError) in
            UnknownProduct(
                bundle: try row.text("bundle_id"), product: try row.text("product_id"),
                purchases: try row.int("purchases"), newest: Timestamp(try row.int("newest").flooredSeconds))
        }
    }

    /// Lists the products of purchases without a SKU, the one that arrived last first.
    package func listWaitingProducts(after offset: Int64, limit: Int64) throws(StoreError) -> [WaitingProduct] {
        try db.rows(
            """
            SELECT bundle_id, product_id, kind, COUNT(*) AS purchases, COUNT(DISTINCT user_id) AS users,
                MIN(received_at) AS first_at, MAX(received_at) AS last_at
            FROM purchases\(db.dialect.indexed(by: "purchases_without_sku")) WHERE sku IS NULL
            GROUP BY bundle_id, product_id, kind
            ORDER BY last_at DESC, bundle_id, product_id, kind LIMIT ? OFFSET ?
            """, [limit, offset]
        ).map { row throws(StoreError) in
            WaitingProduct(
                product: try row.text("product_id"), bundle: try row.text("bundle_id"), kind: try row.text("kind"),
                purchases: try row.int("purchases"), users: try row.int("users"), firstAt: try row.time("first_at"),
                lastAt: try row.time("last_at"))
        }
    }

    /// Counts the purchases of each product whose id begins with a text, in the order of the ids.
    package func countProducts(
        from prefix: String, bundle: String?, limit: Int64
    ) throws(StoreError) -> [(product: String, purchases: Int64)] {
        let restriction = bundle == nil ? "" : " AND bundle_id = ?"
        let arguments: [any SQLBindable] = [prefix, prefix + "\u{10FFFF}"] + (bundle.map { [$0] } ?? []) + [limit]
        return try db.rows(
            """
            SELECT product_id, COUNT(*) AS purchases FROM purchases
            WHERE product_id >= ? AND product_id < ?\(restriction) GROUP BY product_id ORDER BY product_id LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in (try row.text("product_id"), try row.int("purchases")) }
    }

    /// Lists purchases by their arrival, newest first.
    ///
    /// - Parameter wait: lists only those that wait for this; nil lists all.
    package func listArrived(
        _ wait: PurchaseWait?, before cursor: ArrivalCursor?, limit: Int64
    ) throws(StoreError) -> [ArrivedPurchase] {
        // Each condition has an index of its own.
        let condition =
            switch wait {
            case .unmapped: "sku IS NULL AND"
            case .unclaimed: "user_id IS NULL AND"
            case nil: ""
            }
        let position: [any SQLBindable] = [
            cursor?.receivedAt ?? Timestamp(.max), cursor?.environment ?? "", cursor?.key ?? "", limit,
        ]
        return try db.rows(
            """
            SELECT \(PurchaseRecord.columns), key, received_at FROM purchases
            WHERE \(condition) (received_at, environment, key) < (?, ?, ?)
            ORDER BY received_at DESC, environment DESC, key DESC LIMIT ?
            """, position
        ).map { row throws(StoreError) in
            ArrivedPurchase(
                record: try PurchaseRecord(row: row), key: try row.text("key"), receivedAt: try row.time("received_at"))
        }
    }

    /// Lists the latest purchases that a user holds, newest first.
    package func listArrived(of user: ID<User>, limit: Int64) throws(StoreError) -> [ArrivedPurchase] {
        try db.rows(
            """
            SELECT \(PurchaseRecord.columns), key, received_at FROM purchases WHERE user_id = ?
            ORDER BY purchased_at DESC, key DESC LIMIT ?
            """, [user, limit]
        ).map { row throws(StoreError) in
            ArrivedPurchase(
                record: try PurchaseRecord(row: row), key: try row.text("key"), receivedAt: try row.time("received_at"))
        }
    }

    /// Lists purchases of an App Store in a box that have an owner and an order, in the order of their keys.
    package func listFromBox(
        after cursor: (Environment, String)?, limit: Int64
    ) throws(StoreError) -> [PurchaseRecord] {
        try db.rows(
            """
            SELECT \(PurchaseRecord.columns) FROM purchases
            WHERE box = 1 AND order_id IS NOT NULL AND user_id IS NOT NULL AND (environment, key) > (?, ?)
            ORDER BY environment, key LIMIT ?
            """, [cursor?.0.rawValue ?? "", cursor?.1 ?? "", limit]
        ).map(PurchaseRecord.init(row:))
    }

    /// Counts the purchases of an App Store in a box.
    package func countFromBox() throws(StoreError) -> Int64 {
        try db.row("SELECT COUNT(*) AS n FROM purchases WHERE box = 1")?.int("n") ?? 0
    }
}
