package import Domain

/// A SKU that a user has or had by a store's purchase or a grant.
package struct HeldSKU: Sendable, Hashable {
    package let environment: Environment
    package let sku: SKUCode
}

/// The subscriptions that were ever a user's, as the audience of an offer needs them.
///
/// `db.subscriptionHistory` reads.
package struct SubscriptionHistoryQueries {
    let db: any Database
}

extension Database {
    package var subscriptionHistory: SubscriptionHistoryQueries { SubscriptionHistoryQueries(db: self) }
}

extension SubscriptionHistoryQueries {
    /// Lists the SKUs of a user's purchases, of those that are shared with the user, of those that have moved to somebody
    /// else, and of grants.
    package func listSKUs(of user: ID<User>) throws(StoreError) -> Set<HeldSKU> {
        Set(
            try db.rows(
                """
                SELECT environment, sku FROM purchases WHERE user_id = ? AND sku IS NOT NULL
                UNION
                SELECT p.environment, p.sku FROM purchase_shares s JOIN purchases p ON p.environment = s.environment
                  AND p.original_transaction_id = s.original_transaction_id
                WHERE s.user_id = ? AND p.sku IS NOT NULL
                UNION
                SELECT p.environment, p.sku FROM orders o JOIN purchases p ON p.order_id = o.id
                WHERE o.user_id = ? AND p.sku IS NOT NULL
                UNION
                SELECT environment, sku FROM grants WHERE user_id = ?
                """, [user, user, user, user]
            ).map { row throws(StoreError) in
                HeldSKU(environment: try row.choice("environment"), sku: try row.code("sku"))
            })
    }

    /// Returns whether a transaction of a user was sold under a promotional offer.
    ///
    /// - Parameter environment: nil for each.
    package func hasRedeemed(
        _ offer: String, of product: String, in bundle: String, _ user: ID<User>, in environment: Environment?
    ) throws(StoreError) -> Bool {
        // SQLite, which has no statistics, would otherwise read all purchases of the product by their index.
        let rows = try db.rows(
            """
            SELECT DISTINCT environment, offer FROM purchases
            WHERE user_id = ? AND bundle_id || '' = ? AND product_id || '' = ? AND offer IS NOT NULL
            """, [user, bundle, product])
        for row in rows {
            let sold: StoreOffer = try row.json("offer")
            let place: Environment = try row.choice("environment")
            if sold.type == "promotional", sold.identifier == offer, environment == nil || environment == place {
                return true
            }
        }
        return false
    }
}
