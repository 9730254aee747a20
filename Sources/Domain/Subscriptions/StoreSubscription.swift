/// A subscription: of a store, one per environment and original transaction id, or one that Paydesk renews itself.
public enum Subscription: Identified {
    public static let idPrefix = "sub"

    /// The status of a subscription (`domain.md` section 5).
    package enum Status: String, Sendable, Codable, CaseIterable {
        case active, expired, revoked, upgraded, scheduled, suspended
        case inGracePeriod = "in_grace_period"
        case inBillingRetry = "in_billing_retry"
    }
}

/// The state of one subscription, computed from its signed facts; the order of their arrival does not matter.
///
/// Each period is given once, merged from all its transactions. Periods follow each other in time: the one that began
/// last runs, and those that begin later are **ahead**. The running one is determined at the time of the newest signed
/// fact, so that the state is the same whenever it is computed; ``running(at:)`` finds the one that has begun since. A
/// statement about the renewal counts for the last period; whether it renews, and to which product, counts for the
/// renewals of that period as well.
package struct SubscriptionState: Sendable, Equatable {
    /// A period with the time in which it counts.
    package struct Period: Sendable, Equatable {
        package let purchase: StorePurchase
        package let startsAt: Timestamp
        /// The end of what is paid; a period that an upgrade replaced ends at its purchase.
        package let paidUntil: Timestamp
    }

    /// Apple's shortest grace period; it counts where a grace period was stated without its end.
    private static let shortestGrace = 3 * day
    private static let day: Int64 = 86_400_000

    /// The period that ran at the time of the newest fact, or the first one that follows, then those ahead; never empty.
    package let periods: [Period]
    package let startedAt: Timestamp
    package let graceUntil: Timestamp?
    package let isInBillingRetry: Bool
    /// nil where nothing is known about the renewal.
    package let willRenew: Bool?
    package let nextProductID: String?
    /// The time at which the running period was revoked, where none follows it.
    package let revokedAt: Timestamp?

    /// - Parameter isRevoked: true where the store states that the subscription as a whole is taken back. That counts
    ///   while the period that was bought last is taken back, also one that has not begun: then nothing runs any more.
    package init?(_ transactions: [StorePurchase], renewal: StoreRenewal?, isRevoked: Bool = false) {
        let known = Timeline(transactions)
        guard let newest = (transactions.map(\.signedAt) + [renewal?.signedAt].compactMap { $0 }).max(),
            let course = (isRevoked ? known.revoked : nil) ?? known.course(at: newest)
        else { return nil }
        let (first, last) = (course.periods[0], course.periods[course.periods.count - 1])
        periods = course.periods
        startedAt =
            course.hasBegun ? transactions.map(\.purchased).min() ?? first.startsAt : first.startsAt
        revokedAt = first.purchase.isTakenBack ? first.purchase.revokedAt : nil
        let end = last.purchase.endsAt ?? 0
        // A statement about an earlier period's renewal does not count for this one.
        let said = renewal.flatMap { $0.signedAt >= last.purchase.purchasedAt ? $0 : nil }
        // A renewal fails at the end of its period or in the day before, when Apple tries first; what was said earlier is
        // about the period before, which a recovery can have moved.
        let failed = said.flatMap { $0.signedAt >= end - Self.day ? $0 : nil }
        let grace = failed?.graceEndsAt ?? (failed?.isInGracePeriod == true ? end + Self.shortestGrace : nil)
        graceUntil = grace.flatMap { $0 > end ? Timestamp($0.flooredSeconds) : nil }
        isInBillingRetry = failed?.isInBillingRetry ?? false
        // A renewal continues what was stated before it; a new purchase or an upgrade overrides that.
        let standingWord = last.purchase.isRenewal ? renewal : said
        nextProductID = standingWord?.nextProductID
        // Until a commitment ends, switching the renewal off has no effect.
        let isCommitted = max(last.purchase.commitmentEndsAt ?? 0, standingWord?.commitmentEndsAt ?? 0) > end
        willRenew = isCommitted ? true : standingWord?.willRenew
    }

    /// The last period, to which the renewal information belongs.
    package var last: Period { periods[periods.count - 1] }

    /// The end of what is paid.
    package var paidUntil: Timestamp { last.paidUntil }

    /// The time until which the subscription entitles, unless it was taken back.
    package var endsAt: Timestamp { max(paidUntil, graceUntil ?? paidUntil) }

    /// The period that runs at a time, else the first one.
    package func running(at now: Timestamp) -> Period { periods.last { $0.startsAt <= now } ?? periods[0] }

    package func status(at now: Timestamp) -> Subscription.Status {
        if revokedAt != nil { return .revoked }
        guard let index = periods.lastIndex(where: { $0.startsAt <= now }) else { return .scheduled }
        let period = periods[index]
        guard index == periods.count - 1 else { return now < period.paidUntil ? .active : .scheduled }
        if period.purchase.isUpgraded { return .upgraded }
        if now < paidUntil { return .active }
        if now < endsAt { return .inGracePeriod }
        return isInBillingRetry ? .inBillingRetry : .expired
    }
}

/// The periods of a subscription in the order in which they count.
private struct Timeline {
    /// Apple bills a renewal up to a day before the period before it ends.
    private static let billedAhead: Int64 = 86_400_000

    private struct Place {
        let purchase: StorePurchase
        /// Milliseconds since 1970.
        let start: Int64
        let end: Int64
    }

    private let places: [Place]
    private let last: Place?

    /// Orders the periods of a subscription; one that an upgrade replaced, or that was revoked before it began, counts
    /// only where there is no other.
    ///
    /// One period of a subscription runs at a time: what was bought last replaces what was bought before, also where
    /// that would have ended later (a refunded year, a year that was exchanged for months). Only a renewal follows the
    /// period before it.
    init(_ transactions: [StorePurchase]) {
        let periods = transactions.filter { $0.endsAt != nil }
        let standing = periods.filter { !$0.isUpgraded }
        let inOrder = (standing.isEmpty ? periods : standing).sorted {
            ($0.purchasedAt, $0.endsAt ?? 0, $0.transactionID) < ($1.purchasedAt, $1.endsAt ?? 0, $1.transactionID)
        }
        var all: [Place] = []
        for purchase in inOrder {
            let start = Self.start(of: purchase, after: all.last { !$0.purchase.isTakenBack })
            all.append(Place(purchase: purchase, start: start, end: purchase.endsAt ?? start))
        }
        let begun = all.filter { place in
            !place.purchase.isTakenBack || (place.purchase.revocation?.at ?? .max) >= place.start
        }
        places = begun.isEmpty ? all : begun
        last = all.last
    }

    /// The period that was bought last, where that was taken back.
    var revoked: (periods: [SubscriptionState.Period], hasBegun: Bool)? {
        last.flatMap { $0.purchase.isTakenBack ? ([Self.period($0)], true) : nil }
    }

    private static func start(of purchase: StorePurchase, after before: Place?) -> Int64 {
        guard purchase.isRenewal, let end = before?.end, purchase.purchasedAt < end,
            end - purchase.purchasedAt <= billedAhead
        else { return purchase.purchasedAt }
        return end
    }

    /// Returns the period that runs at a time, in milliseconds since 1970, and those that follow it.
    ///
    /// - Returns: nil where there are no periods.
    func course(at time: Int64) -> (periods: [SubscriptionState.Period], hasBegun: Bool)? {
        let running = places.lastIndex { $0.start <= time }
        let ahead = places[((running ?? -1) + 1)...].filter { $0.start > time && !$0.purchase.isTakenBack }
        guard let running else {
            // Nothing has begun; where everything was taken back, the last period carries the revocation.
            let periods = (ahead.isEmpty ? Array(places.suffix(1)) : ahead).map(Self.period)
            return periods.isEmpty ? nil : (periods, false)
        }
        // A refund ends the period that it is for and no other.
        if places[running].purchase.isTakenBack, !ahead.isEmpty { return (ahead.map(Self.period), false) }
        return (([places[running]] + ahead).map(Self.period), true)
    }

    private static func period(_ place: Place) -> SubscriptionState.Period {
        let purchase = place.purchase
        return SubscriptionState.Period(
            purchase: purchase, startsAt: Timestamp(place.start.flooredSeconds),
            paidUntil: purchase.isUpgraded ? purchase.purchased : Timestamp(place.end.flooredSeconds))
    }
}

/// A store's own statement about a whole subscription, beside the periods that it signed; the newest one counts.
///
/// Source: Apple, App Store Server Notifications V2, `data.status`.
public struct StoreStanding: Sendable, Equatable, Codable {
    /// True where the subscription as a whole is taken back (Apple's 5).
    public let isRevoked: Bool
    /// The time of the statement, in milliseconds since 1970.
    public let at: Int64

    public init(isRevoked: Bool, at: Int64) {
        self.isRevoked = isRevoked
        self.at = at
    }
}
