import Domain
import Testing

/// A subscription's life in Apple's notifications, in order, each with the expected state after it.
struct AppleLife: Sendable, CustomTestStringConvertible {
    /// A notification and the state after it.
    struct Step: Sendable, CustomStringConvertible {
        let type: String
        var subtype: String?
        /// The period of the signed transaction.
        var period: Int64 = 0
        var product = AppleLife.vip
        /// The days after the start on which the transaction was bought and ends; nil for those of its period, which
        /// has 30 days.
        var bought: Int64?
        var ends: Int64?
        var revoked = false
        /// The `offerType` of the transaction.
        var offer: Int64?
        var willRenew = true
        /// The product of the next renewal; nil for the same one.
        var next: String?
        var isInRetry = false
        var graceEnds: Int64?
        /// The `priceIncreaseStatus`.
        var consent: Int64?
        /// The `data.status`.
        var says: Int64?
        /// The day on which the notification arrives.
        var day: Int64

        var status: Subscription.Status
        /// The membership's end in days after the start; nil where there is none.
        var until: Int64?
        var tier = "VIP"
        /// The status of the signed transaction's order.
        var order = Order.Status.paid
        var priceIncrease: String?
        var shownOffer: String?

        var pair: AppleNotificationPair { AppleNotificationPair(type, subtype) }
        var description: String { "\(pair) on day \(day)" }
    }

    let testDescription: String
    let steps: [Step]

    static let vip = "com.example.apple.auto"
    static let pro = "com.example.pro.auto"

    static let all = [renewed, exchanged, redeemed, graced] + expired

    private static let renewed = AppleLife(
        testDescription: "renewed, failed, recovered, expired, bought again, refunded",
        steps: [
            Step(type: "SUBSCRIBED", subtype: "INITIAL_BUY", day: 0, status: .active, until: 30),
            Step(
                type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_DISABLED", willRenew: false, day: 3,
                status: .active, until: 30),
            Step(
                type: "DID_CHANGE_RENEWAL_STATUS", subtype: "AUTO_RENEW_ENABLED", day: 4, status: .active, until: 30),
            Step(type: "DID_RENEW", period: 1, day: 29, status: .active, until: 60),
            Step(
                type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", period: 1, isInRetry: true, graceEnds: 66, says: 4,
                day: 60, status: .inGracePeriod, until: 66),
            Step(
                type: "GRACE_PERIOD_EXPIRED", period: 1, isInRetry: true, says: 3, day: 66, status: .inBillingRetry),
            Step(
                type: "DID_RENEW", subtype: "BILLING_RECOVERY", period: 2, bought: 70, ends: 100, day: 70,
                status: .active, until: 100),
            Step(
                type: "EXPIRED", subtype: "VOLUNTARY", period: 2, bought: 70, ends: 100, willRenew: false, says: 2,
                day: 101, status: .expired),
            Step(type: "SUBSCRIBED", subtype: "RESUBSCRIBE", period: 4, day: 120, status: .active, until: 150),
            Step(type: "CONSUMPTION_REQUEST", period: 4, day: 121, status: .active, until: 150),
            Step(
                type: "REFUND", period: 4, revoked: true, willRenew: false, says: 5, day: 125, status: .revoked,
                order: .refunded),
            Step(type: "REFUND_REVERSED", period: 4, day: 126, status: .active, until: 150),
            Step(type: "REFUND_DECLINED", period: 4, day: 127, status: .active, until: 150),
            // A refund of an older period does not end the running one.
            Step(
                type: "REFUND", period: 2, bought: 70, ends: 100, revoked: true, day: 128, status: .active, until: 150,
                order: .refunded),
        ])

    private static let exchanged = AppleLife(
        testDescription: "exchanged, dearer, extended, failed, its family left",
        steps: [
            Step(
                type: "OFFER_REDEEMED", offer: 3, day: 0, status: .active, until: 30, shownOffer: "offer_code"),
            Step(
                type: "DID_CHANGE_RENEWAL_PREF", subtype: "DOWNGRADE", next: "com.example.other", day: 1,
                status: .active, until: 30),
            Step(type: "DID_CHANGE_RENEWAL_PREF", day: 2, status: .active, until: 30),
            Step(
                type: "DID_CHANGE_RENEWAL_PREF", subtype: "UPGRADE", period: 1, product: pro, bought: 3, ends: 33,
                day: 3, status: .active, until: 33, tier: "Pro"),
            Step(
                type: "PRICE_INCREASE", subtype: "PENDING", period: 1, product: pro, bought: 3, ends: 33, consent: 0,
                day: 4, status: .active, until: 33, tier: "Pro", priceIncrease: "pending"),
            Step(
                type: "PRICE_INCREASE", subtype: "ACCEPTED", period: 1, product: pro, bought: 3, ends: 33, consent: 1,
                day: 5, status: .active, until: 33, tier: "Pro", priceIncrease: "accepted"),
            Step(
                type: "RENEWAL_EXTENDED", period: 1, product: pro, bought: 3, ends: 43, day: 20, status: .active,
                until: 43, tier: "Pro"),
            Step(
                type: "RENEWAL_EXTENSION", subtype: "FAILURE", period: 1, product: pro, bought: 3, ends: 43, day: 21,
                status: .active, until: 43, tier: "Pro"),
            Step(
                type: "DID_FAIL_TO_RENEW", period: 1, product: pro, bought: 3, ends: 43, isInRetry: true, says: 3,
                day: 43, status: .inBillingRetry),
            Step(
                type: "EXPIRED", subtype: "BILLING_RETRY", period: 1, product: pro, bought: 3, ends: 43,
                willRenew: false, says: 2, day: 104, status: .expired),
            Step(
                type: "REVOKE", period: 1, product: pro, bought: 3, ends: 43, revoked: true, willRenew: false, day: 105,
                status: .revoked, order: .refunded),
        ])

    private static let redeemed = AppleLife(
        testDescription: "offers up and down, advanced commerce, no consent to a price",
        steps: [
            Step(type: "SUBSCRIBED", subtype: "INITIAL_BUY", day: 0, status: .active, until: 30),
            Step(
                type: "OFFER_REDEEMED", subtype: "UPGRADE", period: 1, product: pro, bought: 3, ends: 33, offer: 2,
                day: 3, status: .active, until: 33, tier: "Pro", shownOffer: "promotional"),
            Step(
                type: "OFFER_REDEEMED", subtype: "DOWNGRADE", period: 1, product: pro, bought: 3, ends: 33, next: vip,
                day: 4, status: .active, until: 33, tier: "Pro"),
            Step(
                type: "METADATA_UPDATE", period: 1, product: pro, bought: 3, ends: 33, next: vip, day: 5,
                status: .active, until: 33, tier: "Pro"),
            Step(
                type: "MIGRATION", period: 1, product: pro, bought: 3, ends: 33, next: vip, day: 6, status: .active,
                until: 33, tier: "Pro"),
            Step(
                type: "PRICE_CHANGE", period: 1, product: pro, bought: 3, ends: 33, next: vip, day: 7, status: .active,
                until: 33, tier: "Pro"),
            Step(type: "DID_RENEW", period: 2, bought: 33, ends: 63, day: 33, status: .active, until: 63),
            Step(
                type: "EXPIRED", subtype: "PRICE_INCREASE", period: 2, bought: 33, ends: 63, willRenew: false,
                consent: 0, says: 2, day: 63, status: .expired, priceIncrease: "pending"),
        ])

    /// A grace period whose end was not stated: Apple's shortest one applies until more is known.
    private static let graced = AppleLife(
        testDescription: "a grace period without its end",
        steps: [
            Step(type: "SUBSCRIBED", subtype: "INITIAL_BUY", day: 0, status: .active, until: 30),
            Step(
                type: "DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD", isInRetry: true, says: 4, day: 31,
                status: .inGracePeriod, until: 33),
        ])

    private static let expired = ["PRODUCT_NOT_FOR_SALE", nil].map { subtype in
        AppleLife(
            testDescription: "expired: \(subtype ?? "for no reason")",
            steps: [
                Step(type: "SUBSCRIBED", subtype: "INITIAL_BUY", day: 0, status: .active, until: 30),
                Step(type: "EXPIRED", subtype: subtype, willRenew: false, says: 2, day: 31, status: .expired),
            ])
    }
}
