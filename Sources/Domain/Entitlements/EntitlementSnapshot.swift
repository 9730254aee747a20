/// What a user owns, in the shape of `api.md` section 5; the bytes of its JSON are what the ETag covers.
package struct EntitlementSnapshot: Encodable, Sendable, Equatable {
    package struct Tier: Encodable, Sendable, Equatable {
        let tier: String
        let rank: Int64
        let expires_at: Timestamp?
        let perpetual: Bool
    }

    package struct Item: Encodable, Sendable, Equatable {
        package struct Source: Encodable, Sendable, Equatable {
            let type: Grant.SourceKind
            let id: String
            let order_id: ID<Order>?
        }

        package let id: ID<Grant>
        let sku: String
        let kind: SKU.Kind
        let tier: String
        package let status: Entitlement.Status
        let starts_at: Timestamp
        let expires_at: Timestamp?
        let perpetual: Bool
        let will_renew: Bool
        let environment: Environment
        let source: Source
        let attributes: [String: JSONValue]
    }

    /// The user's name: internal in what is stored, the app's own where it is shown.
    package var user_id: String
    package let version: Int64
    package let active: Bool
    package let tier: String
    /// The latest end of all tiers that are held.
    package let expires_at: Timestamp?
    /// The end of the tier that is shown.
    package let tier_expires_at: Timestamp?
    package let perpetual: Bool
    package let next_change_at: Timestamp?
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

    private enum CodingKeys: String, CodingKey {
        case user_id, version, active, tier, expires_at, tier_expires_at, perpetual, next_change_at, tiers
        case entitlements, balances, sandbox_balances
    }

    /// Absent times are null, never left out.
    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(user_id, forKey: .user_id)
        try fields.encode(version, forKey: .version)
        try fields.encode(active, forKey: .active)
        try fields.encode(tier, forKey: .tier)
        try fields.encode(expires_at, forKey: .expires_at)
        try fields.encode(tier_expires_at, forKey: .tier_expires_at)
        try fields.encode(perpetual, forKey: .perpetual)
        try fields.encode(next_change_at, forKey: .next_change_at)
        try fields.encode(tiers, forKey: .tiers)
        try fields.encode(entitlements, forKey: .entitlements)
        try fields.encode(balances, forKey: .balances)
        try fields.encode(sandbox_balances, forKey: .sandbox_balances)
    }
}

extension EntitlementSnapshot.Tier {
    private enum CodingKeys: String, CodingKey { case tier, rank, expires_at, perpetual }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(tier, forKey: .tier)
        try fields.encode(rank, forKey: .rank)
        try fields.encode(expires_at, forKey: .expires_at)
        try fields.encode(perpetual, forKey: .perpetual)
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

    private enum CodingKeys: String, CodingKey {
        case id, sku, kind, tier, status, starts_at, expires_at, perpetual, will_renew, environment, source, attributes
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(sku, forKey: .sku)
        try fields.encode(kind, forKey: .kind)
        try fields.encode(tier, forKey: .tier)
        try fields.encode(status, forKey: .status)
        try fields.encode(starts_at, forKey: .starts_at)
        try fields.encode(expires_at, forKey: .expires_at)
        try fields.encode(perpetual, forKey: .perpetual)
        try fields.encode(will_renew, forKey: .will_renew)
        try fields.encode(environment, forKey: .environment)
        try fields.encode(source, forKey: .source)
        try fields.encode(attributes, forKey: .attributes)
    }
}

extension EntitlementSnapshot.Item.Source {
    private enum CodingKeys: String, CodingKey { case type, id, order_id }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(type, forKey: .type)
        try fields.encode(id, forKey: .id)
        try fields.encode(order_id, forKey: .order_id)
    }
}
