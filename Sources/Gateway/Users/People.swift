package import Domain
import Store

/// A user in a list of admins.
package struct PersonLine: Encodable, Sendable, Equatable {
    let user_id: String
    let created_at: Timestamp
    /// The tier of the membership; empty where there is none.
    let tier: String
    let active: Bool
    let orders: Int64
}

/// A user with everything that is theirs.
package struct Person: Encodable, Sendable {
    package struct Use: Encodable, Sendable {
        let meter: String
        @Nullable private(set) var limit: Int64?
        let used: Int64
        let resets_at: Timestamp
    }

    /// A purchase of the user with the grant that it gave.
    package struct Purchase: Encodable, Sendable {
        let view: StoredPurchaseView
        let grant: ID<Grant>?

        private enum CodingKeys: CodingKey { case grant_id }

        package func encode(to encoder: any Encoder) throws {
            try view.encode(to: encoder)
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(grant, forKey: .grant_id)
        }
    }

    let user_id: String
    let created_at: Timestamp
    @Nullable private(set) var app_account_token: String?
    let entitlements: EntitlementSnapshot
    let subscriptions: [SubscriptionSnapshot]
    let balances: [String: Int64]
    let sandbox_balances: [String: Int64]
    let usage: [Use]
    let purchases: [Purchase]
    let orders: [OrderSnapshot]
}

/// The users as admins see them.
package struct People: Sendable {
    let store: StoreAccess
    let meters: ConfiguredMeters
    let time: BusinessTime

    private static let orderLimit: Int64 = 20
    private static let partLimit: Int64 = 100

    /// Lists users whose ids begin with a text, in the order of these.
    package func list(prefix: String, cursor: String?, limit: Int64) async throws(GatewayError) -> Page<PersonLine> {
        guard prefix.hasScalars(0...128), prefix.isPlain else {
            throw .invalidRequest(
                field: "prefix", reason: "must have 0 to 128 characters, none of them a control character")
        }
        let last = try Cursor(cursor) { ExternalUserID($0)?.rawValue }.position
        let now = time.now
        let lines = try await store.report { db in
            // A cursor of another prefix begins at this one's start.
            let last = last.flatMap { $0 >= prefix ? $0 : nil }
            return try db.users.list(prefix: prefix, after: last, limit: limit + 1).map { user in
                let fold = EntitlementRules.fold(try db.grants.list(of: user.id).value(), now: now)
                return PersonLine(
                    user_id: user.name, created_at: user.createdAt, tier: fold.membership?.tier ?? "",
                    active: fold.membership != nil, orders: user.orders)
            }
        }
        return Page(lines, limit: limit, cursor: \.user_id)
    }

    /// Finds a user with everything that is theirs: the newest 20 orders, and at most 100 of everything else.
    ///
    /// - Throws: `notFound` for a user who was never seen.
    package func find(_ user: ExternalUserID) async throws(GatewayError) -> Person {
        let (now, meters) = (time.now, meters.all)
        let found = try await store.report { db -> Person? in
            guard let state = try db.users.findState(user), let made = try db.users.createdAt(state.id) else {
                return nil
            }
            let grants = try db.grants.list(of: state.id).value()
            let fold = EntitlementRules.fold(grants, now: now)
            let entitlements = EntitlementSnapshot(
                name: user.rawValue, version: state.version, fold: fold,
                balances: try db.wallets.balances(of: state.id).value())
            let records = try db.subscriptions.list(of: state.id, before: nil, limit: Self.partLimit)
            let managed = try db.managedSubscriptions.list(of: state.id, before: nil, limit: Self.partLimit)
            let subscriptions =
                try managed.map { try ManagedSnapshots.load($0, from: db, at: now) }
                + SubscriptionSnapshot.load(records, from: db, at: now)
            let orders = try db.orders.list(OrderFilter(user: state.id), before: nil, limit: Self.orderLimit)
            return Person(
                user_id: user.rawValue, created_at: made, app_account_token: state.appAccountToken,
                entitlements: entitlements, subscriptions: subscriptions,
                balances: entitlements.balances, sandbox_balances: entitlements.sandbox_balances,
                usage: try meters.map { meter in
                    let window = meter.window(at: now)
                    return Person.Use(
                        meter: meter.id, limit: meter.limit(tier: fold.membership?.tier ?? ""),
                        used: try db.meters.used(meter.id, user: state.id, period: window.start),
                        resets_at: window.end)
                },
                purchases: try db.purchases.listArrived(of: state.id, limit: Self.partLimit).map {
                    Person.Purchase(
                        view: StoredPurchaseView($0, userName: user.rawValue), grant: Self.grant(of: $0, among: grants))
                }, orders: try OrderSnapshot.load(orders, from: db, audience: .admin))
        }
        guard let found else { throw .unknown(.user, user.rawValue) }
        return found
    }

    private static func grant(of arrived: ArrivedPurchase, among grants: [Grant]) -> ID<Grant>? {
        let purchase = arrived.record.purchase
        return grants.first { grant in
            guard grant.environment == purchase.environment else { return false }
            switch grant.source.kind {
            case .appleTransaction: return grant.source.id == arrived.key
            case .appleSubscription:
                return purchase.isSubscription && grant.source.id == purchase.originalTransactionID
            case .order, .admin, .partner, .managedSubscription: return false
            }
        }?.id
    }
}
