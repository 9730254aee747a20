extension Migrations {
    /// Sessions of browsers, and the orders that each has made.
    ///
    /// The token itself is not stored, only its SHA-256. A session's orders are numbered, and the primary key lets only
    /// one of two concurrent checkouts make the next; `busy_until` is the lease of the checkout that runs.
    /// `readable_until` grows with the order's end; `chosen_sku` is the plan that the payer chose last.
    static let sessions = """
        CREATE TABLE sessions (
            id {text} NOT NULL PRIMARY KEY,
            token_digest {blob} NOT NULL UNIQUE,
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            purpose {text} NOT NULL CHECK (purpose IN ('checkout', 'portal')),
            maker_kind {text} NOT NULL CHECK (maker_kind IN ('user', 'partner', 'admin')),
            maker {text} NOT NULL,
            skus {text} NOT NULL,
            quantity {int} NOT NULL CHECK (quantity >= 1),
            days {int} CHECK (days >= 1),
            currency {text},
            platform {text} NOT NULL,
            provider {text},
            accept {text} NOT NULL,
            return_url {text},
            cancel_url {text},
            metadata {text} NOT NULL,
            storefront {text},
            chosen_sku {text},
            chosen_days {int},
            locale {text},
            created_at {int} NOT NULL,
            expires_at {int} NOT NULL,
            readable_until {int} NOT NULL,
            ended_at {int},
            busy_until {int},
            CHECK ((purpose = 'portal') = (currency IS NULL)),
            CHECK ((maker_kind = 'partner') = (maker <> '')),
            CHECK (chosen_days IS NULL OR chosen_sku IS NOT NULL),
            CHECK (readable_until >= expires_at)
        ) {strict};
        CREATE INDEX sessions_by_user ON sessions (user_id, expires_at);
        CREATE INDEX sessions_by_end ON sessions (readable_until);
        CREATE TABLE session_orders (
            session_id {text} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
            n {int} NOT NULL CHECK (n >= 1),
            order_id {text} NOT NULL UNIQUE REFERENCES orders (id),
            PRIMARY KEY (session_id, n)
        ) {strict};

        """
}
