/// A subscription of a store: one per environment and original transaction id.
package enum Subscription: Identified {
    package static let idPrefix = "sub"

    /// Where it stands (`domain.md` section 5).
    package enum Status: String, Sendable, Codable, CaseIterable {
        case active, expired, revoked, upgraded
        case inGracePeriod = "in_grace_period"
        case inBillingRetry = "in_billing_retry"
    }
}

/// What the signed facts of one subscription come to, in whatever order they came.
///
/// Each period is given once, as all its transactions tell it; the **current** one was bought last, then ends last, of
/// those that no upgrade has replaced. What a store said about the renewal counts for the period that it was said of, and
/// whether and as what it renews also for the renewals of that period.
package struct SubscriptionState: Sendable, Equatable {
    /// Apple's shortest grace period; it counts where a grace period was stated without its end.
    private static let shortestGrace = 3 * day
    private static let day: Int64 = 86_400_000

    package let current: StorePurchase
    package let startedAt: Timestamp
    /// The end of what is paid; that of a replaced period is the replacement's purchase.
    package let paidUntil: Timestamp
    package let graceUntil: Timestamp?
    package let isInBillingRetry: Bool
    /// nil where nothing is known of the renewal.
    package let willRenew: Bool?
    package let nextProductID: String?
    package let revokedAt: Timestamp?

    package init?(_ transactions: [StorePurchase], renewal: StoreRenewal?) {
        let periods = transactions.filter { $0.expiresAt != nil }
        let standing = periods.filter { !$0.isUpgraded }
        // One period of a subscription runs at a time: what was bought last replaces what was bought before, also where
        // that would have ended later (a refunded year, a year that was exchanged for months).
        let current = (standing.isEmpty ? periods : standing).max {
            ($0.purchasedAt, $0.expiresAt ?? 0, $0.transactionID) < (
                $1.purchasedAt, $1.expiresAt ?? 0, $1.transactionID
            )
        }
        guard let current, let end = current.expiresAt, let first = transactions.map(\.purchased).min() else {
            return nil
        }
        self.current = current
        startedAt = first
        paidUntil = current.isUpgraded ? current.purchased : Timestamp(end.flooredSeconds)
        revokedAt = current.revocation.map { Timestamp($0.at.flooredSeconds) }
        // What was said of an earlier period's renewal does not count for this one.
        let said = renewal.flatMap { $0.signedAt >= current.purchasedAt ? $0 : nil }
        // A renewal fails at the end of its period or in the day before, when Apple tries first; what was said earlier is
        // about the period before, which a recovery can have moved.
        let failed = said.flatMap { $0.signedAt >= end - Self.day ? $0 : nil }
        let grace = failed?.graceEndsAt ?? (failed?.isInGracePeriod == true ? end + Self.shortestGrace : nil)
        graceUntil = grace.flatMap { $0 > end ? Timestamp($0.flooredSeconds) : nil }
        isInBillingRetry = failed?.isInBillingRetry ?? false
        // A renewal goes on with what was said before it; whoever bought again or upgraded said something else by that.
        let standingWord = current.isRenewal ? renewal : said
        nextProductID = standingWord?.nextProductID
        // Until a commitment ends, switching the renewal off does not bite.
        let isCommitted = max(current.commitmentEndsAt ?? 0, standingWord?.commitmentEndsAt ?? 0) > end
        willRenew = isCommitted ? true : standingWord?.willRenew
    }

    /// Until when it entitles, if nothing took it back.
    package var endsAt: Timestamp { max(paidUntil, graceUntil ?? paidUntil) }

    package func status(at now: Timestamp) -> Subscription.Status {
        if revokedAt != nil { return .revoked }
        if current.isUpgraded { return .upgraded }
        if now < paidUntil { return .active }
        if now < endsAt { return .inGracePeriod }
        return isInBillingRetry ? .inBillingRetry : .expired
    }
}
