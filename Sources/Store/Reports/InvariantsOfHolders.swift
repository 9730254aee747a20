import Domain

// Invariants 2, 4 and 13 of `domain.md` section 10, as far as they concern the holders of a store purchase.
extension InvariantRule {
    /// A condition: the user of the grant `g` shares its purchase.
    private static let isShared = """
        EXISTS (SELECT 1 FROM purchases p JOIN purchase_shares s
            ON s.environment = p.environment AND s.original_transaction_id = p.original_transaction_id
          WHERE p.order_id = g.order_id AND s.user_id = g.user_id)
        """

    /// A condition: the user `g.user_id` owns or shares the original transaction of the purchase `p`.
    private static let isOwnedOrShared = """
        (EXISTS (SELECT 1 FROM purchase_owners w WHERE w.environment = p.environment
            AND w.original_transaction_id = p.original_transaction_id AND w.user_id = g.user_id)
         OR EXISTS (SELECT 1 FROM purchase_shares s WHERE s.environment = p.environment
            AND s.original_transaction_id = p.original_transaction_id AND s.user_id = g.user_id))
        """

    /// A common table expression of all product ids that SKUs map, bound to an app or not; a pattern gives one for each
    /// number of days.
    ///
    /// A literal product id of a pass that states no length is left out.
    private static let knownProducts = """
        WITH RECURSIVE days (n) AS (
            SELECT \(AppleProduct.dayRange.lowerBound)
            UNION ALL
            SELECT n + 1 FROM days WHERE n < \(AppleProduct.dayRange.upperBound)),
        known (entry) AS (
            SELECT a.entry FROM apple_products a JOIN skus s ON s.id = a.sku
            WHERE a.is_pattern = 0
              AND NOT (s.body LIKE '%"kind":"non_renewing"%' AND s.body NOT LIKE '%"duration_days":%')
            UNION ALL
            SELECT replace(entry, '${days}', CAST(n AS TEXT)) FROM apple_products CROSS JOIN days
            WHERE is_pattern = 1)
        """

    static let ofHolders = [
        InvariantRule(
            invariant: 13, detail: "a kept purchase gave nothing, though a SKU knows its product and no job grants it",
            sql: """
                \(knownProducts)
                SELECT p.key AS subject FROM purchases p WHERE p.sku IS NULL AND p.user_id IS NOT NULL
                  AND (p.product_id IN (SELECT entry FROM known)
                       OR p.bundle_id || ':' || p.product_id IN (SELECT entry FROM known))
                  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = 'grant_unmapped')
                """),
        InvariantRule(
            invariant: 2, detail: "an order of several grants, or a grant of an order that is not paid",
            sql: """
                SELECT order_id AS subject FROM (
                    SELECT g.order_id, o.state, CASE WHEN \(isShared) THEN 0 ELSE 1 END AS own
                    FROM grants g JOIN orders o ON o.id = g.order_id) given
                GROUP BY order_id, state HAVING SUM(own) > 1 OR state <> 'paid'
                """),
        InvariantRule(
            invariant: 2, detail: "a shared purchase gave a sharer nothing, or a revoked one still gives",
            sql: """
                SELECT p.key AS subject FROM purchases p JOIN orders o ON o.id = p.order_id
                JOIN purchase_shares s
                  ON s.environment = p.environment AND s.original_transaction_id = p.original_transaction_id
                WHERE p.kind IN ('Non-Renewing Subscription', 'Non-Consumable')
                  AND NOT EXISTS (SELECT 1 FROM order_anomalies a
                      WHERE a.order_id = p.order_id AND a.anomaly = 'kind_mismatch')
                  AND NOT EXISTS (SELECT 1 FROM grants g
                      WHERE g.source_kind = 'apple_transaction' AND g.environment = p.environment
                        AND g.source_id = p.key AND g.user_id = s.user_id
                        AND (g.revoked_by = 'admin' OR (g.revoked_at IS NULL) = (\(takenItems) < o.quantity)))
                  AND \(isRegraded)
                """),
        InvariantRule(
            invariant: 2, detail: "a shared subscription gave a sharer another grant than its owner",
            sql: """
                SELECT o.source_id AS subject FROM grants o JOIN purchase_shares s
                  ON s.environment = o.environment AND s.original_transaction_id = o.source_id
                WHERE o.source_kind = 'apple_subscription' AND o.environment = 'Production'
                  AND NOT EXISTS (SELECT 1 FROM grants g
                      WHERE g.source_kind = o.source_kind AND g.environment = o.environment
                        AND g.source_id = o.source_id AND g.user_id = s.user_id AND g.ends_at = o.ends_at
                        AND (g.revoked_by = 'admin' OR o.revoked_by = 'admin'
                            OR (g.revoked_at IS NULL) = (o.revoked_at IS NULL)))
                """),
        InvariantRule(
            invariant: 4, detail: "a purchase is shared with its owner, or without one",
            sql: """
                SELECT s.original_transaction_id AS subject FROM purchase_shares s LEFT JOIN purchase_owners w
                  ON w.environment = s.environment AND w.original_transaction_id = s.original_transaction_id
                WHERE w.user_id IS NULL OR w.user_id = s.user_id
                """),
        InvariantRule(
            invariant: 4, detail: "a store's grant is of a user who neither owns nor shares its purchase",
            sql: """
                SELECT g.id AS subject FROM grants g JOIN purchases p
                  ON p.environment = g.environment AND p.key = g.source_id
                WHERE g.source_kind = 'apple_transaction' AND g.environment <> 'Xcode' AND NOT \(isOwnedOrShared)
                UNION
                SELECT g.id FROM grants g JOIN purchases p
                  ON p.environment = g.environment AND p.original_transaction_id = g.source_id
                WHERE g.source_kind = 'apple_subscription' AND g.environment <> 'Xcode' AND NOT \(isOwnedOrShared)
                """),
    ]
}
