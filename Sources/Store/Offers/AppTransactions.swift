package import Domain
package import FoundationEssentials

/// A purchase whose sealed evidence may name the customer's account in the app.
package struct UnnamedPurchase: Sendable {
    package let environment: Environment
    package let key: String
    package let transactionID: String
    package let account: AccountID
    package let evidence: Data
}

/// The ids that a store gives to its customers in an app, and what is known of the customers behind them.
///
/// `db.appTransactions` reads; `tx.appTransactions` also writes.
package struct AppTransactionQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var appTransactions: AppTransactionQueries<any Database> { AppTransactionQueries(db: self, tx: self) }
}

extension Transaction {
    package var appTransactions: AppTransactionQueries<any Transaction> { AppTransactionQueries(db: self, tx: self) }
}

extension AppTransactionQueries {
    /// Lists the users who have a purchase of a store's customer, without those who are erased.
    package func listUsers(of id: String, in environment: Environment) throws(StoreError) -> [ID<User>] {
        try db.rows(
            """
            SELECT DISTINCT p.user_id FROM purchases p JOIN users u ON u.id = p.user_id
            WHERE p.app_transaction_id = ? AND p.environment = ? ORDER BY p.user_id
            """, [id, environment.rawValue]
        ).map { row throws(StoreError) in try row.id("user_id") }
    }

    /// Lists the environments in which a user owns or shares a purchase with this id of a transaction or of a store's
    /// customer.
    package func listEnvironments(of id: String, user: ID<User>) throws(StoreError) -> [Environment] {
        try db.rows(
            """
            SELECT DISTINCT environment FROM (
                SELECT environment FROM purchases WHERE user_id = ? AND (transaction_id = ? OR app_transaction_id = ?)
                UNION ALL
                SELECT p.environment FROM purchase_shares s JOIN purchases p ON p.environment = s.environment
                  AND p.original_transaction_id = s.original_transaction_id
                WHERE s.user_id = ? AND (p.transaction_id = ? OR p.app_transaction_id = ?)) AS found
            ORDER BY environment
            """, [user, id, id, user, id, id]
        ).map { row throws(StoreError) in try row.choice("environment") }
    }

    /// Lists purchases with evidence that name no customer of their store, in the order of their keys.
    package func listUnnamed(
        after cursor: (Environment, String)?, limit: Int64
    ) throws(StoreError) -> [UnnamedPurchase] {
        try db.rows(
            """
            SELECT environment, key, transaction_id, account, evidence FROM purchases
            WHERE (environment, key) > (?, ?) AND environment <> 'Xcode' AND app_transaction_id IS NULL
              AND evidence IS NOT NULL
            ORDER BY environment, key LIMIT ?
            """, [cursor?.0.rawValue ?? "", cursor?.1 ?? "", limit]
        ).map { row throws(StoreError) in
            UnnamedPurchase(
                environment: try row.choice("environment"), key: try row.text("key"),
                transactionID: try row.text("transaction_id"), account: try row.account("account"),
                evidence: try row.blob("evidence"))
        }
    }
}

extension AppTransactionQueries where Connection == any Transaction {
    /// Names the store's customer of a purchase that names none.
    package func name(_ purchase: UnnamedPurchase, _ id: String) throws(StoreError) {
        try tx.execute(
            """
            UPDATE purchases SET app_transaction_id = ?
            WHERE environment = ? AND key = ? AND app_transaction_id IS NULL
            """, id, purchase.environment.rawValue, purchase.key)
    }

    /// Names the store's customer of all transactions of an original that name none.
    package func name(_ subject: StoreSubject, _ id: String) throws(StoreError) {
        try tx.execute(
            """
            UPDATE purchases SET app_transaction_id = ?
            WHERE environment = ? AND original_transaction_id = ? AND app_transaction_id IS NULL
            """, id, subject.environment.rawValue, subject.original)
    }

    /// Records that a customer withdrew the consent.
    ///
    /// - Parameter time: the time of the store's statement, in milliseconds since 1970.
    /// - Returns: false where this statement is recorded already.
    package func rescind(_ id: String, in environment: Environment, at time: Int64) throws(StoreError) -> Bool {
        try tx.execute(
            """
            INSERT INTO rescinded_consents (environment, app_transaction_id, rescinded_at) VALUES (?, ?, ?)
            ON CONFLICT DO NOTHING
            """, environment.rawValue, id, time) == 1
    }
}
