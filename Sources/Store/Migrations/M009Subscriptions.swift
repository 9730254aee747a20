extension Migrations {
    /// Subscriptions with their signed renewal information, and tables for the store's answers to queries.
    static let subscriptions = """
        CREATE TABLE subscriptions (
            id {text} NOT NULL PRIMARY KEY,
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            original_transaction_id {text} NOT NULL,
            -- The user in Xcode, where ids repeat on every machine; else empty.
            holder {text} NOT NULL,
            account {text} NOT NULL,
            user_id {text} REFERENCES user_states (user_id),
            renewal {text},
            renewal_signed_at {int} NOT NULL DEFAULT 0,
            told {text},
            next_check_at {int},
            -- How far the customer's history has been read.
            history_cursor {text},
            UNIQUE (environment, original_transaction_id, holder)
        ) {strict};
        CREATE INDEX subscriptions_by_user ON subscriptions (user_id) WHERE user_id IS NOT NULL;
        CREATE INDEX subscriptions_to_check ON subscriptions (next_check_at) WHERE next_check_at IS NOT NULL;
        INSERT INTO subscriptions (id, environment, original_transaction_id, holder, account, user_id, next_check_at)
            SELECT 'sub_' || substr(MIN(order_id), 5), environment, original_transaction_id, '', MIN(account),
                MIN(user_id), 0
            FROM purchases
            WHERE kind = 'Auto-Renewable Subscription' AND order_id IS NOT NULL AND environment <> 'Xcode'
            GROUP BY environment, original_transaction_id;
        CREATE TABLE purchase_shares (
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            original_transaction_id {text} NOT NULL,
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            shared_at {int} NOT NULL,
            PRIMARY KEY (environment, original_transaction_id, user_id)
        ) {strict};
        CREATE TABLE missed_notifications (
            account {text} NOT NULL,
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            asked_until {int} NOT NULL,
            PRIMARY KEY (account, environment)
        ) {strict};
        ALTER TABLE purchases ADD COLUMN offer {text};
        ALTER TABLE purchases ADD COLUMN commitment_ends_at {int};
        ALTER TABLE purchases ADD COLUMN consumption_consent {int} CHECK (consumption_consent IN (0, 1));
        ALTER TABLE grants ADD COLUMN paid_until {int};
        ALTER TABLE grants ADD COLUMN billing_retry {int} CHECK (billing_retry IN (0, 1));
        ALTER TABLE grants ADD COLUMN will_renew {int} CHECK (will_renew IN (0, 1));
        ALTER TABLE grants ADD COLUMN upgraded {int} CHECK (upgraded IN (0, 1));
        UPDATE grants SET paid_until = ends_at WHERE source_kind = 'apple_subscription';

        """
}
