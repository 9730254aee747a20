/// `commitmentInfo` of a transaction: the commitment of a subscription that is billed monthly.
public struct AppleCommitment: Hashable, Sendable {
    /// The number of this billing period in the commitment, from 1.
    public let billingPeriodNumber: Int64?
    public let totalBillingPeriods: Int64?
    /// The price of the whole commitment, in milliunits.
    public let price: Int64?
    /// The time when the commitment ends, in milliseconds since 1970-01-01 UTC.
    public let expiresDate: Int64?

    /// - Returns: nil where `claims` has no `commitmentInfo`.
    init?(of claims: ClaimReader) {
        guard let object = claims.object("commitmentInfo") else { return nil }
        billingPeriodNumber = object.integer("billingPeriodNumber", in: ClaimReader.int32)
        totalBillingPeriods = object.integer("totalBillingPeriods", in: ClaimReader.int32)
        price = object.milliunits("commitmentPrice")
        expiresDate = object.date("commitmentExpiresDate")
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
