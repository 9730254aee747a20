package import Domain

/// The state in which no mandate is charged.
package struct BillingHold: Sendable, Equatable {
    package let since: Timestamp
    package let reason: String
}

/// The hold of renewals.
///
/// `db.billingHold` reads; `tx.billingHold` also writes.
package struct BillingHoldQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var billingHold: BillingHoldQueries<any Database> { BillingHoldQueries(db: self, tx: self) }
}

extension Transaction {
    package var billingHold: BillingHoldQueries<any Transaction> { BillingHoldQueries(db: self, tx: self) }
}

extension BillingHoldQueries {
    /// - Returns: nil where mandates may be charged.
    package func find() throws(StoreError) -> BillingHold? {
        try db.row("SELECT since, reason FROM billing_hold WHERE id = 1").map { row throws(StoreError) in
            BillingHold(since: try row.time("since"), reason: try row.text("reason"))
        }
    }
}

extension BillingHoldQueries where Connection == any Transaction {
    /// Begins a hold; one that is there keeps its beginning and its reason.
    package func begin(at now: Timestamp, reason: String) throws(StoreError) {
        try tx.execute(
            "INSERT INTO billing_hold (id, since, reason) VALUES (1, ?, ?) ON CONFLICT DO NOTHING", now, reason)
    }

    package func end() throws(StoreError) { try tx.execute("DELETE FROM billing_hold") }
}
