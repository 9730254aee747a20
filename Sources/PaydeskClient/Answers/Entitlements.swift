/// Everything that a user owns, over all sources (`api.md` section 5).
public struct ClientEntitlements: Sendable, Equatable, Decodable {
    public struct Tier: Sendable, Equatable, Decodable {
        public let tier: String
        public let expiresAt: Int64?

        enum CodingKeys: String, CodingKey {
            case tier
            case expiresAt = "expires_at"
        }
    }

    public struct Grant: Sendable, Equatable, Decodable {
        public struct Source: Sendable, Equatable, Decodable {
            public let type: String
            public let id: String?
        }

        public let id: String
        public let sku: String
        public let kind: String
        public let tier: String?
        public let status: String
        /// Seconds since 1970; nil without an end.
        public let expiresAt: Int64?
        public let isPerpetual: Bool
        public let willRenew: Bool
        public let environment: String
        public let attributes: [String: AttributeValue]
        public let source: Source

        enum CodingKeys: String, CodingKey {
            case id, sku, kind, tier, status, environment, attributes, source
            case expiresAt = "expires_at"
            case isPerpetual = "perpetual"
            case willRenew = "will_renew"
        }

        /// True while the user has it.
        public var isHeld: Bool { status == "active" || status == "in_grace_period" }
    }

    public let userID: String
    public let version: Int64
    public let isActive: Bool
    public let tier: String?
    public let expiresAt: Int64?
    public let isPerpetual: Bool
    /// The time at which time alone changes the answer next.
    public let nextChangeAt: Int64?
    public let tiers: [Tier]
    public let grants: [Grant]
    public let balances: [String: Int64]

    enum CodingKeys: String, CodingKey {
        case version, tier, tiers, balances
        case userID = "user_id"
        case isActive = "active"
        case expiresAt = "expires_at"
        case isPerpetual = "perpetual"
        case nextChangeAt = "next_change_at"
        case grants = "entitlements"
    }

    /// True while the user has this SKU.
    public func owns(_ sku: String) -> Bool { grants.contains { $0.sku == sku && $0.isHeld } }
}
