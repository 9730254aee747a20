/// A subscription of the App Store in a box: one for an original transaction id.
///
/// All times are business milliseconds since 1970. The renewal information that Apple signs is made from it.
package struct BoxSubscription: Codable, Sendable, Equatable {
    /// Apple's `status`.
    package enum State: Int64, Codable, Sendable {
        case active = 1
        case expired = 2
        case billingRetry = 3
        case grace = 4
        case revoked = 5
    }

    /// Apple's `expirationIntent`.
    package enum Intent: Int64, Codable, Sendable {
        case cancelled = 1
        case billing = 2
        case priceIncrease = 3
        case notForSale = 4
    }

    /// A higher price from the next renewal on.
    package struct PriceIncrease: Codable, Sendable, Equatable {
        /// Milliunits.
        package let price: Int64
        package var isAccepted: Bool
    }

    /// The primary key.
    package let originalTransactionID: String
    package let customer: String
    package let appTransactionID: String
    package let group: String
    /// The original transaction id of the family's payer; nil where the customer pays.
    package let sharedFrom: String?
    package internal(set) var appAccountToken: String?
    package let storefront: String
    package let originalPurchasedAt: Int64
    /// Apple's `recentSubscriptionStartDate`, without the allowance for lapses under 60 days.
    package internal(set) var startedAt: Int64

    package internal(set) var productID: String
    /// The product of the next renewal.
    package internal(set) var nextProductID: String
    /// The newest transaction.
    package internal(set) var currentTransactionID: String
    package internal(set) var currency: String
    /// Milliunits at the next renewal, without an increase that waits.
    package internal(set) var renewalPrice: Int64
    package internal(set) var priceIncrease: PriceIncrease?

    /// The time from which the periods are counted; months end by its day.
    package internal(set) var anchor: Int64
    /// The periods from the anchor to `expiresAt`.
    package internal(set) var periods: Int64
    /// The end of the newest period.
    package internal(set) var expiresAt: Int64
    package internal(set) var state: State
    package internal(set) var willRenew: Bool
    /// The days of grace of renewals that fail from now on: 0, 3, 16, 28; nil where they succeed.
    package internal(set) var failsWithGrace: Int64?
    package internal(set) var graceEndsAt: Int64?
    package internal(set) var expirationIntent: Intent?
    package internal(set) var signedAt: Int64

    /// True where it gives access or may still renew: it cannot be bought again.
    package var isRunning: Bool { state == .active || state == .grace || state == .billingRetry }
    package var isFamilyShared: Bool { sharedFrom != nil }

    /// The time of the next change that happens by itself; nil once it has ended.
    ///
    /// A column with an index.
    package var nextAt: Int64? {
        switch state {
        case .active: expiresAt
        case .grace: graceEndsAt ?? expiresAt
        case .billingRetry: willRenew ? expiresAt + Self.billingRetry : signedAt
        case .expired, .revoked: nil
        }
    }

    /// 60 days.
    static let billingRetry: Int64 = 60 * 86_400_000

    /// Apple's `priceIncreaseStatus`: 0 not answered, 1 accepted, nil without an increase.
    package var priceIncreaseStatus: Int64? { priceIncrease.map { $0.isAccepted ? 1 : 0 } }
    /// Apple's `renewalPrice`.
    package var nextPrice: Int64 { priceIncrease?.price ?? renewalPrice }
}
