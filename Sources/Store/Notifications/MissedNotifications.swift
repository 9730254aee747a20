package import Domain

extension NotificationQueries {
    /// The time until which the notification history of an app was fetched from its store; nil for never.
    package func fetchedUntil(
        _ account: AccountID, _ environment: Environment, app: String
    ) throws(StoreError) -> Timestamp? {
        try db.row(
            "SELECT asked_until FROM missed_notifications WHERE account = ? AND environment = ? AND app = ?", account,
            environment.rawValue, app
        )?.time("asked_until")
    }
}

extension NotificationQueries where Connection == any Transaction {
    /// Sets the time until which the notification history of an app was fetched; an earlier time changes nothing.
    package func setFetched(
        until: Timestamp, _ account: AccountID, _ environment: Environment, app: String
    ) throws(StoreError) {
        try tx.execute(
            """
            INSERT INTO missed_notifications (account, environment, app, asked_until) VALUES (?, ?, ?, ?)
            ON CONFLICT (account, environment, app) DO UPDATE SET asked_until = excluded.asked_until
            WHERE missed_notifications.asked_until < excluded.asked_until
            """, account, environment.rawValue, app, until)
    }
}
