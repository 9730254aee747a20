package import Domain

/// A transaction of the App Store in a box: a purchase or a period of a subscription.
///
/// All times are business milliseconds since 1970.
package struct BoxTransaction: Codable, Sendable, Equatable {
    /// Apple's `transactionReason`.
    package enum Reason: String, Codable, Sendable {
        case purchase = "PURCHASE"
        case renewal = "RENEWAL"
    }

    /// A refund, or the end of a share of the family.
    package struct Revocation: Codable, Sendable, Equatable {
        /// Apple's `revocationType`.
        package enum Kind: String, Codable, Sendable {
            case full = "REFUND_FULL"
            case prorated = "REFUND_PRORATED"
            case family = "FAMILY_REVOKE"
        }

        package let at: Int64
        package let kind: Kind
        /// Thousandths of a percent of the price; nil for a share.
        package let percentage: Int64?

        /// Apple's `revocationReason`: 0, another reason than a fault of the app.
        package var reason: Int64 { 0 }
    }

    /// The primary key: 18 digits that begin with 9.
    package let transactionID: String
    package let originalTransactionID: String
    /// The id of a subscription's period; nil for other kinds.
    package let webOrderLineItemID: String?
    package let customer: String
    /// Apple's `appTransactionId`, the same for all purchases of a customer.
    package let appTransactionID: String
    package let productID: String
    package let kind: SKU.Kind
    package let group: String?
    package let purchasedAt: Int64
    package let originalPurchasedAt: Int64
    /// The end of the period; nil for all kinds but subscriptions.
    package internal(set) var expiresAt: Int64?
    package let quantity: Int64
    /// A UUID in lower case.
    package let appAccountToken: String?
    package let isFamilyShared: Bool
    package let reason: Reason
    package internal(set) var isUpgraded: Bool
    package let offer: BoxOffer?
    /// ISO 3166-1 alpha-3.
    package let storefront: String
    package let currency: String
    /// Milliunits of the whole quantity.
    package let price: Int64
    package internal(set) var revocation: Revocation?
    /// The `signedDate` of the newest change; a read signs with it again, so that equal facts have equal dates.
    package internal(set) var signedAt: Int64
}

/// An offer that applied to a period.
package struct BoxOffer: Codable, Sendable, Equatable {
    package enum Kind: String, Codable, Sendable, CaseIterable {
        case introductory, promotional
        case offerCode = "offer_code"
        case winBack = "win_back"

        /// Apple's `offerType`.
        package var appleType: Int64 {
            switch self {
            case .introductory: 1
            case .promotional: 2
            case .offerCode: 3
            case .winBack: 4
            }
        }
    }

    /// Apple's `offerDiscountType`.
    package enum Discount: String, Codable, Sendable, CaseIterable {
        case freeTrial = "FREE_TRIAL"
        case payAsYouGo = "PAY_AS_YOU_GO"
        case payUpFront = "PAY_UP_FRONT"
        case oneTime = "ONE_TIME"
    }

    package let type: Kind
    package let identifier: String?
    package let discount: Discount
    /// Apple's `offerPeriod`: the product's period, ISO 8601.
    package let period: String
}
