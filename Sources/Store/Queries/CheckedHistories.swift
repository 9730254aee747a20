package import Domain

/// That what a user owns changed, as the event told it.
package struct EntitlementAnnouncement: Sendable {
    package let at: Timestamp
    /// The event's snapshot as JSON text.
    package let data: String
}

// What `paydesk check` reads to follow how things came to be what they are.
extension Database {
    /// Orders in the order of their ids.
    package func orders(after last: String, limit: Int64) throws(StoreError) -> [ID<Order>] {
        try rows("SELECT id FROM orders WHERE id > ? ORDER BY id LIMIT ?", [last, limit])
            .map { row throws(StoreError) in try row.id("id") }
    }

    /// Users whose name is known, with the moment at which time alone next changes what they own; by their ids.
    package func awaitedChanges(
        after last: String, limit: Int64
    ) throws(StoreError) -> [(user: ID<User>, at: Timestamp?)] {
        try rows(
            """
            SELECT s.user_id, s.next_change_at FROM user_states s JOIN users u ON u.id = s.user_id
            WHERE s.user_id > ? ORDER BY s.user_id LIMIT ?
            """, [last, limit]
        ).map { row throws(StoreError) in (try row.id("user_id"), try row.optionalTime("next_change_at")) }
    }

    /// The latest announcements of what a user owns, newest first.
    package func announcements(to user: ID<User>, limit: Int64) throws(StoreError) -> [EntitlementAnnouncement] {
        try rows(
            """
            SELECT at, data FROM events WHERE subject = ? AND type = 'entitlements.changed'
            ORDER BY sequence DESC LIMIT ?
            """, [user, limit]
        ).map { row throws(StoreError) in
            EntitlementAnnouncement(at: try row.time("at"), data: try row.text("data"))
        }
    }
}
