import Domain
import Store

/// The notice that a subscription renews soon.
struct RenewalNotice: Equatable {
    /// Periods of at most this number of days are not announced.
    private static let shortest: Int64 = 7

    /// The time at which it is sent.
    let at: Timestamp
    /// The period, the amount and the SKU that it names, by which a notice that says the same is not sent again.
    let contents: String

    /// - Returns: nil where the renewal is not announced, or was with the same contents.
    init?(_ record: ManagedSubscriptionRecord, _ settings: BillingSettings, amount: Money) {
        let subscription = record.subscription
        let length = subscription.periodEnd.rawValue - subscription.periodStart.rawValue
        guard subscription.willRenew, subscription.failedAt == nil, length > Self.shortest * 86_400 else { return nil }
        let sku = subscription.change?.sku ?? subscription.sku
        contents = "\(subscription.periodIndex + 1) \(amount) \(sku.rawValue)"
        guard contents != record.noticed else { return nil }
        at = max(subscription.periodStart, subscription.periodEnd.adding(days: -settings.upcomingDays))
    }
}
