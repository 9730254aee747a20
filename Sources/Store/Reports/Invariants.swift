import Domain

/// An invariant of `domain.md` section 10 as a query for the rows that break it.
package struct InvariantRule: Sendable {
    /// The number of the invariant in that section.
    package let invariant: Int
    package let detail: String
    /// Selects the `subject` of each violation.
    let sql: String
}

extension ConsistencyQueries {
    /// Lists the subjects that break a rule.
    package func listViolations(of rule: InvariantRule, limit: Int64) throws(StoreError) -> [String] {
        try db.rows(rule.sql + " LIMIT ?", [limit]).map { row throws(StoreError) in try row.text("subject") }
    }
}

extension InvariantRule {
    package static let all = ofFacts + ofHolders + ofLists + ofSubscriptions

    /// A condition: `t` is another transaction of the period to which `p` belongs.
    private static let isSamePeriod = """
        t.environment = p.environment AND t.original_transaction_id = p.original_transaction_id
        AND t.product_id = p.product_id AND t.key <> p.key
        AND CASE WHEN t.web_order_line_item_id IS NOT NULL AND p.web_order_line_item_id IS NOT NULL
            THEN t.web_order_line_item_id = p.web_order_line_item_id
            ELSE t.purchased_at / 1000 = p.purchased_at / 1000 END
        """

    /// A condition: the store revoked the transaction with this alias, and no signed transaction states that it
    /// reversed this.
    private static func isRevoked(_ name: String) -> String {
        """
        (\(name).revoked_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM purchases r
            WHERE r.environment = \(name).environment AND r.original_transaction_id = \(name).original_transaction_id
              AND r.product_id = \(name).product_id AND r.receipt IS NULL AND r.revoked_at IS NULL
              AND r.receipt_revoked_at IS NOT NULL
              AND (\(name).receipt IS NOT NULL OR \(name).receipt_revoked_at = \(name).revoked_at)
              AND r.signed_at >= COALESCE(\(name).receipt_signed_at, \(name).signed_at)))
        """
    }

    /// A condition: the store revoked the transaction with this alias completely.
    private static func isGone(_ name: String) -> String {
        """
        \(isRevoked(name)) AND (COALESCE(\(name).revocation_ends_sharing, 0) = 1
            OR COALESCE(\(name).revocation_percentage, \(Order.wholeShare)) >= \(Order.wholeShare))
        """
    }

    /// The number of items of an order `o` that the store revoked, computed as by ``OrderTerms/remainder(of:after:)``.
    static let takenItems = """
        (CASE WHEN COALESCE(o.revoked_share, 0) >= \(Order.wholeShare) THEN o.quantity
            WHEN o.quantity = 1 OR o.revoked_share IS NULL THEN 0
            ELSE (2 * o.quantity * o.revoked_share + \(Order.wholeShare)) / (2 * \(Order.wholeShare)) END)
        """

    /// A condition: no job still has to recompute purchases that an earlier release evaluated.
    static let isRegraded = "NOT EXISTS (SELECT 1 FROM jobs r WHERE r.kind = 'regrade_purchases')"

    private static let ofFacts = [
        InvariantRule(
            invariant: 3, detail: "a payment's sums are not those of its refunds and disputes",
            sql: """
                SELECT p.id AS subject FROM payments p
                WHERE p.refunding <> (SELECT COALESCE(SUM(r.amount), 0) FROM refunds r
                        WHERE r.payment_id = p.id AND r.counted = 1 AND r.state NOT IN ('failed', 'reversed'))
                   OR p.refunded <> (SELECT COALESCE(SUM(r.amount), 0) FROM refunds r
                        WHERE r.payment_id = p.id AND r.counted = 1 AND r.state = 'succeeded')
                   OR p.lost <> (SELECT CASE WHEN COALESCE(SUM(d.amount), 0) > p.captured THEN p.captured
                            ELSE COALESCE(SUM(d.amount), 0) END FROM disputes d
                        WHERE d.payment_id = p.id AND d.state = 'lost')
                   OR p.disputed <> (SELECT CASE WHEN COALESCE(SUM(d.amount), 0) > p.captured - p.lost
                            THEN p.captured - p.lost ELSE COALESCE(SUM(d.amount), 0) END FROM disputes d
                        WHERE d.payment_id = p.id AND d.state = 'open')
                   OR p.refunding + p.lost > p.captured OR p.refunded > p.refunding
                """),
        InvariantRule(
            invariant: 3, detail: "a refund or dispute is in another currency than its payment",
            sql: """
                SELECT p.id AS subject FROM payments p
                WHERE EXISTS (SELECT 1 FROM refunds r WHERE r.payment_id = p.id AND r.currency <> p.currency)
                   OR EXISTS (SELECT 1 FROM disputes d WHERE d.payment_id = p.id AND d.currency <> p.currency)
                """),
        InvariantRule(
            invariant: 5, detail: "a subscription ends before its newest signed transaction, or is not revoked with it",
            sql: """
                SELECT g.source_id AS subject FROM grants g JOIN purchases p
                  ON p.environment = g.environment AND p.original_transaction_id = g.source_id
                WHERE g.source_kind = 'apple_subscription' AND g.environment = 'Production' AND g.revoked_at IS NULL
                  AND p.expires_at IS NOT NULL AND p.receipt_ends_at IS NULL AND p.sku IS NOT NULL
                  AND NOT (\(isGone("p")))
                  AND NOT EXISTS (SELECT 1 FROM purchases n
                      WHERE n.environment = p.environment AND n.original_transaction_id = p.original_transaction_id
                        AND n.expires_at IS NOT NULL AND n.sku IS NOT NULL AND NOT (\(isGone("n")))
                        AND (-n.is_upgraded, n.purchased_at, n.expires_at)
                            > (-p.is_upgraded, p.purchased_at, p.expires_at))
                  AND g.ends_at < CASE p.is_upgraded WHEN 1 THEN p.purchased_at ELSE p.expires_at END / 1000
                  AND NOT EXISTS (SELECT 1 FROM purchases t WHERE \(isSamePeriod)
                      AND ((\(isGone("t"))) OR (CASE WHEN t.receipt IS NULL THEN 1 ELSE 0 END, t.signed_at)
                          > (CASE WHEN p.receipt IS NULL THEN 1 ELSE 0 END, p.signed_at)))
                  AND \(isRegraded)
                """),
        InvariantRule(
            invariant: 5, detail: "a subscription ends before its newest signed transaction, or is not revoked with it",
            sql: """
                SELECT g.source_id AS subject FROM grants g
                WHERE g.source_kind = 'apple_subscription' AND g.environment = 'Production' AND g.revoked_at IS NULL
                  AND EXISTS (SELECT 1 FROM purchases p
                      WHERE p.environment = g.environment AND p.original_transaction_id = g.source_id
                        AND p.expires_at IS NOT NULL AND p.sku IS NOT NULL)
                  AND NOT EXISTS (SELECT 1 FROM purchases p
                      WHERE p.environment = g.environment AND p.original_transaction_id = g.source_id
                        AND p.expires_at IS NOT NULL AND p.sku IS NOT NULL
                        AND NOT (\(isGone("p")) OR EXISTS (
                            SELECT 1 FROM purchases t WHERE \(isSamePeriod) AND (\(isGone("t"))))))
                  AND \(isRegraded)
                """),
        InvariantRule(
            invariant: 7, detail: "a payment or refund is in flight, and the job that sought its end has given up",
            sql: """
                SELECT j.subject FROM jobs j WHERE j.state = 'quarantined'
                  AND (EXISTS (SELECT 1 FROM payments p WHERE \(InFlight.isTrue(of: "p.state"))
                          AND p.offers IS NULL AND (p.id = j.subject OR p.order_id = j.subject))
                       OR EXISTS (SELECT 1 FROM refunds r WHERE \(InFlight.isTrue(of: "r.state"))
                          AND r.id = j.subject))
                """),
        InvariantRule(
            invariant: 8, detail: "a paid order has no succeeded payment of its own with its amount and currency",
            sql: """
                SELECT o.id AS subject FROM orders o LEFT JOIN payments p ON p.id = o.paid_by
                WHERE o.state = 'paid' AND (o.origin = 'checkout' OR o.subscription_id IS NOT NULL)
                  AND o.origin <> 'import' AND o.amount > 0
                  AND (p.id IS NULL OR p.order_id <> o.id OR p.state <> 'succeeded'
                       OR (p.amount <> o.amount OR p.currency <> o.currency) AND NOT EXISTS (
                           SELECT 1 FROM mismatches m WHERE m.payment_id = p.original AND m.state = 'accepted'
                             AND m.amount = p.amount AND m.currency = p.currency))
                """),
        InvariantRule(
            invariant: 8, detail: "another amount that was accepted or returned has no payment of its own",
            sql: """
                SELECT m.order_id AS subject FROM mismatches m WHERE m.state <> 'open'
                  AND NOT EXISTS (SELECT 1 FROM payments p
                      WHERE p.original = m.payment_id AND p.state = 'succeeded' AND p.amount = m.amount
                        AND p.currency = m.currency)
                """),
        InvariantRule(
            invariant: 8, detail: "an order that is not paid names a payment that paid it",
            sql: "SELECT id AS subject FROM orders WHERE state <> 'paid' AND paid_by IS NOT NULL"),
        InvariantRule(
            invariant: 7, detail: "a payment has a processor and no claim of a token, or a claim and no processor",
            sql: """
                SELECT p.id AS subject FROM payments p
                WHERE p.original IS NULL AND (p.processor IS NULL) = EXISTS (SELECT 1 FROM instrument_claims c WHERE c.payment_id = p.id)
                """),
        InvariantRule(
            invariant: 9, detail: "a subject's events are not numbered 1 to n without a gap",
            sql: """
                SELECT subject FROM events GROUP BY subject
                HAVING COUNT(*) <> MAX(sequence) OR MIN(sequence) <> 1
                """),
        InvariantRule(
            invariant: 9, detail: "a paid order has no order.paid event",
            sql: """
                SELECT o.id AS subject FROM orders o WHERE o.state = 'paid' AND o.origin <> 'import'
                  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.subject = o.id AND e.type = 'order.paid')
                """),
        InvariantRule(
            invariant: 9, detail: "a user's version is not the number of its entitlements.changed events",
            sql: """
                SELECT u.user_id AS subject FROM user_states u
                WHERE u.version <> (SELECT COUNT(*) FROM events e
                    WHERE e.subject = u.user_id AND e.type = 'entitlements.changed')
                """),
        InvariantRule(
            invariant: 13, detail: "a balance is not the sum of its ledger",
            sql: """
                SELECT b.user_id AS subject FROM balances b
                WHERE b.amount <> (SELECT COALESCE(SUM(l.delta), 0) FROM ledger l
                    WHERE l.user_id = b.user_id AND l.unit = b.unit AND l.environment = b.environment)
                """),
        InvariantRule(
            invariant: 13, detail: "a ledger has no balance",
            sql: """
                SELECT DISTINCT l.user_id AS subject FROM ledger l
                WHERE NOT EXISTS (SELECT 1 FROM balances b
                    WHERE b.user_id = l.user_id AND b.unit = l.unit AND b.environment = l.environment)
                """),
        InvariantRule(
            invariant: 11, detail: "a notification is marked processed without a time",
            sql: "SELECT id AS subject FROM notifications WHERE status = 'processed' AND processed_at IS NULL"),
        InvariantRule(
            invariant: 8, detail: "an order of a store has no verified purchase",
            sql: """
                SELECT o.id AS subject FROM orders o WHERE o.origin IN ('purchase', 'renewal') AND o.subscription_id IS NULL
                  AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.order_id = o.id)
                """),
        InvariantRule(
            invariant: 4, detail: "a purchase is another user's than its original transaction",
            sql: """
                SELECT p.key AS subject FROM purchases p
                LEFT JOIN purchase_owners w
                  ON w.environment = p.environment AND w.original_transaction_id = p.original_transaction_id
                WHERE p.user_id IS NOT NULL AND p.environment <> 'Xcode'
                  AND (w.user_id IS NULL OR w.user_id <> p.user_id)
                """),
        InvariantRule(
            invariant: 2, detail: "an attached purchase gave nothing, or a revoked one still gives",
            sql: """
                SELECT p.key AS subject FROM purchases p JOIN orders o ON o.id = p.order_id
                WHERE p.kind IN ('Non-Renewing Subscription', 'Non-Consumable')
                  AND NOT EXISTS (SELECT 1 FROM order_anomalies a
                      WHERE a.order_id = p.order_id AND (a.anomaly = 'kind_mismatch'
                        OR a.anomaly = 'duplicate_ownership' AND NOT EXISTS (SELECT 1 FROM grants h
                            WHERE h.source_kind = 'apple_transaction' AND h.environment = p.environment
                              AND h.source_id = p.key AND h.user_id = p.user_id)))
                  AND NOT EXISTS (SELECT 1 FROM grants g
                      WHERE g.source_kind = 'apple_transaction' AND g.environment = p.environment
                        AND g.source_id = p.key AND g.user_id = p.user_id
                        AND (g.revoked_by = 'admin' OR (g.revoked_at IS NULL) = (\(takenItems) < o.quantity)))
                  AND \(isRegraded)
                """),
        InvariantRule(
            invariant: 2, detail: "a store revoked a transaction, and no order of its purchase knows",
            sql: """
                SELECT p.key AS subject FROM purchases p
                WHERE \(isRevoked("p")) AND p.sku IS NOT NULL AND p.user_id IS NOT NULL
                  AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.id = p.order_id AND o.revoked_share IS NOT NULL)
                  AND (p.order_id IS NOT NULL OR NOT EXISTS (
                      SELECT 1 FROM purchases t JOIN orders o ON o.id = t.order_id
                      WHERE t.environment = p.environment AND t.original_transaction_id = p.original_transaction_id
                        AND t.product_id = p.product_id AND o.revoked_share IS NOT NULL))
                """),
        InvariantRule(
            invariant: 2, detail: "something was bought again and is held, and nothing else gives it any more",
            sql: """
                SELECT p.key AS subject FROM order_anomalies a JOIN purchases p ON p.order_id = a.order_id
                JOIN orders o ON o.id = a.order_id
                WHERE a.anomaly = 'duplicate_ownership' AND p.user_id IS NOT NULL AND \(takenItems) < o.quantity
                  AND NOT EXISTS (SELECT 1 FROM purchases t
                      WHERE t.environment = p.environment AND t.original_transaction_id = p.original_transaction_id
                        AND t.product_id = p.product_id AND t.key <> p.key AND t.order_id IS NOT NULL
                        AND (t.revoked_at IS NULL OR t.revoked_at >= p.purchased_at))
                  AND NOT EXISTS (SELECT 1 FROM grants g
                      WHERE g.user_id = p.user_id AND g.sku = p.sku AND g.environment = p.environment
                        AND (g.source_kind = 'apple_transaction' AND g.source_id = p.key
                          OR g.perpetual = 1 AND (g.revoked_at IS NULL OR g.revoked_by = 'admin'
                            AND g.order_id IS NOT NULL AND g.revoked_at >= p.purchased_at / 1000)))
                """),
        InvariantRule(
            invariant: 2, detail: "a transaction credited more than once, or kept its credit after its revocation",
            sql: """
                SELECT l.source_id AS subject FROM ledger l JOIN purchases p
                  ON p.environment = l.environment AND p.key = l.source_id
                JOIN orders o ON o.id = p.order_id
                WHERE l.source_kind = 'apple_transaction' AND \(isRegraded)
                GROUP BY l.environment, l.source_id, l.unit, o.revoked_share, p.box
                HAVING o.revoked_share >= \(Order.wholeShare) AND SUM(l.delta) <> 0
                    OR COALESCE(o.revoked_share, 0) = 0 AND SUM(l.delta) <> MAX(l.delta)
                        AND (p.box = 0 OR SUM(l.delta) <> 0)
                    OR SUM(l.delta) < 0 OR SUM(l.delta) > MAX(l.delta)
                """),
        InvariantRule(
            invariant: 9, detail: "a subject's events are not numbered in their order",
            sql: """
                SELECT e.subject AS subject FROM events e
                JOIN events n ON n.subject = e.subject AND n.sequence = e.sequence + 1
                WHERE n.seq IS NOT NULL AND (e.seq IS NULL OR e.seq > n.seq)
                """),
        InvariantRule(
            invariant: 9, detail: "the events' global numbers have a gap",
            sql: """
                SELECT 'events' AS subject FROM (SELECT COUNT(seq) AS n, MIN(seq) AS lo, MAX(seq) AS hi FROM events) s
                WHERE n > 0 AND n <> hi - lo + 1
                """),
        InvariantRule(
            invariant: 17, detail: "what payments hold of a currency is not what orders were paid less what went back",
            sql: """
                SELECT currency AS subject FROM (
                    SELECT currency, captured - refunded - lost AS amount FROM payments
                    UNION ALL
                    SELECT CASE WHEN p.original IS NULL THEN o.currency ELSE p.currency END,
                        -CASE WHEN p.original IS NULL THEN o.amount ELSE p.amount END
                    FROM orders o JOIN payments p ON p.id = o.paid_by
                    WHERE p.offers IS NULL
                    UNION ALL
                    SELECT p.currency, -p.amount FROM payments p JOIN orders o ON o.id = p.order_id
                    WHERE p.state = 'succeeded' AND p.offers IS NULL AND (o.paid_by IS NULL OR o.paid_by <> p.id)
                    UNION ALL
                    SELECT currency, amount FROM refunds WHERE state = 'succeeded' AND counted = 1
                    UNION ALL
                    SELECT p.currency, CASE WHEN SUM(d.amount) > p.captured THEN p.captured ELSE SUM(d.amount) END
                    FROM disputes d JOIN payments p ON p.id = d.payment_id WHERE d.state = 'lost'
                    GROUP BY p.id, p.currency, p.captured
                ) books GROUP BY currency HAVING SUM(amount) <> 0
                """),
        InvariantRule(
            invariant: 10, detail: "a later event of a subject was tried before an earlier one",
            sql: """
                SELECT MIN(CASE WHEN d.state = 'pending' AND d.first_done = 0 THEN d.id END) AS subject
                FROM deliveries d GROUP BY d.webhook, d.subject
                HAVING MIN(CASE WHEN d.state = 'pending' AND d.first_done = 0 THEN d.seq END)
                    < MAX(CASE WHEN d.attempts > 0 THEN d.seq END)
                """),
        InvariantRule(
            invariant: 10, detail: "a delivery is not of its event, or goes to a partner that must not see it",
            sql: """
                SELECT d.id AS subject FROM deliveries d JOIN events e ON e.id = d.event
                JOIN webhooks w ON w.id = d.webhook
                WHERE e.seq IS NULL OR e.seq <> d.seq OR e.subject <> d.subject
                   OR (w.partner <> '' AND e.partner <> w.partner)
                """),
        InvariantRule(
            invariant: 10, detail: "a disabled or deleted webhook has deliveries to end and no job that ends them",
            sql: """
                SELECT w.id AS subject FROM webhooks w WHERE w.status = 'disabled'
                  AND (w.partner = ''
                      OR EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook = w.id AND d.state = 'pending'))
                  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.kind = 'end_deliveries' AND j.subject = w.id)
                """),
        InvariantRule(
            invariant: 10, detail: "a webhook has a delivery under way and no job that makes its attempts",
            sql: """
                SELECT w.id AS subject FROM webhooks w
                WHERE w.status = 'enabled' AND (EXISTS (SELECT 1 FROM deliveries d
                      WHERE d.webhook = w.id AND d.state = 'pending' AND d.first_done = 0
                        AND NOT EXISTS (SELECT 1 FROM jobs j
                            WHERE j.kind = 'deliver_webhook' AND j.subject = w.id))
                   OR EXISTS (SELECT 1 FROM deliveries d
                      WHERE d.webhook = w.id AND d.state = 'pending' AND d.first_done = 1
                        AND NOT EXISTS (SELECT 1 FROM jobs j
                            WHERE j.kind = 'retry_deliveries' AND j.subject = w.id)))
                """),
    ]
}
