package import Domain

extension ManagedSubscriptionQueries {
    /// Finds the open order of the period that follows the running one.
    package func openOrder(of subscription: ManagedSubscription) throws(StoreError) -> ID<Order>? {
        try db.row(
            """
            SELECT id FROM orders WHERE subscription_id = ? AND period_index = ? AND state = 'open'
            """, subscription.id, subscription.periodIndex + 1
        )?.id("id")
    }

    /// Finds the newest order of a subscription that was paid.
    package func newestPaidOrder(of subscription: ID<Subscription>) throws(StoreError) -> ID<Order>? {
        try db.row(
            """
            SELECT id FROM orders WHERE subscription_id = ? AND state = 'paid'
            ORDER BY period_index DESC, id DESC LIMIT 1
            """, subscription
        )?.id("id")
    }

    /// Returns whether a charge of an order's mandate is under way, or its outcome is not known.
    package func isCharging(_ order: ID<Order>) throws(StoreError) -> Bool {
        try db.row(
            """
            SELECT id FROM payments WHERE order_id = ? AND mandate_id IS NOT NULL
                AND \(InFlight.isTrue(of: "state"))
            """, order) != nil
    }

    /// Returns whether a dispute of any order of a subscription is open or lost.
    package func isDisputed(_ subscription: ID<Subscription>) throws(StoreError) -> Bool {
        try db.row(
            """
            SELECT d.id FROM orders o JOIN disputes d ON d.order_id = o.id
            WHERE o.subscription_id = ? AND d.state IN ('open', 'lost') LIMIT 1
            """, subscription) != nil
    }

    /// Counts the running subscriptions whose renewal or next try was due before a time and has not been decided.
    ///
    /// `due_at` is null while a charge is under way, and while renewals are on hold.
    package func countOverdue(before time: Timestamp) throws(StoreError) -> Int64 {
        try db.row(
            """
            SELECT (SELECT COUNT(*) FROM managed_subscriptions WHERE due_at IS NOT NULL AND due_at < ?)
                + (SELECT COUNT(*) FROM managed_subscriptions s
                    WHERE s.state = 'running' AND s.due_at IS NULL AND s.period_end < ?
                        AND NOT EXISTS (SELECT p.id FROM orders o JOIN payments p ON p.order_id = o.id
                            WHERE o.subscription_id = s.id AND o.state = 'open' AND p.mandate_id IS NOT NULL
                                AND \(InFlight.isTrue(of: "p.state")) AND p.created_at >= ?)) AS n
            """, time, time, time
        )?.int("n") ?? 0
    }

    /// Counts the charges of each account that were intended before a time and have not reached its service.
    package func countUnsent(before time: Timestamp) throws(StoreError) -> [AccountID: Int64] {
        var found: [AccountID: Int64] = [:]
        for row in try db.rows(
            """
            SELECT p.account, COUNT(*) AS n FROM managed_subscriptions s
            JOIN orders o ON o.subscription_id = s.id JOIN payments p ON p.order_id = o.id
            WHERE s.state = 'running' AND s.due_at IS NULL AND s.period_end < ? AND o.state = 'open'
                AND p.mandate_id IS NOT NULL AND p.state = 'created' AND p.created_at < ?
            GROUP BY p.account
            """, [time, time])
        {
            found[try row.account("account")] = try row.int("n")
        }
        return found
    }

    /// Counts the running subscriptions of each account.
    package func countRunning() throws(StoreError) -> [AccountID: Int64] {
        var found: [AccountID: Int64] = [:]
        for row in try db.rows(
            "SELECT account, COUNT(*) AS n FROM managed_subscriptions WHERE state = 'running' GROUP BY account", [])
        {
            found[try row.account("account")] = try row.int("n")
        }
        return found
    }

    /// Lists the orders of a subscription, the newest of them up to a limit, oldest first.
    package func orders(of subscription: ID<Subscription>, limit: Int64) throws(StoreError) -> [ID<Order>] {
        try db.rows(
            "SELECT id FROM orders WHERE subscription_id = ? ORDER BY id DESC LIMIT ?", [subscription, limit]
        ).reversed().map { row throws(StoreError) in try row.id("id") }
    }
}
