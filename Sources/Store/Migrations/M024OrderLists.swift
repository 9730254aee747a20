extension Migrations {
    /// The tables from which lists of orders and daily sums are read.
    ///
    /// `order_places` has each order once for every way in which lists find it: by its audience (`''` for an order of
    /// no partner, which everybody may see; `*` and `p:<partner>` for an order of a partner), by an account that it was
    /// tried at or paid through (`''` for any), and by its status. `order_sums` has the sums of `orders`, `payments`,
    /// `refunds` and `disputes` by day of UTC and currency, in Production. The rows of one day (`slot`) are added up;
    /// there are several, so that PostgreSQL's connections do not wait for each other. Triggers (``OrderTriggers``)
    /// keep both tables correct, also while a node of the release before still writes. Here they are filled from the
    /// stored rows.
    ///
    /// `look_at` is the time at which the work finder next looks at a payment or refund that is not final; 0 means at
    /// once, so that it begins with the stored ones.
    static let orderLists = """
        CREATE TABLE order_places (
            audience {text} NOT NULL,
            account {text} NOT NULL,
            status {text} NOT NULL,
            order_id {text} NOT NULL,
            PRIMARY KEY (audience, account, status, order_id)
        ) {clustered};
        INSERT INTO order_places (audience, account, status, order_id)
            SELECT CASE WHEN o.partner IS NULL THEN '' WHEN k.n = 0 THEN '*' ELSE 'p:' || o.partner END, a.account,
                \(orderStatus), o.id
            FROM (
                SELECT id AS order_id, '' AS account FROM orders
                UNION SELECT order_id, account FROM payments
                UNION SELECT order_id, account FROM purchases WHERE order_id IS NOT NULL) a
            JOIN orders o ON o.id = a.order_id LEFT JOIN payments p ON p.id = o.paid_by
            CROSS JOIN (SELECT 0 AS n UNION ALL SELECT 1) k
            WHERE k.n = 0 OR o.partner IS NOT NULL;

        CREATE TABLE order_sums (
            day {int} NOT NULL,
            currency {text} NOT NULL,
            slot {int} NOT NULL,
            opened {int} NOT NULL,
            paid {int} NOT NULL,
            charged {int} NOT NULL,
            refunded {int} NOT NULL,
            PRIMARY KEY (day, currency, slot)
        ) {clustered};
        INSERT INTO order_sums (day, currency, slot, opened, paid, charged, refunded)
            SELECT day, currency, 0, SUM(opened), SUM(paid), SUM(charged), SUM(refunded) FROM (
                SELECT o.created_at / 86400 AS day, COALESCE(o.currency, o.charged_currency, '') AS currency,
                    1 AS opened, 0 AS paid, 0 AS charged, 0 AS refunded
                FROM orders o WHERE o.environment = 'Production'
                UNION ALL
                SELECT o.paid_at / 86400, COALESCE(o.charged_currency, p.currency, o.currency, ''), 0, 1,
                    COALESCE(o.charged, p.captured, 0), 0
                FROM orders o LEFT JOIN payments p ON p.id = o.paid_by
                WHERE o.environment = 'Production' AND o.paid_at IS NOT NULL
                UNION ALL
                SELECT o.returned_at / 86400, o.charged_currency, 0, 0, 0, o.returned FROM orders o
                WHERE o.environment = 'Production' AND o.returned_at IS NOT NULL AND o.charged_currency IS NOT NULL
                UNION ALL
                SELECT r.created_at / 86400, r.currency, 0, 0, 0, r.amount
                FROM refunds r JOIN orders o ON o.id = r.order_id AND o.paid_by = r.payment_id
                WHERE o.environment = 'Production' AND r.state = 'succeeded' AND r.counted = 1
                UNION ALL
                SELECT d.created_at / 86400, d.currency, 0, 0, 0, d.amount
                FROM disputes d JOIN orders o ON o.id = d.order_id AND o.paid_by = d.payment_id
                WHERE o.environment = 'Production' AND d.state = 'lost') parts
            GROUP BY day, currency;

        DROP INDEX orders_by_state;
        DROP INDEX orders_by_partner;
        DROP INDEX orders_by_payday;
        DROP INDEX orders_by_return;
        CREATE INDEX orders_open ON orders (expires_at) WHERE state = 'open';

        ALTER TABLE payments ADD COLUMN look_at {int} NOT NULL DEFAULT 0;
        ALTER TABLE refunds ADD COLUMN look_at {int} NOT NULL DEFAULT 0;
        CREATE INDEX payments_to_look_at ON payments (look_at) WHERE state IN ('created', 'pending', 'unknown');
        CREATE INDEX refunds_to_look_at ON refunds (look_at) WHERE state IN ('created', 'pending', 'unknown');
        DROP INDEX payments_in_flight;
        CREATE INDEX payments_in_flight ON payments (state, (COALESCE(processor, account)), id)
            WHERE state IN ('created', 'pending', 'unknown');
        CREATE INDEX payments_by_number ON payments (reference) WHERE reference IS NOT NULL;

        DROP INDEX purchases_by_user;
        CREATE INDEX purchases_by_user ON purchases (user_id, purchased_at, key) WHERE user_id IS NOT NULL;
        DROP INDEX purchases_waiting;
        CREATE INDEX purchases_without_sku ON purchases (received_at, environment, key) WHERE sku IS NULL;
        CREATE INDEX purchases_without_user ON purchases (received_at, environment, key) WHERE user_id IS NULL;
        CREATE INDEX purchases_in_xcode ON purchases (transaction_id) WHERE environment = 'Xcode';
        CREATE INDEX purchase_shares_by_user ON purchase_shares (user_id, environment, original_transaction_id);
        DROP INDEX subscriptions_by_user;
        CREATE INDEX subscriptions_by_user ON subscriptions (user_id, id) WHERE user_id IS NOT NULL;
        CREATE INDEX subscriptions_by_account ON subscriptions (account, environment, id);

        CREATE INDEX ledger_by_user ON ledger (user_id, at);
        CREATE INDEX deliveries_failed ON deliveries (webhook, done_at) WHERE state = 'failed';
        CREATE INDEX jobs_leased ON jobs (lease_until) WHERE lease_until <> 0;

        """

    /// `Order.status` in SQL, of the order `o` and the payment `p` that paid it.
    static let orderStatus = """
        CASE WHEN o.state <> 'paid' THEN o.state
            WHEN o.revoked_share IS NOT NULL AND o.returned_at IS NOT NULL AND o.charged IS NULL THEN
                CASE WHEN o.revoked_share >= 100000 THEN 'refunded'
                    WHEN o.revoked_share > 0 THEN 'partially_refunded' ELSE 'paid' END
            WHEN COALESCE(p.refunded + p.lost, 0) + o.returned = 0 THEN 'paid'
            WHEN COALESCE(p.refunded + p.lost, 0) + o.returned >= COALESCE(o.charged, p.captured, 0) THEN 'refunded'
            ELSE 'partially_refunded' END
        """
}
