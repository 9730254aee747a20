/// A notification of the App Store in a box, as JSON with the columns by which it is found.
package struct BoxNotificationRow: Sendable, Equatable {
    package let uuid: String
    /// Ascending, in the order in which they were signed.
    package let number: Int64
    /// The time at which it is sent, in milliseconds; nil once it was sent, and for one that is never sent.
    package let dueAt: Int64?
    /// True while it waits for others, to be sent in random order.
    package let waitsForOthers: Bool
    package let signedPayload: String
    package let data: String

    package init(
        uuid: String, number: Int64, dueAt: Int64?, waitsForOthers: Bool, signedPayload: String, data: String
    ) {
        self.uuid = uuid
        self.number = number
        self.dueAt = dueAt
        self.waitsForOthers = waitsForOthers
        self.signedPayload = signedPayload
        self.data = data
    }
}

extension BoxQueries {
    /// Lists notifications in the order in which they were signed.
    package func listNotifications(after number: Int64, limit: Int64) throws(StoreError) -> [BoxNotificationRow] {
        try db.rows("SELECT * FROM box_notifications WHERE number > ? ORDER BY number LIMIT ?", [number, limit]).map(
            BoxNotificationRow.init(row:))
    }

    /// Lists the newest notifications, oldest first.
    package func listNewestNotifications(limit: Int64) throws(StoreError) -> [BoxNotificationRow] {
        try db.rows("SELECT * FROM box_notifications ORDER BY number DESC LIMIT ?", [limit]).reversed().map(
            BoxNotificationRow.init(row:))
    }

    package func findNotification(_ uuid: String) throws(StoreError) -> BoxNotificationRow? {
        try db.row("SELECT * FROM box_notifications WHERE uuid = ?", uuid).map(BoxNotificationRow.init(row:))
    }

    /// Lists the notifications that are due and wait for no others, the longest due first.
    package func listDueNotifications(until time: Int64, limit: Int64) throws(StoreError) -> [BoxNotificationRow] {
        try db.rows(
            """
            SELECT * FROM box_notifications WHERE due_at IS NOT NULL AND due_at <= ? AND waits_for_others = 0
            ORDER BY due_at, number LIMIT ?
            """, [time, limit]
        ).map(BoxNotificationRow.init(row:))
    }

    /// Lists the notifications that wait for others.
    package func listHeldNotifications() throws(StoreError) -> [BoxNotificationRow] {
        try db.rows("SELECT * FROM box_notifications WHERE waits_for_others = 1 ORDER BY number", []).map(
            BoxNotificationRow.init(row:))
    }
}

extension BoxQueries where Connection == any Transaction {
    /// Inserts a notification, or replaces what can change of it; the signed payload never does.
    package func upsert(_ notification: BoxNotificationRow) throws(StoreError) {
        tx.markDueTimes()
        try tx.execute(
            """
            INSERT INTO box_notifications (uuid, number, due_at, waits_for_others, signed_payload, data)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (uuid) DO UPDATE SET due_at = excluded.due_at,
                waits_for_others = excluded.waits_for_others, data = excluded.data
            """, notification.uuid, notification.number, notification.dueAt, notification.waitsForOthers,
            notification.signedPayload, notification.data)
    }
}

extension BoxNotificationRow {
    init(row: Row) throws(StoreError) {
        self.init(
            uuid: try row.text("uuid"), number: try row.int("number"), dueAt: try row.optionalInt("due_at"),
            waitsForOthers: try row.bool("waits_for_others"), signedPayload: try row.text("signed_payload"),
            data: try row.text("data"))
    }
}
