/// Apple's signed information on a subscription's next renewal, in an accepted environment.
///
/// Only `AppleVerifier` makes one. It names no app: compare it with a transaction by `belongs(to:)` before using it.
/// Times are milliseconds since 1970-01-01 UTC, prices are milliunits.
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
    /// The end of the grace period; nil outside of one.
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
    /// The start of the subscription, short lapses disregarded.
    public let recentSubscriptionStartDate: Int64?
    /// A UUID in lower case.
    public let appAccountToken: String?
    public let appTransactionID: String?
    public let billingPlan: AppleCode<AppleBillingPlan>?
    public let commitment: AppleRenewalCommitment?
    public let signedDate: Int64
    public let environment: AppleEnvironment
    /// The signer; `apple` except in Xcode's environment.
    public let signer: VerifiedPayload.Signer
    /// The decoded payload as Apple signed it.
    public let json: [UInt8]
    /// Fields of an unknown form or value; they count as absent.
    public let unreadFields: [String]

    /// Returns whether this is about the subscription of a transaction.
    public func belongs(to transaction: VerifiedTransaction) -> Bool {
        originalTransactionID == transaction.originalTransactionID && environment == transaction.environment
    }

    init(_ payload: VerifiedPayload, for audience: Audience) throws(AppleRefusal) {
        let claims = ClaimReader(payload.text)
        originalTransactionID = try claims.required("originalTransactionId", ClaimReader.id)
        productID = claims.identifier("productId")
        autoRenewProductID = claims.identifier("autoRenewProductId")
        willRenew = claims.integer("autoRenewStatus", in: 0...1).map { $0 == 1 }
        isInBillingRetry = claims.flag("isInBillingRetryPeriod") ?? false
        gracePeriodExpiresDate = claims.date("gracePeriodExpiresDate")
        expirationIntent = claims.code("expirationIntent")
        priceIncrease = claims.code("priceIncreaseStatus")
        offer = AppleOffer(claims)
        winBackOfferIDs = claims.texts("eligibleWinBackOfferIds")
        renewalDate = claims.date("renewalDate")
        renewalPrice = claims.milliunits("renewalPrice")
        currency = claims.currency("currency")
        recentSubscriptionStartDate = claims.date("recentSubscriptionStartDate")
        appAccountToken = claims.uuid("appAccountToken")
        appTransactionID = claims.id("appTransactionId")
        billingPlan = claims.code("renewalBillingPlanType")
        commitment = AppleRenewalCommitment(of: claims)
        let environmentName = try claims.required("environment", ClaimReader.text)
        signedDate = payload.signedDate
        signer = payload.signer
        json = payload.json
        unreadFields = claims.unread.names
        environment = try audience.environment(environmentName)
    }
}

/// `commitmentInfo` of renewal information: the commitment that follows, under field names of its own.
///
/// Source: Apple, App Store Server API 1.21, commitmentInfo of JWSRenewalInfoDecodedPayload.
public struct AppleRenewalCommitment: Hashable, Sendable {
    /// The time when the commitment ends and renews, in milliseconds since 1970-01-01 UTC.
    public let renewalDate: Int64?
    /// True where another commitment follows; nil where Apple signed no statement about it.
    public let willRenew: Bool?
    /// The product of the next commitment.
    public let autoRenewProductID: String?
    /// The price of the next commitment, in milliunits.
    public let renewalPrice: Int64?
    public let billingPlan: AppleCode<AppleBillingPlan>?

    /// - Returns: nil where `claims` has no `commitmentInfo`.
    init?(of claims: ClaimReader) {
        guard let object = claims.object("commitmentInfo") else { return nil }
        renewalDate = object.date("commitmentRenewalDate")
        willRenew = object.integer("commitmentAutoRenewStatus", in: 0...1).map { $0 == 1 }
        autoRenewProductID = object.identifier("commitmentAutoRenewProductId")
        renewalPrice = object.milliunits("commitmentRenewalPrice")
        billingPlan = object.code("commitmentRenewalBillingPlanType")
    }
}
