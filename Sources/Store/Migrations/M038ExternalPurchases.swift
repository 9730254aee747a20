extension Migrations {
    /// Tokens of Apple's for purchases outside of the App Store, and the reports about them.
    ///
    /// `external_tokens.look_at` is the time at which a token's job is made, null where only a change brings one. A report
    /// is stored with its request identifier and its bytes before the first call. A line item's `turn` counts how often
    /// its fact came, so that no fact is reported twice on any number of nodes. `external_holds` has the accounts that
    /// send nothing: until a time where Apple's rate limit is reached, without a time where Apple refuses the key. `box_external_reports` has what the App Store in a box accepted.
    static let externalPurchases = """
        CREATE TABLE external_tokens (
            id {text} NOT NULL PRIMARY KEY,
            account {text} NOT NULL,
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox')),
            external_purchase_id {text} NOT NULL,
            bundle_id {text} NOT NULL,
            app_apple_id {int} NOT NULL,
            token_type {text},
            token_created_at {int} NOT NULL,
            token_expires_at {int},
            user_id {text} REFERENCES user_states (user_id),
            source {text} NOT NULL CHECK (source IN ('checkout', 'app', 'apple')),
            due_at {int} NOT NULL,
            look_at {int},
            state {text} NOT NULL CHECK (state IN ('waiting', 'due', 'reported', 'refused')),
            created_at {int} NOT NULL,
            UNIQUE (account, external_purchase_id)
        ) {strict};
        CREATE INDEX external_tokens_by_user ON external_tokens (user_id) WHERE user_id IS NOT NULL;
        CREATE INDEX external_tokens_by_state ON external_tokens (state, id);
        CREATE INDEX external_tokens_to_look_at ON external_tokens (look_at) WHERE look_at IS NOT NULL;
        CREATE TABLE external_reports (
            id {text} NOT NULL PRIMARY KEY,
            token_id {text} NOT NULL REFERENCES external_tokens (id),
            request_identifier {text} NOT NULL UNIQUE,
            status {text} NOT NULL CHECK (status IN ('LINE_ITEM', 'NO_LINE_ITEM', 'UNRECOGNIZED_TOKEN',
                'DUPLICATE_TOKEN')),
            digest {text} NOT NULL,
            body {text} NOT NULL,
            state {text} NOT NULL CHECK (state IN ('created', 'unknown', 'accepted', 'refused')),
            answer {text},
            created_at {int} NOT NULL,
            UNIQUE (token_id, digest)
        ) {strict};
        CREATE INDEX external_reports_by_token ON external_reports (token_id, id);
        CREATE TABLE external_line_items (
            report_id {text} NOT NULL REFERENCES external_reports (id),
            line_item_id {text} NOT NULL,
            fact_kind {text} NOT NULL CHECK (fact_kind IN ('payment', 'trial', 'refund', 'dispute')),
            fact_id {text} NOT NULL,
            turn {int} NOT NULL CHECK (turn > 0),
            erroneous {int} NOT NULL CHECK (erroneous IN (0, 1)),
            UNIQUE (fact_kind, fact_id, turn, erroneous)
        ) {strict};
        CREATE INDEX external_line_items_by_report ON external_line_items (report_id);
        CREATE TABLE external_holds (
            account {text} NOT NULL PRIMARY KEY,
            reason {text} NOT NULL,
            since {int} NOT NULL,
            until {int}
        ) {strict};
        CREATE TABLE box_external_reports (
            request_identifier {text} NOT NULL PRIMARY KEY,
            number {int} NOT NULL UNIQUE,
            data {text} NOT NULL
        ) {strict};
        ALTER TABLE orders ADD COLUMN external_token_id {text} REFERENCES external_tokens (id);
        ALTER TABLE orders ADD COLUMN storefront {text};
        ALTER TABLE orders ADD COLUMN tax_rate {int};
        CREATE INDEX orders_by_external_token ON orders (external_token_id, id) WHERE external_token_id IS NOT NULL;
        ALTER TABLE sessions ADD COLUMN external_token_id {text} REFERENCES external_tokens (id);

        """
}
