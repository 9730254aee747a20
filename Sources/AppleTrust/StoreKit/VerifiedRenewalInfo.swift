/// What Apple signed about a subscription's next renewal, in an accepted environment.
///
/// Only `AppleVerifier` makes one. It names no app: bind it with `belongs(to:)` before heeding it. Times are
/// milliseconds since 1970-01-01 UTC, prices are milliunits.
/// Source: Apple, App Store Server API, JWSRenewalInfoDecodedPayload.
public struct VerifiedRenewalInfo: Sendable {
    public let originalTransactionID: String
    /// The product of the current period.
    public let productID: String?
    /// The product of the next period.
    public let autoRenewProductID: String?
    /// `autoRenewStatus`; nil where Apple signed none.
    public let willRenew: Bool?
    public let isInBillingRetry: Bool
    /// The end of the grace period; nil outside one.
    public let gracePeriodExpiresDate: Int64?
    public let expirationIntent: AppleCode<AppleExpirationIntent>?
    public let priceIncrease: AppleCode<ApplePriceIncrease>?
    /// The offer of the next period.
    public let offer: AppleOffer?
    /// `eligibleWinBackOfferIds`.
    public let winBackOfferIDs: [String]
    public let renewalDate: Int64?
    public let renewalPrice: Int64?
    /// ISO 4217.
    public let currency: String?
    /// The start of the subscription without regard to short lapses.
    public let recentSubscriptionStartDate: Int64?
    /// A UUID in lower case.
    public let appAccountToken: String?
    public let appTransactionID: String?
    public let billingPlan: AppleCode<AppleBillingPlan>?
    public let commitment: AppleCommitment?
    public let signedDate: Int64
    public let environment: AppleEnvironment
    /// Who vouches for it; `apple` but for Xcode's.
    public let signer: VerifiedPayload.Signer
    /// The decoded payload as Apple signed it.
    public let json: [UInt8]

    /// Whether it is about the subscription of this transaction.
    public func belongs(to transaction: VerifiedTransaction) -> Bool {
        originalTransactionID == transaction.originalTransactionID && environment == transaction.environment
    }

    init(_ payload: VerifiedPayload, for audience: Audience) throws(AppleRefusal) {
        let claims = ClaimReader(payload.text)
        originalTransactionID = try claims.required("originalTransactionId", ClaimReader.appleID)
        productID = try claims.text("productId")
        autoRenewProductID = try claims.text("autoRenewProductId")
        willRenew = try claims.integer("autoRenewStatus", in: 0...1).map { $0 == 1 }
        isInBillingRetry = try claims.flag("isInBillingRetryPeriod") ?? false
        gracePeriodExpiresDate = try claims.date("gracePeriodExpiresDate")
        expirationIntent = try claims.code("expirationIntent")
        priceIncrease = try claims.code("priceIncreaseStatus")
        offer = try AppleOffer(claims)
        winBackOfferIDs = try claims.texts("eligibleWinBackOfferIds")
        renewalDate = try claims.date("renewalDate")
        renewalPrice = try claims.milliunits("renewalPrice")
        currency = try claims.text("currency")
        recentSubscriptionStartDate = try claims.date("recentSubscriptionStartDate")
        appAccountToken = try claims.uuid("appAccountToken")
        appTransactionID = try claims.text("appTransactionId")
        billingPlan = try claims.code("renewalBillingPlanType")
        commitment = try AppleCommitment.read(claims)
        let environmentName = try claims.required("environment", ClaimReader.text)
        signedDate = payload.signedDate
        signer = payload.signer
        json = payload.json
        environment = try audience.environment(environmentName)
    }
}
