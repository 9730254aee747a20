/// A store's signed statement about a subscription's next renewal.
///
/// Times are the store's, in milliseconds since 1970; the newest `signedAt` counts.
public struct StoreRenewal: Sendable, Equatable, Codable {
    /// The longest time of a billing retry, in seconds after a period's end.
    ///
    /// Apple tries to renew for 60 days; a subscription that ended longer ago than this is over until a notification
    /// says otherwise.
    package static let longestRetry: Int64 = 65 * 86_400

    public let environment: Environment
    public let originalTransactionID: String
    public let signedAt: Int64
    /// nil where the store signed no statement about it.
    public var willRenew: Bool?
    /// The product of the next period.
    public var nextProductID: String?
    public var isInBillingRetry = false
    /// True where a grace period was stated; its end may be missing then.
    public var isInGracePeriod = false
    /// The time until which access continues although the renewal failed.
    public var graceEndsAt: Int64?
    /// The reason why the subscription ended, as Apple's `expirationIntent`.
    public var expirationIntent: Int64?
    /// The customer's answer to a price increase, in the store's number: 0 not answered, 1 consented or notified.
    public var priceIncrease: Int64?
    /// The offer of the next period.
    public var offer: StoreOffer?
    public var renewsAt: Int64?
    /// Thousandths of a major unit.
    public var priceMilliunits: Int64?
    public var currency: Currency?
    /// The end of a commitment that is billed by the month.
    public var commitmentEndsAt: Int64?
    /// The store's id of the customer's account in this app; nil where the store named none.
    public var appTransactionID: String?

    public init(environment: Environment, originalTransactionID: String, signedAt: Int64) {
        self.environment = environment
        self.originalTransactionID = originalTransactionID
        self.signedAt = signedAt
    }
}
