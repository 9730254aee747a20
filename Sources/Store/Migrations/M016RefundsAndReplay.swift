extension Migrations {
    /// The time at which a refund was sent last, and the time until which the notification history of each app was fetched.
    ///
    /// The time of a whole account tells nothing about an app that was added later, so the history of every app is
    /// fetched once from as far back as its store has it.
    static let refundsAndReplay = """
        ALTER TABLE refunds ADD COLUMN sent_at {int};
        DROP TABLE missed_notifications;
        CREATE TABLE missed_notifications (
            account {text} NOT NULL,
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            app {text} NOT NULL,
            asked_until {int} NOT NULL,
            PRIMARY KEY (account, environment, app)
        ) {strict};

        """
}
