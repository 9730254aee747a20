extension Migrations {
    /// Subscriptions that Paydesk renews itself, with their mandates, set-ups, trials and announced prices.
    ///
    /// `managed_subscriptions.due_at` is the time of the next act that time alone brings, `notice_at` that of the next
    /// notice of a renewal; both are null where there is none. `plan` is the plan that replaces the present one at the
    /// next renewal, as JSON. A set-up moves no money, so it is no payment. Only one payment of an order may charge a
    /// mandate at a time: `payments_charging` holds on any number of nodes.
    static let renewals = """
        CREATE TABLE managed_subscriptions (
            id {text} NOT NULL PRIMARY KEY,
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
            sku {text} NOT NULL REFERENCES skus (id),
            stack_group {text} NOT NULL,
            terms {text} NOT NULL,
            account {text} NOT NULL,
            currency {text} NOT NULL,
            price {int} NOT NULL CHECK (price > 0),
            unit {text} NOT NULL CHECK (unit IN ('day', 'week', 'month', 'year')),
            unit_count {int} NOT NULL CHECK (unit_count > 0),
            trial_days {int} NOT NULL CHECK (trial_days >= 0),
            grace_days {int} NOT NULL CHECK (grace_days >= 0),
            anchor_at {int} NOT NULL,
            anchor_index {int} NOT NULL,
            period_index {int} NOT NULL CHECK (period_index >= 0),
            period_start {int} NOT NULL,
            period_end {int} NOT NULL,
            extended_days {int} NOT NULL DEFAULT 0 CHECK (extended_days >= 0),
            cancellation {text} CHECK (cancellation IN ('canceled', 'replaced', 'mandate_ended')),
            plan {text},
            price_change {text},
            price_told {text},
            checked_at {int},
            state {text} NOT NULL CHECK (state IN ('pending', 'running', 'ended')),
            ended_at {int},
            end_reason {text} CHECK (end_reason IN ('canceled', 'payment_failed', 'refunded', 'disputed', 'erased',
                'replaced', 'lapsed', 'duplicate', 'mandate_ended')),
            failed_at {int},
            refusal {text} CHECK (refusal IN ('soft', 'hard', 'action_required')),
            tries {int} NOT NULL DEFAULT 0 CHECK (tries >= 0),
            next_try_at {int},
            charging_stopped_by {text} CHECK (charging_stopped_by IN ('dispute')),
            held_seconds {int} NOT NULL DEFAULT 0 CHECK (held_seconds >= 0),
            retried_at {int},
            due_at {int},
            notice_at {int},
            noticed {text},
            external_id {text},
            locale {text},
            partner {text},
            created_at {int} NOT NULL,
            CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
            CHECK ((state = 'ended') = (end_reason IS NOT NULL)),
            CHECK (period_end > period_start OR state <> 'running'),
            UNIQUE (account, external_id)
        ) {strict};
        CREATE UNIQUE INDEX managed_subscriptions_running ON managed_subscriptions (user_id, environment, stack_group)
            WHERE state = 'running';
        CREATE INDEX managed_subscriptions_by_user ON managed_subscriptions (user_id, id);
        CREATE INDEX managed_subscriptions_by_sku ON managed_subscriptions (sku, id);
        CREATE INDEX managed_subscriptions_by_account ON managed_subscriptions (account, id);
        CREATE INDEX managed_subscriptions_by_price ON managed_subscriptions (price_change)
            WHERE price_change IS NOT NULL;
        CREATE INDEX managed_subscriptions_to_check ON managed_subscriptions (checked_at, id) WHERE state = 'running';
        CREATE INDEX managed_subscriptions_due ON managed_subscriptions (due_at) WHERE due_at IS NOT NULL;
        CREATE INDEX managed_subscriptions_notices ON managed_subscriptions (notice_at) WHERE notice_at IS NOT NULL;
        CREATE TABLE subscription_timeline (
            subscription_id {text} NOT NULL REFERENCES managed_subscriptions (id),
            position {int} NOT NULL,
            at {int} NOT NULL,
            cause {text} NOT NULL,
            detail {text} NOT NULL,
            PRIMARY KEY (subscription_id, position)
        ) {strict};
        CREATE TABLE mandates (
            id {text} NOT NULL PRIMARY KEY,
            subscription_id {text} NOT NULL REFERENCES managed_subscriptions (id),
            account {text} NOT NULL,
            reference {blob} NOT NULL,
            customer {blob},
            owns_customer {int} NOT NULL CHECK (owns_customer IN (0, 1)),
            label {text},
            brand {text},
            last4 {text},
            exp_month {int},
            exp_year {int},
            state {text} NOT NULL CHECK (state IN ('active', 'revoking', 'revoked', 'dead')),
            created_at {int} NOT NULL
        ) {strict};
        CREATE UNIQUE INDEX mandates_active ON mandates (subscription_id) WHERE state = 'active';
        CREATE INDEX mandates_by_subscription ON mandates (subscription_id, id);
        CREATE INDEX mandates_to_revoke ON mandates (created_at) WHERE state = 'revoking';
        CREATE TABLE setups (
            id {text} NOT NULL PRIMARY KEY,
            subscription_id {text} NOT NULL REFERENCES managed_subscriptions (id),
            account {text} NOT NULL,
            purpose {text} NOT NULL CHECK (purpose IN ('trial', 'replace')),
            order_id {text} REFERENCES orders (id),
            state {text} NOT NULL CHECK (state IN ('created', 'pending', 'unknown', 'succeeded', 'failed', 'cancelled')),
            failure {text},
            reference {text},
            instruction {blob},
            accepts {text} NOT NULL,
            platform {text} NOT NULL,
            return_url {text},
            mandate_id {text} REFERENCES mandates (id),
            created_at {int} NOT NULL,
            expires_at {int} NOT NULL,
            look_at {int} NOT NULL,
            CHECK ((purpose = 'trial') = (order_id IS NOT NULL))
        ) {strict};
        CREATE UNIQUE INDEX setups_open ON setups (subscription_id) WHERE state IN ('created', 'pending', 'unknown');
        CREATE INDEX setups_by_order ON setups (order_id) WHERE order_id IS NOT NULL;
        CREATE INDEX setups_by_subscription ON setups (subscription_id, id);
        CREATE INDEX setups_to_look_at ON setups (look_at) WHERE state IN ('created', 'pending', 'unknown');
        CREATE TABLE trial_claims (
            environment {text} NOT NULL,
            stack_group {text} NOT NULL,
            kind {text} NOT NULL CHECK (kind IN ('user', 'instrument')),
            digest {blob} NOT NULL,
            PRIMARY KEY (environment, stack_group, kind, digest)
        ) {strict};
        CREATE TABLE price_changes (
            id {text} NOT NULL PRIMARY KEY,
            sku {text} NOT NULL REFERENCES skus (id),
            prices {text} NOT NULL,
            effective_at {int} NOT NULL,
            announced_at {int} NOT NULL,
            replaced_by {text}
        ) {strict};
        CREATE INDEX price_changes_by_sku ON price_changes (sku, announced_at);
        CREATE TABLE billing_hold (
            id {int} NOT NULL PRIMARY KEY CHECK (id = 1),
            since {int} NOT NULL,
            reason {text} NOT NULL
        ) {strict};
        ALTER TABLE orders ADD COLUMN subscription_id {text} REFERENCES managed_subscriptions (id);
        ALTER TABLE orders ADD COLUMN period_index {int};
        ALTER TABLE orders ADD COLUMN period_start {int};
        ALTER TABLE orders ADD COLUMN period_end {int};
        CREATE UNIQUE INDEX orders_by_period ON orders (subscription_id, period_index)
            WHERE subscription_id IS NOT NULL AND state <> 'closed';
        CREATE INDEX orders_by_subscription ON orders (subscription_id, id) WHERE subscription_id IS NOT NULL;
        ALTER TABLE payments ADD COLUMN mandate_id {text} REFERENCES mandates (id);
        CREATE UNIQUE INDEX payments_charging ON payments (order_id)
            WHERE mandate_id IS NOT NULL AND state IN ('created', 'pending', 'unknown');
        CREATE INDEX payments_charged ON payments (account, created_at) WHERE mandate_id IS NOT NULL;
        ALTER TABLE purchases ADD COLUMN app_transaction_id {text};

        """

    /// Lets grants come from managed subscriptions: SQLite cannot change a CHECK, so the table is made anew there.
    static let grantsOfRenewals: [Dialect: [String]] = [
        .sqlite: [
            "ALTER TABLE grants RENAME TO grants_before",
            Dialect.sqlite.schema(
                """
                CREATE TABLE grants (
                    id {text} NOT NULL PRIMARY KEY,
                    user_id {text} NOT NULL REFERENCES user_states (user_id),
                    sku {text} NOT NULL,
                    kind {text} NOT NULL,
                    tier {text} NOT NULL,
                    rank {int} NOT NULL,
                    source_kind {text} NOT NULL CHECK (source_kind IN ('order', 'apple_transaction',
                        'apple_subscription', 'admin', 'partner', 'managed_subscription')),
                    source_id {text} NOT NULL,
                    order_id {text} REFERENCES orders (id),
                    environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
                    purchased_at {int} NOT NULL,
                    perpetual {int} NOT NULL CHECK (perpetual IN (0, 1)),
                    days {int} CHECK (days > 0),
                    ends_at {int},
                    stack_group {text},
                    attributes {text} NOT NULL,
                    revoked_at {int},
                    revoked_by {text} CHECK (revoked_by IN ('refund', 'dispute', 'admin')),
                    suspended {int} NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)),
                    paid_until {int},
                    billing_retry {int} CHECK (billing_retry IN (0, 1)),
                    will_renew {int} CHECK (will_renew IN (0, 1)),
                    upgraded {int} CHECK (upgraded IN (0, 1)),
                    ahead {text},
                    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)),
                    UNIQUE (source_kind, environment, source_id, user_id),
                    CHECK (perpetual + CASE WHEN days IS NULL THEN 0 ELSE 1 END
                        + CASE WHEN ends_at IS NULL THEN 0 ELSE 1 END = 1)
                ) {strict}
                """),
            """
            INSERT INTO grants (\(grantColumns)) SELECT \(grantColumns) FROM grants_before ORDER BY rowid
            """,
            "DROP TABLE grants_before",
            "CREATE INDEX grants_by_user ON grants (user_id, id)",
            "CREATE INDEX grants_by_order ON grants (order_id) WHERE order_id IS NOT NULL",
        ],
        .postgres: [
            """
            ALTER TABLE grants DROP CONSTRAINT grants_source_kind_check,
                ADD CONSTRAINT grants_source_kind_check CHECK (source_kind IN ('order', 'apple_transaction',
                    'apple_subscription', 'admin', 'partner', 'managed_subscription'))
            """
        ],
    ]

    private static let grantColumns = """
        id, user_id, sku, kind, tier, rank, source_kind, source_id, order_id, environment, purchased_at, perpetual, days,
        ends_at, stack_group, attributes, revoked_at, revoked_by, suspended, paid_until, billing_retry, will_renew,
        upgraded, ahead
        """
}
