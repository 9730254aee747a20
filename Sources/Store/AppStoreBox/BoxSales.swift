/// A transaction of the App Store in a box, as JSON with the columns by which it is found.
package struct BoxTransactionRow: Sendable, Equatable {
    package let id: String
    package let original: String
    package let customer: String
    package let product: String
    package let data: String

    package init(id: String, original: String, customer: String, product: String, data: String) {
        self.id = id
        self.original = original
        self.customer = customer
        self.product = product
        self.data = data
    }
}

/// A subscription of the App Store in a box, as JSON with the columns by which it is found.
package struct BoxSubscriptionRow: Sendable, Equatable {
    package let original: String
    package let customer: String
    package let group: String
    /// The original transaction of the family's payer; nil where the customer pays.
    package let sharedFrom: String?
    /// The time in milliseconds at which something happens to it by itself; nil: never.
    package let dueAt: Int64?
    package let data: String

    package init(
        original: String, customer: String, group: String, sharedFrom: String?, dueAt: Int64?, data: String
    ) {
        self.original = original
        self.customer = customer
        self.group = group
        self.sharedFrom = sharedFrom
        self.dueAt = dueAt
        self.data = data
    }
}

// The transactions.
extension BoxQueries {
    /// Lists the newest transactions, oldest first.
    package func listNewestTransactions(limit: Int64) throws(StoreError) -> [BoxTransactionRow] {
        try db.rows("SELECT * FROM box_transactions ORDER BY id DESC LIMIT ?", [limit]).reversed().map(
            BoxTransactionRow.init(row:))
    }

    /// Lists the transactions with these ids, in the order of their ids.
    package func listTransactions(_ ids: [String]) throws(StoreError) -> [BoxTransactionRow] {
        let found = try db.rowsByKey(ids, "id") { "SELECT * FROM box_transactions WHERE id IN (\($0))" }
        return try found.values.joined().map(BoxTransactionRow.init(row:)).sorted { $0.id < $1.id }
    }

    /// Lists a customer's transactions, of one product or of all.
    package func listTransactions(
        of customer: String, product: String? = nil
    ) throws(StoreError) -> [BoxTransactionRow] {
        let condition = product == nil ? "" : "AND product_id = ?"
        return try db.rows(
            "SELECT * FROM box_transactions WHERE customer = ? \(condition) ORDER BY id",
            [customer] + (product.map { [$0] } ?? [])
        ).map(BoxTransactionRow.init(row:))
    }

    /// Lists the transactions of one original transaction, oldest first.
    package func listTransactions(original: String) throws(StoreError) -> [BoxTransactionRow] {
        try db.rows("SELECT * FROM box_transactions WHERE original_id = ? ORDER BY id", [original]).map(
            BoxTransactionRow.init(row:))
    }

    package func findTransaction(_ id: String) throws(StoreError) -> BoxTransactionRow? {
        try db.row("SELECT * FROM box_transactions WHERE id = ?", id).map(BoxTransactionRow.init(row:))
    }
}

// The subscriptions.
extension BoxQueries {
    /// Lists the newest subscriptions, oldest first.
    package func listNewestSubscriptions(limit: Int64) throws(StoreError) -> [BoxSubscriptionRow] {
        try db.rows("SELECT * FROM box_subscriptions ORDER BY original_id DESC LIMIT ?", [limit]).reversed().map(
            BoxSubscriptionRow.init(row:))
    }

    /// Lists a customer's subscriptions, of one group or of all.
    package func listSubscriptions(
        of customer: String, group: String? = nil
    ) throws(StoreError) -> [BoxSubscriptionRow] {
        let condition = group == nil ? "" : "AND group_id = ?"
        return try db.rows(
            "SELECT * FROM box_subscriptions WHERE customer = ? \(condition) ORDER BY original_id",
            [customer] + (group.map { [$0] } ?? [])
        ).map(BoxSubscriptionRow.init(row:))
    }

    package func findSubscription(_ original: String) throws(StoreError) -> BoxSubscriptionRow? {
        try db.row("SELECT * FROM box_subscriptions WHERE original_id = ?", original).map(BoxSubscriptionRow.init(row:))
    }

    /// Lists a subscription and those that are shared from it.
    package func listSubscriptions(sharing original: String) throws(StoreError) -> [BoxSubscriptionRow] {
        try db.rows(
            """
            SELECT * FROM box_subscriptions WHERE original_id = ?
            UNION SELECT * FROM box_subscriptions WHERE shared_from = ? ORDER BY 1
            """, [original, original]
        ).map(BoxSubscriptionRow.init(row:))
    }

    /// Lists the subscriptions to which something happens until a time, the longest due first.
    package func listDueSubscriptions(until time: Int64, limit: Int64) throws(StoreError) -> [BoxSubscriptionRow] {
        try db.rows(
            """
            SELECT * FROM box_subscriptions WHERE due_at IS NOT NULL AND due_at <= ?
            ORDER BY due_at, original_id LIMIT ?
            """, [time, limit]
        ).map(BoxSubscriptionRow.init(row:))
    }

    /// Returns the time in milliseconds at which something happens by itself next; nil where nothing does any more.
    ///
    /// - Parameter time: leaves out what is due at this time or before; nil for everything.
    package func nextDue(after time: Int64 = .min) throws(StoreError) -> Int64? {
        var times: [Int64] = []
        for table in ["box_subscriptions", "box_notifications"] {
            let row = try db.row(
                "SELECT MIN(due_at) AS due FROM \(table) WHERE due_at IS NOT NULL AND due_at > ?", time)
            if let due = try row?.optionalInt("due") { times.append(due) }
        }
        return times.min()
    }
}

extension BoxQueries where Connection == any Transaction {
    package func upsert(_ transaction: BoxTransactionRow) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO box_transactions (id, original_id, customer, product_id, data) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET data = excluded.data
            """, transaction.id, transaction.original, transaction.customer, transaction.product, transaction.data)
    }

    package func upsert(_ subscription: BoxSubscriptionRow) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO box_subscriptions (original_id, customer, group_id, shared_from, due_at, data)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (original_id) DO UPDATE SET due_at = excluded.due_at, data = excluded.data
            """, subscription.original, subscription.customer, subscription.group, subscription.sharedFrom,
            subscription.dueAt, subscription.data)
    }
}

extension BoxTransactionRow {
    init(row: Row) throws(StoreError) {
        self.init(
            id: try row.text("id"), original: try row.text("original_id"), customer: try row.text("customer"),
            product: try row.text("product_id"), data: try row.text("data"))
    }
}

extension BoxSubscriptionRow {
    init(row: Row) throws(StoreError) {
        self.init(
            original: try row.text("original_id"), customer: try row.text("customer"),
            group: try row.text("group_id"), sharedFrom: try row.optionalText("shared_from"),
            dueAt: try row.optionalInt("due_at"), data: try row.text("data"))
    }
}
