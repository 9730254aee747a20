/// `type`: the kind of product.
public enum AppleProductType: String, CaseIterable, Sendable {
    case autoRenewableSubscription = "Auto-Renewable Subscription"
    case nonConsumable = "Non-Consumable"
    case consumable = "Consumable"
    case nonRenewingSubscription = "Non-Renewing Subscription"
}

/// `inAppOwnershipType`: bought by the customer, or by a member of the family.
public enum AppleOwnership: String, CaseIterable, Sendable {
    case purchased = "PURCHASED"
    case familyShared = "FAMILY_SHARED"
}

/// `transactionReason`: a purchase by the customer, or a renewal by the App Store.
public enum AppleTransactionReason: String, CaseIterable, Sendable {
    case purchase = "PURCHASE"
    case renewal = "RENEWAL"
}

/// `revocationReason`: the reason of a refund or revocation.
public enum AppleRevocationReason: Int, CaseIterable, Sendable {
    case other = 0
    case issueInApp = 1
}

/// `revocationType`: the extent of a revocation.
public enum AppleRevocationType: String, CaseIterable, Sendable {
    case fullRefund = "REFUND_FULL"
    case proratedRefund = "REFUND_PRORATED"
    case familyRevoke = "FAMILY_REVOKE"
}

/// `offerType`: the kind of offer.
public enum AppleOfferType: Int, CaseIterable, Sendable {
    case introductory = 1
    case promotional = 2
    case offerCode = 3
    case winBack = 4
}

/// `offerDiscountType`: the way in which an offer is paid.
public enum AppleOfferDiscount: String, CaseIterable, Sendable {
    case freeTrial = "FREE_TRIAL"
    case payAsYouGo = "PAY_AS_YOU_GO"
    case payUpFront = "PAY_UP_FRONT"
    case oneTime = "ONE_TIME"
}

/// `billingPlanType` and `renewalBillingPlanType`: the way in which a subscription with a commitment is paid.
public enum AppleBillingPlan: String, CaseIterable, Sendable {
    case billedUpfront = "BILLED_UPFRONT"
    case monthly = "MONTHLY"
}

/// `expirationIntent`: the reason why a subscription ended.
public enum AppleExpirationIntent: Int, CaseIterable, Sendable {
    case customerCancelled = 1
    case billingError = 2
    case noConsentToPriceIncrease = 3
    case productNotAvailable = 4
    case other = 5
}

/// `priceIncreaseStatus`: the customer's answer to a price increase.
public enum ApplePriceIncrease: Int, CaseIterable, Sendable {
    case notAnswered = 0
    case consentedOrNotified = 1
}

/// A word or number of Apple's that is known, or one that is newer than this program, with its raw value.
public enum AppleCode<Known: RawRepresentable & Hashable & Sendable>: Hashable, Sendable
where Known.RawValue: Hashable & Sendable {
    case known(Known)
    case unknown(Known.RawValue)

    init(rawValue: Known.RawValue) { self = Known(rawValue: rawValue).map(Self.known) ?? .unknown(rawValue) }

    /// The value that Apple signed.
    public var rawValue: Known.RawValue {
        switch self {
        case .known(let known): known.rawValue
        case .unknown(let raw): raw
        }
    }

    /// The known value, for comparing: `transaction.type.known == .consumable`.
    public var known: Known? {
        guard case .known(let known) = self else { return nil }
        return known
    }
}
