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
            guard let user = try db.users.findID(user) else { return Page([], limit: limit) { $0.id.rawValue } }
            let stores = try db.subscriptions.list(of: user, before: before, limit: limit + 1)
            let managed = try db.managedSubscriptions.list(of: user, before: before, limit: limit + 1)
            let ids = (stores.map(\.id) + managed.map(\.subscription.id)).sorted(by: >)
            let page = Page(ids, limit: limit) { $0.rawValue }
            let onPage = Set(page.items)
            // A subscription without a known product is left out; the cursor passes it nevertheless.
            let shown =
                try SubscriptionSnapshot.load(stores.filter { onPage.contains($0.id) }, from: db, at: now)
                + managed.filter { onPage.contains($0.subscription.id) }.map {
                    try ManagedSnapshots.load($0, from: db, at: now)
                }
            let sorted = shown.sorted { $0.id > $1.id }
            return Page(items: sorted, cursors: sorted.map(\.id.rawValue), nextCursor: page.nextCursor)
        }
    }

    /// Returns whether Paydesk renews a subscription itself.
    package func isManaged(_ id: String) async throws(GatewayError) -> Bool {
        guard let id = ID<Subscription>(id) else { return false }
        return try await store.read { db in try db.managedSubscriptions.find(id) != nil }
    }

    /// A subscription of a user.
    ///
    /// - Throws: `notFound`, also for another user's subscription.
    package func find(
        _ id: String, user: ExternalUserID
    ) async throws(GatewayError) -> SubscriptionSnapshot {
        let now = time.now
        let found = try await store.read { db -> SubscriptionSnapshot? in
            guard let id = ID<Subscription>(id), let user = try db.users.findID(user) else { return nil }
            if let managed = try db.managedSubscriptions.find(id) {
                guard managed.subscription.user == user, managed.subscription.hasBegun else { return nil }
                return try ManagedSnapshots.load(managed, from: db, at: now)
            }
            guard let record = try db.subscriptions.find(id), try db.subscriptions.isHolder(user, of: record)
            else { return nil }
            return try SubscriptionSnapshot.load(record, from: db, at: now)
        }
        guard let found else { throw .unknown(.subscription, id) }
        return found
    }
}
