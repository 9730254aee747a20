public import Foundation

/// A meter's count in its present period (`api.md` section 5).
public struct MeterUsage: Sendable, Equatable, Decodable {
    public let meter: String
    /// Nil where the user's tier has no limit.
    public let limit: Int64?
    public let used: Int64
    public let remaining: Int64?
    /// Seconds since 1970.
    public let resetsAt: Int64

    enum CodingKeys: String, CodingKey {
        case meter, limit, used, remaining
        case resetsAt = "resets_at"
    }
}

/// The membership over all sources together (`api.md` section 6).
public struct MembershipStatus: Sendable, Equatable, Decodable {
    public let isActive: Bool
    public let tier: String
    public let expiresAt: Int64
    public let isPerpetual: Bool
    public let status: String
    public let willRenew: Bool
    public let appAccountToken: UUID

    enum CodingKeys: String, CodingKey {
        case tier, status
        case isActive = "active"
        case expiresAt = "expires_at"
        case isPerpetual = "perpetual"
        case willRenew = "will_renew"
        case appAccountToken = "app_account_token"
    }
}

/// A stored App Store purchase as it is now (`api.md` section 6).
public struct AttachedPurchase: Sendable, Equatable, Decodable {
    public let isActive: Bool
    public let status: String
    public let tier: String
    public let expiresAt: Int64
    public let isPerpetual: Bool
    public let sku: String?
    public let orderID: String?
    public let transactionID: String
    /// `Production`, `Sandbox` or `Xcode`.
    public let environment: String
    /// The units that a consumable credited.
    public let credited: [String: Int64]

    enum CodingKeys: String, CodingKey {
        case status, tier, sku, environment, credited
        case isActive = "active"
        case expiresAt = "expires_at"
        case isPerpetual = "perpetual"
        case orderID = "order_id"
        case transactionID = "transaction_id"
    }
}

/// The answer to a restore (`api.md` section 6).
public struct RestoredPurchases: Sendable, Equatable, Decodable {
    public struct Result: Sendable, Equatable, Decodable {
        public let index: Int
        /// `attached` or `rejected`.
        public let status: String
        public let error: String?
    }

    /// The number of purchases that are the user's now.
    public var restored: Int
    public var results: [Result]
}
