package import Domain

extension ConsistencyQueries {
    /// Lists the set-ups in flight that should have ended before a time.
    package func listUnendedSetups(since time: Timestamp, limit: Int64) throws(StoreError) -> [String] {
        try db.rows(
            """
            SELECT id AS subject FROM setups
            WHERE \(InFlight.isTrue(of: "state")) AND expires_at < ? LIMIT ?
            """, [time, limit]
        ).map { row throws(StoreError) in try row.text("subject") }
    }
}

// Invariant 19 of `domain.md` section 10: the money, the mandates and the set-ups of managed subscriptions.
extension InvariantRule {
    static let ofSubscriptions = [
        // A return that failed stays visible as the open refund of its order. The policies of orders may hold the second
        // payment of a first order.
        InvariantRule(
            invariant: 19, detail: "a period of a subscription has several payments that were not returned",
            sql: """
                SELECT o.subscription_id AS subject FROM orders o JOIN payments p ON p.order_id = o.id
                WHERE o.subscription_id IS NOT NULL AND p.state = 'succeeded'
                  AND p.captured > p.lost + (SELECT COALESCE(SUM(r.amount), 0) FROM refunds r WHERE r.payment_id = p.id)
                  AND NOT EXISTS (SELECT 1 FROM order_anomalies a
                      WHERE a.order_id = o.id AND o.origin = 'checkout'
                        AND a.anomaly IN ('duplicate_payment', 'late_payment'))
                GROUP BY o.subscription_id, o.period_index HAVING COUNT(*) > 1
                """),
        InvariantRule(
            invariant: 19, detail: "a mandate was charged after its subscription had ended",
            sql: """
                SELECT p.id AS subject FROM payments p JOIN orders o ON o.id = p.order_id
                WHERE p.mandate_id IS NOT NULL
                  AND p.created_at > (SELECT MIN(t.at) FROM subscription_timeline t
                      WHERE t.subscription_id = o.subscription_id AND t.cause IN ('expired', 'revoked'))
                """),
        InvariantRule(
            invariant: 19, detail: "a payment charged a mandate of another subscription",
            sql: """
                SELECT p.id AS subject FROM payments p JOIN orders o ON o.id = p.order_id
                JOIN mandates m ON m.id = p.mandate_id
                WHERE o.subscription_id IS NULL OR m.subscription_id <> o.subscription_id OR m.account <> p.account
                """),
        InvariantRule(
            invariant: 19, detail: "a mandate of a subscription that has ended, or has not begun, is still active",
            sql: """
                SELECT m.id AS subject FROM mandates m JOIN managed_subscriptions s ON s.id = m.subscription_id
                WHERE m.state = 'active' AND s.state <> 'running'
                """),
        InvariantRule(
            invariant: 19, detail: "a set-up is in flight, and the job that sought its end has given up",
            sql: """
                SELECT t.id AS subject FROM setups t JOIN jobs j ON j.subject = t.id AND j.kind = 'reconcile_setup'
                WHERE \(InFlight.isTrue(of: "t.state")) AND j.state = 'quarantined'
                """),
        InvariantRule(
            invariant: 19, detail: "a set-up succeeded and left no mandate of its subscription",
            sql: """
                SELECT t.id AS subject FROM setups t LEFT JOIN mandates m ON m.id = t.mandate_id
                WHERE t.state = 'succeeded' AND (m.id IS NULL OR m.subscription_id <> t.subscription_id)
                """),
        InvariantRule(
            invariant: 19, detail: "a subscription was not told of the price that was announced, and no job tells it",
            sql: """
                SELECT s.id AS subject FROM managed_subscriptions s
                WHERE s.state = 'running' AND s.price_change IS NOT NULL
                  AND (s.price_told IS NULL OR s.price_told <> s.price_change)
                  AND NOT EXISTS (SELECT 1 FROM jobs j
                      WHERE j.kind = 'announce_prices' AND j.subject = s.price_change)
                """),
    ]
}
