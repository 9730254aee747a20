/// The entitlements of a user, in the shape of `api.md` section 5; the ETag is computed from the bytes of its JSON.
package struct EntitlementSnapshot: Encodable, Sendable, Equatable {
    package struct Tier: Encodable, Sendable, Equatable {
        let tier: String
        let rank: Int64
        @Nullable private(set) var expires_at: Timestamp?
        let perpetual: Bool
    }

    package struct Item: Encodable, Sendable, Equatable {
        package struct Source: Encodable, Sendable, Equatable {
            let type: Grant.SourceKind
            let id: String
            @Nullable private(set) var order_id: ID<Order>?
        }

        package let id: ID<Grant>
        let sku: String
        let kind: SKU.Kind
        let tier: String
        package let status: Entitlement.Status
        let starts_at: Timestamp
        @Nullable private(set) var expires_at: Timestamp?
        let perpetual: Bool
        let will_renew: Bool
        let environment: Environment
        let source: Source
        let attributes: [String: JSONValue]
    }

    /// The user's id: internal in a stored snapshot, the app's own in an answer.
    package var user_id: String
    package let version: Int64
    package let active: Bool
    package let tier: String
    /// The latest end of all tiers that are held.
    @Nullable package private(set) var expires_at: Timestamp?
    /// The end of the tier in ``tier``.
    @Nullable package private(set) var tier_expires_at: Timestamp?
    package let perpetual: Bool
    @Nullable package private(set) var next_change_at: Timestamp?
    package let tiers: [Tier]
    package let entitlements: [Item]
    package let balances: [String: Int64]
    package let sandbox_balances: [String: Int64]

    package init(
        userID: String, version: Int64, fold: EntitlementFold, balances: [String: Int64],
        sandboxBalances: [String: Int64]
    ) {
        user_id = userID
        self.version = version
        active = fold.membership != nil
        tier = fold.membership?.tier ?? ""
        expires_at = fold.membership?.endsAt
        tier_expires_at = fold.tiers.first?.endsAt
        perpetual = fold.membership.map { $0.endsAt == nil } ?? false
        next_change_at = fold.nextChangeAt
        tiers = fold.tiers.map {
            Tier(tier: $0.tier, rank: $0.rank, expires_at: $0.endsAt, perpetual: $0.endsAt == nil)
        }
        entitlements = fold.entitlements.map(Item.init)
        self.balances = balances
        sandbox_balances = sandboxBalances
    }
}

extension EntitlementSnapshot.Item {
    package init(_ entitlement: Entitlement) {
        let grant = entitlement.grant
        id = grant.id
        sku = grant.sku.rawValue
        kind = grant.kind
        tier = grant.tier
        status = entitlement.status
        starts_at = entitlement.startsAt
        expires_at = entitlement.endsAt
        perpetual = entitlement.endsAt == nil
        will_renew = entitlement.willRenew
        environment = grant.environment
        source = Source(type: grant.source.kind, id: grant.source.id, order_id: grant.order)
        attributes = grant.attributes
    }
}
