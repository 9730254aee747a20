package import Domain

/// Searches over all subjects by an exact id.
package struct SearchQueries {
    let db: any Database
}

extension Database {
    package var search: SearchQueries { SearchQueries(db: self) }
}

extension SearchQueries {
    /// Lists the orders that have an id, one of their payments, refunds or disputes, or a provider's own id of these.
    package func listOrders(named text: String, limit: Int64) throws(StoreError) -> [ID<Order>] {
        let sources = [
            "SELECT id AS order_id FROM orders WHERE id = ?", "SELECT order_id FROM payments WHERE id = ?",
            "SELECT order_id FROM refunds WHERE id = ?", "SELECT order_id FROM disputes WHERE id = ?",
            "SELECT order_id FROM payments WHERE reference = ?", "SELECT order_id FROM refunds WHERE reference = ?",
        ]
        let arguments: [any SQLBindable] = Array(repeating: text, count: sources.count)
        return try db.rows(
            "SELECT order_id FROM (\(sources.joined(separator: " UNION "))) AS found ORDER BY order_id DESC LIMIT ?",
            arguments + [limit]
        ).map { row throws(StoreError) in try row.id("order_id") }
    }

    /// Lists the purchases that have a transaction id or an original transaction id, the newest of each original one.
    package func listPurchases(transaction text: String, limit: Int) throws(StoreError) -> [PurchaseRecord] {
        let transactions = Environment.allCases.map { "environment = '\($0.rawValue)' AND key = ?" }
        let originals = Environment.allCases.map { "environment = '\($0.rawValue)' AND original_transaction_id = ?" }
        let conditions = transactions + originals + ["environment = 'Xcode' AND transaction_id = ?"]
        let found = try db.rows(
            conditions.map { "SELECT \(PurchaseRecord.columns) FROM purchases WHERE \($0)" }
                .joined(separator: " UNION "), Array(repeating: text, count: conditions.count)
        ).map(PurchaseRecord.init(row:))
        var newest: [StoreSubject: PurchaseRecord] = [:]
        for record in found {
            let subject = StoreSubject(record.purchase.environment, record.purchase.originalTransactionID)
            if let other = newest[subject], other.purchase.purchased >= record.purchase.purchased { continue }
            newest[subject] = record
        }
        return newest.values.sorted { $0.purchase.purchased > $1.purchase.purchased }.prefix(limit).map(\.self)
    }
}
