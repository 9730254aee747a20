/// A transaction that Apple signed for a configured app in an accepted environment.
///
/// Only `AppleVerifier` makes one. Times are milliseconds since 1970-01-01 UTC, prices are milliunits of `currency`,
/// ids are text. Source: Apple, App Store Server API, JWSTransactionDecodedPayload.
public struct VerifiedTransaction: Sendable {
    /// The id of this purchase, renewal or restore.
    public let transactionID: String
    /// The id of the first transaction of the chain, which identifies a subscription.
    public let originalTransactionID: String
    /// The id of the subscription period, the same on every device.
    public let webOrderLineItemID: String?
    /// The customer's Apple Account in this app; each member of a family has a separate one.
    public let appTransactionID: String?
    public let bundleID: String
    public let productID: String
    public let subscriptionGroupID: String?
    /// Empty where Apple signed none.
    public let type: AppleCode<AppleProductType>
    /// At least 1; 1 where Apple signed none.
    public let quantity: Int64

    public let purchaseDate: Int64
    public let originalPurchaseDate: Int64?
    /// The end of the paid period; nil for a product that does not renew.
    public let expiresDate: Int64?
    public let signedDate: Int64

    public let environment: AppleEnvironment
    /// The signer; `apple` except in Xcode's environment.
    public let signer: VerifiedPayload.Signer
    /// The app's own name for its user: a UUID in lower case.
    public let appAccountToken: String?
    public let ownership: AppleCode<AppleOwnership>?
    public let reason: AppleCode<AppleTransactionReason>?
    /// True where an upgrade replaced it, so that it no longer entitles.
    public let isUpgraded: Bool

    /// The price for all of `quantity`, in thousandths of the currency unit; nil on old transactions.
    public let price: Int64?
    /// ISO 4217.
    public let currency: String?
    /// ISO 3166-1 alpha-3.
    public let storefront: String?
    public let storefrontID: String?
    public let offer: AppleOffer?
    public let billingPlan: AppleCode<AppleBillingPlan>?
    public let commitment: AppleCommitment?

    /// The time when Apple refunded or revoked it; nil while it stands.
    ///
    /// An unreadable time still states a revocation, which is then dated to the signing.
    public let revocationDate: Int64?
    public let revocationReason: AppleCode<AppleRevocationReason>?
    public let revocationType: AppleCode<AppleRevocationType>?
    /// The share of the price that was refunded, in thousandths of a percent from 0 to 100,000; nil where Apple signed
    /// none.
    public let revocationPercentage: Int64?

    /// The decoded payload as Apple signed it, with the fields that are not read above.
    public let json: [UInt8]
    /// Fields of an unknown form or value; they count as absent.
    public let unreadFields: [String]

    /// - Parameter app: the bundle id for a transaction that names none.
    init(_ payload: VerifiedPayload, for audience: Audience, of app: String? = nil) throws(AppleRefusal) {
        let claims = ClaimReader(payload.text)
        transactionID = try claims.required("transactionId", ClaimReader.id)
        originalTransactionID = try claims.required("originalTransactionId", ClaimReader.id)
        webOrderLineItemID = claims.id("webOrderLineItemId")
        appTransactionID = claims.id("appTransactionId")
        let named = try claims.checked("bundleId", ClaimReader.identifier)
        guard let bundleID = named ?? app else { throw .malformed("bundleId is missing") }
        self.bundleID = bundleID
        productID = try claims.required("productId", ClaimReader.identifier)
        subscriptionGroupID = claims.id("subscriptionGroupIdentifier")
        type = claims.code("type") ?? AppleCode(rawValue: "")
        quantity = claims.integer("quantity", in: 1...Int64(Int32.max)) ?? 1

        purchaseDate = try claims.required("purchaseDate", ClaimReader.date)
        originalPurchaseDate = claims.date("originalPurchaseDate")
        expiresDate = claims.date("expiresDate")
        signedDate = payload.signedDate

        let environmentName = try claims.required("environment", ClaimReader.text)
        signer = payload.signer
        appAccountToken = claims.uuid("appAccountToken")
        ownership = claims.code("inAppOwnershipType")
        reason = claims.code("transactionReason")
        isUpgraded = claims.flag("isUpgraded") ?? false

        price = claims.milliunits("price")
        currency = claims.currency("currency")
        storefront = claims.id("storefront")
        storefrontID = claims.id("storefrontId")
        offer = AppleOffer(claims)
        billingPlan = claims.code("billingPlanType")
        commitment = AppleCommitment(of: claims)

        revocationDate = claims.date("revocationDate") ?? (claims.has("revocationDate") ? payload.signedDate : nil)
        revocationReason = claims.code("revocationReason")
        revocationType = claims.code("revocationType")
        revocationPercentage = claims.integer("revocationPercentage", in: 0...100_000)
        json = payload.json
        unreadFields = claims.unread.names
        try audience.checkApp(bundleID)
        environment = try audience.environment(environmentName)
    }
}

/// The offer of a transaction, or of the next renewal.
public struct AppleOffer: Hashable, Sendable {
    /// `offerType`.
    public let type: AppleCode<AppleOfferType>
    /// `offerIdentifier`: the promotional offer's id or the offer code's name.
    public let identifier: String?
    /// `offerDiscountType`.
    public let discount: AppleCode<AppleOfferDiscount>?
    /// `offerPeriod`, an ISO 8601 duration such as `P1M`.
    public let period: String?

    /// - Returns: nil where there is no `offerType`.
    init?(_ claims: ClaimReader) {
        let identifier = claims.identifier("offerIdentifier")
        let discount: AppleCode<AppleOfferDiscount>? = claims.code("offerDiscountType")
        let period = claims.identifier("offerPeriod")
        guard let type: AppleCode<AppleOfferType> = claims.code("offerType") else { return nil }
        self.type = type
        self.identifier = identifier
        self.discount = discount
        self.period = period
    }
}

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
