package import Domain
import Store

/// The filters of a list of subscriptions; nil filters nothing.
package struct SubscriptionQuery: Sendable {
    package var status: Subscription.Status?
    package var sku: String?
    package var account: String?
    package var user: ExternalUserID?
    package var source: SubscriptionSnapshot.Source?

    package init(
        status: Subscription.Status? = nil, sku: String? = nil, account: String? = nil, user: ExternalUserID? = nil,
        source: SubscriptionSnapshot.Source? = nil
    ) {
        self.status = status
        self.sku = sku
        self.account = account
        self.user = user
        self.source = source
    }
}

/// Subscriptions of all users and of both sources, for admins.
package struct SubscriptionList: Sendable {
    let store: StoreAccess
    let time: BusinessTime

    /// The rows that one call reads at most: a status follows from the time, so a filter by it reads what it leaves out.
    private static let mostRows = 2_000
    private static let page: Int64 = 200

    /// Lists subscriptions, newest first.
    ///
    /// A page may be short, or empty, although `next_cursor` goes on.
    package func list(
        _ query: SubscriptionQuery, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<SubscriptionSnapshot> {
        let before = try Cursor(cursor) { ID<Subscription>($0) }.position
        let now = time.now
        return try await store.report { db in
            var filter = SubscriptionFilter(account: query.account.flatMap(AccountID.init))
            let isNobody = query.account != nil && filter.account == nil
            if let user = query.user {
                guard let id = try db.users.findID(user) else { return Page(items: [], cursors: [], nextCursor: nil) }
                filter.user = id
            }
            guard !isNobody else { return Page(items: [], cursors: [], nextCursor: nil) }
            var (found, last, read): ([SubscriptionSnapshot], ID<Subscription>?, Int) = ([], before, 0)
            while true {
                let (snapshots, ids) = try Self.read(query, filter, before: last, from: db, at: now)
                for snapshot in snapshots where query.status.map({ $0 == snapshot.status }) ?? true {
                    guard query.sku.map({ $0 == snapshot.sku }) ?? true else { continue }
                    found.append(snapshot)
                    guard found.count == Int(limit) else { continue }
                    let isLast = snapshot.id == ids.last && ids.count < Int(Self.page)
                    return Page(
                        items: found, cursors: found.map(\.id.rawValue), nextCursor: isLast ? nil : snapshot.id.rawValue
                    )
                }
                guard ids.count == Int(Self.page), let end = ids.last else {
                    return Page(items: found, cursors: found.map(\.id.rawValue), nextCursor: nil)
                }
                (last, read) = (end, read + ids.count)
                guard read < Self.mostRows else {
                    return Page(items: found, cursors: found.map(\.id.rawValue), nextCursor: end.rawValue)
                }
            }
        }
    }

    /// Reads the next rows of both sources.
    ///
    /// - Returns: their snapshots and all their ids, newest first.
    private static func read(
        _ query: SubscriptionQuery, _ filter: SubscriptionFilter, before: ID<Subscription>?, from db: any Database,
        at now: Timestamp
    ) throws -> (snapshots: [SubscriptionSnapshot], ids: [ID<Subscription>]) {
        let managed =
            query.source == .appStore
            ? [] : try db.managedSubscriptions.list(filter, before: before, limit: page)
        let stores =
            query.source == .paydesk ? [] : try db.subscriptions.list(filter, before: before, limit: page)
        let ids = (managed.map(\.subscription.id) + stores.map(\.id)).sorted(by: >).prefix(Int(page))
        let onPage = Set(ids)
        let snapshots =
            try managed.filter { onPage.contains($0.subscription.id) }.map {
                try ManagedSnapshots.load($0, from: db, at: now)
            } + SubscriptionSnapshot.load(stores.filter { onPage.contains($0.id) }, from: db, at: now)
        return (snapshots.sorted { $0.id > $1.id }, Array(ids))
    }
}
