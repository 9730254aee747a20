extension Migrations {
    /// When a refund was sent last, and until when each app of an account was asked for its missed notifications.
    ///
    /// What was known of whole accounts says nothing of an app that came later, so every app is asked from as far back as
    /// its store keeps notifications, once.
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
