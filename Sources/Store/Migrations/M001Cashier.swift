extension Migrations {
    /// Users, catalogue, orders, payments, refunds, disputes, grants, balances, usage, events, audit, inbox, keys.
    ///
    /// `users` is the only table that knows the app's own user ids; the row of `user_states` is locked first. A payment
    /// with `offers` (the product ids of a store's contract) captures no money itself: the amounts that the store
    /// charged and gave back are on the order.
    static let cashier = """
        CREATE TABLE users (
            id {text} NOT NULL PRIMARY KEY,
            external_id {text} NOT NULL UNIQUE
        ) {strict};
        CREATE TABLE user_states (
            user_id {text} NOT NULL PRIMARY KEY,
            version {int} NOT NULL DEFAULT 0 CHECK (version >= 0),
            next_change_at {int},
            app_account_token {text} UNIQUE,
            created_at {int} NOT NULL
        ) {strict};
        CREATE INDEX user_states_by_change ON user_states (next_change_at) WHERE next_change_at IS NOT NULL;

        CREATE TABLE counters (
            name {text} NOT NULL PRIMARY KEY,
            value {int} NOT NULL
        ) {strict};
        INSERT INTO counters (name, value) VALUES ('sku', 0);

        CREATE TABLE skus (
            id {text} NOT NULL PRIMARY KEY,
            number {int} NOT NULL UNIQUE,
            active {int} NOT NULL CHECK (active IN (0, 1)),
            body {text} NOT NULL,
            updated_at {int} NOT NULL
        ) {strict};
        CREATE TABLE apple_products (
            entry {text} NOT NULL PRIMARY KEY,
            sku {text} NOT NULL REFERENCES skus (id)
        ) {strict};
        CREATE INDEX apple_products_by_sku ON apple_products (sku);

        CREATE TABLE account_overrides (
            account {text} NOT NULL PRIMARY KEY,
            enabled {int} CHECK (enabled IN (0, 1)),
            routing {text},
            updated_at {int} NOT NULL
        ) {strict};
        CREATE TABLE account_book (
            account {text} NOT NULL,
            key {text} NOT NULL,
            value {blob} NOT NULL,
            position {int} NOT NULL,
            PRIMARY KEY (account, key),
            UNIQUE (account, position)
        ) {strict};

        CREATE TABLE orders (
            id {text} NOT NULL PRIMARY KEY,
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            origin {text} NOT NULL CHECK (origin IN ('checkout', 'purchase', 'renewal', 'import')),
            sku {text} NOT NULL REFERENCES skus (id),
            quantity {int} NOT NULL CHECK (quantity BETWEEN 1 AND 1000),
            terms {text} NOT NULL,
            days {int},
            amount {int} CHECK (amount >= 0),
            currency {text},
            state {text} NOT NULL CHECK (state IN ('open', 'paid', 'closed')),
            paid_by {text},
            charged {int} CHECK (charged >= 0),
            charged_currency {text},
            returned {int} NOT NULL DEFAULT 0 CHECK (returned >= 0),
            platform {text} NOT NULL,
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            partner {text},
            return_url {text},
            metadata {text} NOT NULL,
            created_at {int} NOT NULL,
            expires_at {int} NOT NULL,
            paid_at {int},
            closed_at {int},
            refreshed_at {int},
            CHECK ((amount IS NULL) = (currency IS NULL)),
            CHECK ((charged IS NULL) = (charged_currency IS NULL)),
            CHECK (returned <= COALESCE(charged, 0)),
            CHECK ((state = 'paid') = (paid_at IS NOT NULL))
        ) {strict};
        CREATE INDEX orders_by_user ON orders (user_id, id);
        CREATE INDEX orders_by_partner ON orders (partner, id) WHERE partner IS NOT NULL;
        CREATE INDEX orders_by_state ON orders (state, expires_at);
        CREATE TABLE order_anomalies (
            order_id {text} NOT NULL REFERENCES orders (id),
            anomaly {text} NOT NULL,
            detail {text} NOT NULL,
            at {int} NOT NULL,
            PRIMARY KEY (order_id, anomaly)
        ) {strict};
        CREATE TABLE order_timeline (
            order_id {text} NOT NULL REFERENCES orders (id),
            position {int} NOT NULL,
            at {int} NOT NULL,
            type {text} NOT NULL,
            detail {text} NOT NULL,
            PRIMARY KEY (order_id, position)
        ) {strict};

        CREATE TABLE payments (
            id {text} NOT NULL PRIMARY KEY,
            order_id {text} NOT NULL REFERENCES orders (id),
            attempt {int} NOT NULL CHECK (attempt > 0),
            account {text} NOT NULL,
            processor {text},
            amount {int} NOT NULL CHECK (amount > 0),
            currency {text} NOT NULL,
            state {text} NOT NULL
                CHECK (state IN ('created', 'pending', 'unknown', 'succeeded', 'failed', 'cancelled')),
            reference {text},
            instruction {blob},
            offers {text},
            recurring {int} NOT NULL CHECK (recurring IN (0, 1)),
            platform {text} NOT NULL,
            return_url {text},
            unfenced {int} NOT NULL DEFAULT 0 CHECK (unfenced IN (0, 1)),
            captured {int} NOT NULL DEFAULT 0,
            refunding {int} NOT NULL DEFAULT 0,
            refunded {int} NOT NULL DEFAULT 0,
            lost {int} NOT NULL DEFAULT 0,
            created_at {int} NOT NULL,
            CHECK (captured = CASE WHEN state = 'succeeded' AND offers IS NULL THEN amount ELSE 0 END),
            UNIQUE (order_id, attempt),
            CHECK (refunded >= 0 AND refunded <= refunding AND lost >= 0 AND refunding + lost <= captured)
        ) {strict};
        CREATE UNIQUE INDEX payments_by_reference ON payments (account, reference) WHERE reference IS NOT NULL;
        CREATE INDEX payments_in_flight ON payments (state, id) WHERE state IN ('created', 'pending', 'unknown');

        CREATE TABLE refunds (
            id {text} NOT NULL PRIMARY KEY,
            order_id {text} NOT NULL REFERENCES orders (id),
            payment_id {text} NOT NULL REFERENCES payments (id),
            amount {int} NOT NULL CHECK (amount > 0),
            currency {text} NOT NULL,
            reason {text} NOT NULL,
            state {text} NOT NULL
                CHECK (state IN ('created', 'pending', 'unknown', 'succeeded', 'failed', 'reversed')),
            reference {text},
            counted {int} NOT NULL CHECK (counted IN (0, 1)),
            created_at {int} NOT NULL
        ) {strict};
        CREATE INDEX refunds_by_payment ON refunds (payment_id, id);
        CREATE INDEX refunds_by_order ON refunds (order_id, id);
        CREATE INDEX refunds_in_flight ON refunds (state, id) WHERE state IN ('created', 'pending', 'unknown');

        CREATE TABLE disputes (
            id {text} NOT NULL PRIMARY KEY,
            order_id {text} NOT NULL REFERENCES orders (id),
            payment_id {text} NOT NULL REFERENCES payments (id),
            reference {text} NOT NULL,
            amount {int} NOT NULL CHECK (amount > 0),
            currency {text} NOT NULL,
            state {text} NOT NULL CHECK (state IN ('open', 'won', 'lost')),
            created_at {int} NOT NULL,
            UNIQUE (payment_id, reference)
        ) {strict};
        CREATE INDEX disputes_by_order ON disputes (order_id, id);

        CREATE TABLE grants (
            id {text} NOT NULL PRIMARY KEY,
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            sku {text} NOT NULL,
            kind {text} NOT NULL,
            tier {text} NOT NULL,
            rank {int} NOT NULL,
            source_kind {text} NOT NULL
                CHECK (source_kind IN ('order', 'apple_transaction', 'apple_subscription', 'admin', 'partner')),
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
            CHECK ((revoked_at IS NULL) = (revoked_by IS NULL)),
            UNIQUE (source_kind, environment, source_id, user_id),
            CHECK (perpetual + CASE WHEN days IS NULL THEN 0 ELSE 1 END
                + CASE WHEN ends_at IS NULL THEN 0 ELSE 1 END = 1)
        ) {strict};
        CREATE INDEX grants_by_user ON grants (user_id, id);
        CREATE INDEX grants_by_order ON grants (order_id) WHERE order_id IS NOT NULL;

        CREATE TABLE ledger (
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            unit {text} NOT NULL,
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            source_kind {text} NOT NULL,
            source_id {text} NOT NULL,
            step {int} NOT NULL CHECK (step > 0),
            delta {int} NOT NULL CHECK (delta <> 0),
            at {int} NOT NULL,
            PRIMARY KEY (user_id, unit, environment, source_kind, source_id, step)
        ) {strict};
        CREATE TABLE balances (
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            unit {text} NOT NULL,
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            amount {int} NOT NULL,
            PRIMARY KEY (user_id, unit, environment)
        ) {strict};
        CREATE TABLE usage (
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            meter {text} NOT NULL,
            period_start {int} NOT NULL,
            used {int} NOT NULL CHECK (used > 0),
            PRIMARY KEY (user_id, meter, period_start)
        ) {strict};

        CREATE TABLE events (
            id {text} NOT NULL PRIMARY KEY,
            subject {text} NOT NULL,
            sequence {int} NOT NULL CHECK (sequence > 0),
            seq {int} UNIQUE,
            type {text} NOT NULL,
            user_id {text},
            partner {text},
            at {int} NOT NULL,
            data {text} NOT NULL,
            UNIQUE (subject, sequence)
        ) {strict};
        CREATE INDEX events_without_seq ON events (id) WHERE seq IS NULL;

        CREATE TABLE audit (
            subject {text} NOT NULL,
            position {int} NOT NULL CHECK (position > 0),
            at {int} NOT NULL,
            actor {text} NOT NULL,
            request_id {text} NOT NULL,
            action {text} NOT NULL,
            before {text} NOT NULL,
            after {text} NOT NULL,
            digest {blob} NOT NULL,
            PRIMARY KEY (subject, position)
        ) {strict};
        CREATE INDEX audit_by_time ON audit (at, subject, position);

        CREATE TABLE notifications (
            id {text} NOT NULL PRIMARY KEY,
            account {text} NOT NULL,
            provider_event_id {text} NOT NULL,
            type {text} NOT NULL,
            status {text} NOT NULL CHECK (status IN ('stored', 'processed', 'quarantined', 'rejected')),
            facts {text} NOT NULL,
            body {blob},
            headers {blob},
            digest {blob} NOT NULL,
            received_at {int} NOT NULL,
            processed_at {int},
            UNIQUE (account, provider_event_id)
        ) {strict};
        CREATE INDEX notifications_by_status ON notifications (status, id);

        CREATE TABLE api_keys (
            id {text} NOT NULL PRIMARY KEY,
            name {text} NOT NULL,
            partner {text} NOT NULL,
            scopes {text} NOT NULL,
            hash {blob} NOT NULL,
            created_at {int} NOT NULL,
            revoked_at {int}
        ) {strict};

        CREATE TABLE idempotency_keys (
            caller {text} NOT NULL,
            key {text} NOT NULL,
            fingerprint {blob} NOT NULL,
            lease_until {int} NOT NULL,
            lease_epoch {int} NOT NULL,
            resource {text},
            status {int},
            answer {blob},
            created_at {int} NOT NULL,
            PRIMARY KEY (caller, key),
            CHECK ((status IS NULL) = (answer IS NULL))
        ) {strict};
        CREATE INDEX idempotency_by_age ON idempotency_keys (created_at);

        """
}
