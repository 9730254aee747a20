/// A notification of the App Store in a box, with the rows that are signed inside of it.
///
/// All times are business milliseconds since 1970.
package struct BoxNotification: Codable, Sendable, Equatable {
    /// Apple's `notificationType`.
    package enum Kind: String, Codable, Sendable {
        case subscribed = "SUBSCRIBED"
        case oneTimeCharge = "ONE_TIME_CHARGE"
        case offerRedeemed = "OFFER_REDEEMED"
        case renewed = "DID_RENEW"
        case failedToRenew = "DID_FAIL_TO_RENEW"
        case gracePeriodExpired = "GRACE_PERIOD_EXPIRED"
        case expired = "EXPIRED"
        case renewalStatus = "DID_CHANGE_RENEWAL_STATUS"
        case renewalPreference = "DID_CHANGE_RENEWAL_PREF"
        case priceIncrease = "PRICE_INCREASE"
        case renewalExtended = "RENEWAL_EXTENDED"
        case refund = "REFUND"
        case refundDeclined = "REFUND_DECLINED"
        case refundReversed = "REFUND_REVERSED"
        case consumptionRequest = "CONSUMPTION_REQUEST"
        case revoke = "REVOKE"
        case test = "TEST"
    }

    /// Apple's `subtype`.
    package enum Subtype: String, Codable, Sendable {
        case initialBuy = "INITIAL_BUY"
        case resubscribe = "RESUBSCRIBE"
        case billingRecovery = "BILLING_RECOVERY"
        case gracePeriod = "GRACE_PERIOD"
        case voluntary = "VOLUNTARY"
        case billingRetry = "BILLING_RETRY"
        case priceIncrease = "PRICE_INCREASE"
        case notForSale = "PRODUCT_NOT_FOR_SALE"
        case autoRenewDisabled = "AUTO_RENEW_DISABLED"
        case autoRenewEnabled = "AUTO_RENEW_ENABLED"
        case upgrade = "UPGRADE"
        case downgrade = "DOWNGRADE"
        case pending = "PENDING"
        case accepted = "ACCEPTED"
    }

    /// A delivery that was tried.
    package struct Attempt: Codable, Sendable, Equatable {
        package let at: Int64
        /// The HTTP status; nil where there was no answer.
        package let status: Int64?

        package init(at: Int64, status: Int64?) {
            self.at = at
            self.status = status
        }
    }

    /// The primary key: a UUID in lower case.
    package let uuid: String
    /// The place in the order of signing, ascending.
    package let number: Int64
    package let type: Kind
    package let subtype: Subtype?
    /// The transaction to sign; nil for `TEST`.
    package let transaction: BoxTransaction?
    /// The subscription whose renewal information and status are signed; nil for other kinds.
    package let subscription: BoxSubscription?
    package let signedAt: Int64
    /// The time at which it is sent; nil where it is not to be sent (any more).
    ///
    /// A column with an index.
    package internal(set) var dueAt: Int64?
    /// The deliveries that are left to try.
    package internal(set) var copiesLeft: Int64
    /// True where it waits for others, to be sent in random order.
    package internal(set) var isShuffled: Bool
    package internal(set) var attempts: [Attempt]

    /// Apple's `consumptionRequestReason`; nil for other types.
    package var consumptionRequestReason: String? { type == .consumptionRequest ? "UNINTENDED_PURCHASE" : nil }

    /// Returns it after a delivery was tried; the sandbox of the App Store tries no delivery again.
    package func trying(_ attempt: Attempt) -> BoxNotification {
        var tried = self
        tried.attempts.append(attempt)
        tried.copiesLeft = max(0, copiesLeft - 1)
        if tried.copiesLeft == 0 { tried.dueAt = nil }
        return tried
    }
}
