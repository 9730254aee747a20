extension Migrations {
    /// Partners' endpoints, and the delivery of each event to each endpoint.
    ///
    /// `next_at` is the time of the next attempt; `first_done` is 1 once the first attempt has ended, and then no other
    /// delivery waits for this one.
    static let webhooks = """
        CREATE TABLE webhooks (
            id {text} NOT NULL PRIMARY KEY,
            partner {text} NOT NULL,
            url {text} NOT NULL,
            types {text} NOT NULL,
            scopes {text} NOT NULL,
            secret {blob} NOT NULL,
            previous_secret {blob},
            previous_until {int},
            status {text} NOT NULL CHECK (status IN ('enabled', 'disabled')),
            disabled_reason {text} CHECK (disabled_reason IN ('gone', 'failing', 'partner')),
            failing_since {int},
            created_at {int} NOT NULL,
            CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL)),
            CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
        ) {strict};
        CREATE INDEX webhooks_by_partner ON webhooks (partner, id);

        CREATE TABLE deliveries (
            id {text} NOT NULL PRIMARY KEY,
            webhook {text} NOT NULL REFERENCES webhooks (id),
            event {text} NOT NULL REFERENCES events (id),
            seq {int} NOT NULL,
            subject {text} NOT NULL,
            state {text} NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
            attempts {int} NOT NULL DEFAULT 0 CHECK (attempts >= 0),
            next_at {int},
            last_status {int},
            last_error {text},
            first_done {int} NOT NULL DEFAULT 0 CHECK (first_done IN (0, 1)),
            created_at {int} NOT NULL,
            done_at {int},
            CHECK ((state = 'pending') = (next_at IS NOT NULL)),
            CHECK ((state = 'pending') = (done_at IS NULL)),
            CHECK (state <> 'succeeded' OR first_done = 1),
            UNIQUE (webhook, event)
        ) {strict};
        CREATE INDEX deliveries_first ON deliveries (webhook, seq) WHERE state = 'pending' AND first_done = 0;
        CREATE INDEX deliveries_again ON deliveries (webhook, next_at) WHERE state = 'pending' AND first_done = 1;
        CREATE INDEX deliveries_listed ON deliveries (webhook, seq);

        CREATE INDEX events_undispatched ON events (subject, sequence) WHERE seq IS NULL;
        INSERT INTO counters (name, value) SELECT 'event', COALESCE(MAX(seq), 0) FROM events;

        """
}
