/// `type`: what kind of product was bought.
public enum AppleProductType: String, CaseIterable, Sendable {
    case autoRenewableSubscription = "Auto-Renewable Subscription"
    case nonConsumable = "Non-Consumable"
    case consumable = "Consumable"
    case nonRenewingSubscription = "Non-Renewing Subscription"
}

/// `inAppOwnershipType`: whether the customer bought it or a member of the family did.
public enum AppleOwnership: String, CaseIterable, Sendable {
    case purchased = "PURCHASED"
    case familyShared = "FAMILY_SHARED"
}

/// `transactionReason`: a purchase by the customer, or a renewal by the App Store.
public enum AppleTransactionReason: String, CaseIterable, Sendable {
    case purchase = "PURCHASE"
    case renewal = "RENEWAL"
}

/// `revocationReason`: why the App Store refunded or revoked.
public enum AppleRevocationReason: Int, CaseIterable, Sendable {
    case other = 0
    case issueInApp = 1
}

/// `revocationType`: how much was taken back.
public enum AppleRevocationType: String, CaseIterable, Sendable {
    case fullRefund = "REFUND_FULL"
    case proratedRefund = "REFUND_PRORATED"
    case familyRevoke = "FAMILY_REVOKE"
}

/// `offerType`: which sort of offer applied.
public enum AppleOfferType: Int, CaseIterable, Sendable {
    case introductory = 1
    case promotional = 2
    case offerCode = 3
    case winBack = 4
}

/// `offerDiscountType`: how an offer is paid.
public enum AppleOfferDiscount: String, CaseIterable, Sendable {
    case freeTrial = "FREE_TRIAL"
    case payAsYouGo = "PAY_AS_YOU_GO"
    case payUpFront = "PAY_UP_FRONT"
    case oneTime = "ONE_TIME"
}

/// `billingPlanType` and `renewalBillingPlanType`: how a subscription with a commitment is paid.
public enum AppleBillingPlan: String, CaseIterable, Sendable {
    case billedUpfront = "BILLED_UPFRONT"
    case monthly = "MONTHLY"
}

/// `expirationIntent`: why a subscription ended.
public enum AppleExpirationIntent: Int, CaseIterable, Sendable {
    case customerCancelled = 1
    case billingError = 2
    case noConsentToPriceIncrease = 3
    case productNotAvailable = 4
    case other = 5
}

/// `priceIncreaseStatus`: what the customer said to a price increase.
public enum ApplePriceIncrease: Int, CaseIterable, Sendable {
    case notAnswered = 0
    case consentedOrNotified = 1
}
