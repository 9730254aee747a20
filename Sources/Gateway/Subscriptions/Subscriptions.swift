package import Domain
import Store

/// The subscriptions of users.
package struct Subscriptions: Sendable {
    let store: StoreAccess
    let time: BusinessTime

    /// Lists a user's subscriptions in their current state, newest first; an unknown user has none.
    package func list(
        user: ExternalUserID, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<SubscriptionSnapshot> {
        let before = try Cursor(cursor) { ID<Subscription>($0) }.position
        let now = time.now
        return try await store.report { db in
            let records = try db.users.findID(user).map {
                try db.subscriptions.list(of: $0, before: before, limit: limit + 1)
            }
            let page = Page(records ?? [], limit: limit) { $0.id.rawValue }
            // A subscription without a known product is left out; the cursor passes it nevertheless.
            let shown = try SubscriptionSnapshot.load(page.items, from: db, at: now)
            return Page(items: shown, cursors: shown.map(\.id.rawValue), nextCursor: page.nextCursor)
        }
    }

    /// A subscription of a user.
    ///
    /// - Throws: `notFound`, also for another user's subscription.
    package func find(
        _ id: String, user: ExternalUserID
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        let now = time.now
        let found = try await store.read { db -> SubscriptionSnapshot? in
            guard let id = ID<Subscription>(id), let user = try db.users.findID(user),
                let record = try db.subscriptions.find(id), try db.subscriptions.isHolder(user, of: record)
            else { return nil }
            return try SubscriptionSnapshot.load(record, from: db, at: now)
        }
        guard let found else { throw .unknown(.subscription, id) }
        return found
    }
}
