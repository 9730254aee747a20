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
/// Per transaction its newest version is given; the **current** one was bought last, then ends last, of those that no upgrade
/// has replaced. What a store said about the renewal counts for the period that it was said of.
///
/// Apple bills up to a day ahead, so the current period can begin later than it was signed. What runs until then stays what
/// is shown, the end is already that of the current one, and a refund counts for its own period alone: one that was refunded
/// before it began never was, and one that follows a refunded period gives nothing before it begins.
package struct SubscriptionState: Sendable, Equatable {
    /// Apple's shortest grace period; it counts where a grace period was stated without its end.
    private static let shortestGrace = 3 * day
    private static let day: Int64 = 86_400_000

    package let current: StorePurchase
    /// Since when it entitles: the first purchase, or the begin of what was billed ahead while a refunded period ran.
    package let startedAt: Timestamp
    /// The end of what is paid; that of a replaced period is the replacement's purchase.
    package let paidUntil: Timestamp
    package let graceUntil: Timestamp?
    package let isInBillingRetry: Bool
    /// nil where nothing is known of the renewal.
    package let willRenew: Bool?
    package let nextProductID: String?
    package let revokedAt: Timestamp?
    /// The period of another product that runs until the current one, billed ahead, begins.
    private let running: StorePurchase?
    /// Until when a period that was refunded would have run; the current one begins then.
    private let refundedUntil: Timestamp?

    package init?(_ transactions: [StorePurchase], renewal: StoreRenewal?) {
        let periods = transactions.filter { $0.expiresAt != nil }.sorted(by: Self.isBoughtBefore)
        // One period of a subscription runs at a time: what was bought last replaces what was bought before, also where
        // that would have ended later (a refunded year, a year that was exchanged for months).
        let begun = periods.filter { !$0.isUpgraded && !$0.isRefundedBeforeItBegan }
        guard let current = begun.last ?? periods.last(where: { !$0.isUpgraded }) ?? periods.last,
            let end = current.expiresAt, let first = transactions.map(\.purchased).min()
        else { return nil }
        self.current = current
        let before = current.isBilledAhead ? begun.last { $0.purchasedAt < current.purchasedAt } : nil
        let isGap = before?.revocation.map { $0.at < current.purchasedAt } ?? false
        refundedUntil = isGap ? current.purchased : nil
        running = before.flatMap { $0.revocation == nil && $0.productID != current.productID ? $0 : nil }
        startedAt = refundedUntil ?? first
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
        nextProductID = renewal?.nextProductID
        // Until a commitment ends, switching the renewal off does not bite.
        let isCommitted = max(current.commitmentEndsAt ?? 0, renewal?.commitmentEndsAt ?? 0) > end
        willRenew = isCommitted ? true : renewal?.willRenew
    }

    /// Until when it entitles, if nothing took it back.
    package var endsAt: Timestamp { max(paidUntil, graceUntil ?? paidUntil) }

    /// The period to show: the current one, or what runs until that begins.
    package func shown(at now: Timestamp) -> StorePurchase { runs(at: now) ?? current }

    /// Until when that is the one to show, if something else follows.
    package func changesAt(after now: Timestamp) -> Timestamp? { runs(at: now).map(end(ofRunning:)) }

    package func status(at now: Timestamp) -> Subscription.Status {
        if let refundedUntil, now < refundedUntil { return .revoked }
        if revokedAt != nil { return .revoked }
        if current.isUpgraded { return .upgraded }
        if now < paidUntil { return .active }
        if now < endsAt { return .inGracePeriod }
        return isInBillingRetry ? .inBillingRetry : .expired
    }

    private func runs(at now: Timestamp) -> StorePurchase? {
        running.flatMap { now < end(ofRunning: $0) ? $0 : nil }
    }

    private func end(ofRunning period: StorePurchase) -> Timestamp {
        min(period.expires ?? current.purchased, current.purchased)
    }

    private static func isBoughtBefore(_ left: StorePurchase, _ right: StorePurchase) -> Bool {
        (left.purchasedAt, left.expiresAt ?? 0, left.transactionID)
            < (right.purchasedAt, right.expiresAt ?? 0, right.transactionID)
    }
}

extension StorePurchase {
    /// Whether it was signed before it begins; what Apple signed later has begun, whatever our clock says.
    fileprivate var isBilledAhead: Bool { signedAt < purchasedAt }

    fileprivate var isRefundedBeforeItBegan: Bool { revocation.map { $0.at < purchasedAt } ?? false }
}
