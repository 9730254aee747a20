package import Domain

/// The invariants of external purchases: facts without an accepted line item, and tokens without a report.
extension ConsistencyQueries {
    /// Lists the ids at Apple of tokens with a fact about money that stands in no accepted line item, though it
    /// happened before a time.
    ///
    /// Facts that Apple takes no more are left out: purchases of three years, and refunds a year after their purchase.
    package func listUnreportedFacts(before time: Timestamp, limit: Int64) throws(StoreError) -> [String] {
        let oldest = time.adding(seconds: -ExternalReportRules.reportableSeconds)
        let returns = ExternalReportRules.correctableSeconds
        return try db.rows(
            """
            SELECT DISTINCT t.external_purchase_id AS subject FROM (
                SELECT o.external_token_id AS token, 'payment' AS kind, o.paid_by AS fact FROM orders o
                WHERE o.external_token_id IS NOT NULL AND o.state = 'paid' AND o.paid_by IS NOT NULL
                  AND o.paid_at <= ? AND o.paid_at > ?
                UNION ALL
                SELECT o.external_token_id, 'trial', o.id FROM orders o
                WHERE o.external_token_id IS NOT NULL AND o.state = 'paid' AND o.paid_by IS NULL
                  AND o.subscription_id IS NOT NULL AND o.paid_at <= ? AND o.paid_at > ?
                UNION ALL
                SELECT o.external_token_id, 'refund', r.id FROM orders o JOIN refunds r ON r.payment_id = o.paid_by
                WHERE o.external_token_id IS NOT NULL AND r.state = 'succeeded' AND r.counted = 1
                  AND \(Self.told("refund.succeeded", "r.id")) <= ? AND r.created_at < o.paid_at + ?
                UNION ALL
                SELECT o.external_token_id, 'dispute', d.id FROM orders o JOIN disputes d ON d.payment_id = o.paid_by
                WHERE o.external_token_id IS NOT NULL AND d.state = 'lost'
                  AND \(Self.told("dispute.lost", "d.id")) <= ? AND d.told_at < o.paid_at + ?
            ) f JOIN external_tokens t ON t.id = f.token
            WHERE NOT EXISTS (
                SELECT 1 FROM external_line_items i JOIN external_reports r ON r.id = i.report_id
                WHERE r.state = 'accepted' AND i.fact_kind = f.kind AND i.fact_id = f.fact AND i.erroneous = 0
                  AND NOT EXISTS (
                    SELECT 1 FROM external_line_items w JOIN external_reports v ON v.id = w.report_id
                    WHERE v.state = 'accepted' AND w.fact_kind = i.fact_kind AND w.fact_id = i.fact_id
                      AND w.turn >= i.turn AND w.erroneous = 1))
            ORDER BY 1 LIMIT ?
            """,
            [time, oldest, time, oldest, time, returns, time, returns, limit]
        ).map { row throws(StoreError) in try row.text("subject") }
    }

    /// Lists the ids at Apple of tokens with an accepted line item whose fact holds no more, though it ended before a
    /// time.
    package func listReportedFactsThatAreGone(before time: Timestamp, limit: Int64) throws(StoreError) -> [String] {
        try db.rows(
            """
            SELECT DISTINCT t.external_purchase_id AS subject
            FROM external_line_items i JOIN external_reports r ON r.id = i.report_id
            JOIN external_tokens t ON t.id = r.token_id
            LEFT JOIN refunds f ON i.fact_kind = 'refund' AND f.id = i.fact_id
            LEFT JOIN disputes d ON i.fact_kind = 'dispute' AND d.id = i.fact_id
            WHERE r.state = 'accepted' AND i.erroneous = 0 AND r.created_at > ?
              AND (f.state IN ('failed', 'reversed') AND \(Self.ended("f.order_id", "f.id")) <= ?
                  OR d.state = 'won' AND \(Self.ended("d.order_id", "d.id")) <= ?)
              AND NOT EXISTS (
                  SELECT 1 FROM external_line_items w JOIN external_reports v ON v.id = w.report_id
                  WHERE v.state = 'accepted' AND w.fact_kind = i.fact_kind AND w.fact_id = i.fact_id
                    AND w.turn >= i.turn AND w.erroneous = 1)
            ORDER BY 1 LIMIT ?
            """, [time.adding(seconds: -ExternalReportRules.correctableSeconds), time, time, limit]
        ).map { row throws(StoreError) in try row.text("subject") }
    }

    /// Lists the ids at Apple of tokens without an accepted report that were due before a time and that no open order
    /// keeps.
    package func listUnreportedTokens(dueBefore time: Timestamp, limit: Int64) throws(StoreError) -> [String] {
        try db.rows(
            """
            SELECT t.external_purchase_id AS subject FROM external_tokens t
            WHERE t.due_at <= ?
              AND NOT EXISTS (SELECT 1 FROM external_reports r WHERE r.token_id = t.id AND r.state = 'accepted')
              AND NOT EXISTS (\(AwaitedOrders.select(of: "t.id")))
            ORDER BY t.id LIMIT ?
            """, [time, limit]
        ).map { row throws(StoreError) in try row.text("subject") }
    }

    /// The arrival of a fact here, from the order's timeline.
    private static func told(_ type: String, _ id: String) -> String {
        """
        COALESCE((SELECT MAX(l.at) FROM order_timeline l WHERE l.order_id = o.id AND l.type = '\(type)'
            AND substr(l.detail, 1, 30) = \(id)), 0)
        """
    }

    private static func ended(_ order: String, _ id: String) -> String {
        """
        COALESCE((SELECT MAX(l.at) FROM order_timeline l WHERE l.order_id = \(order)
            AND substr(l.detail, 1, 30) = \(id)), 0)
        """
    }
}
