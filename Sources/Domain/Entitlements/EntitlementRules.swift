/// A grant with its start, its end and its status at one moment.
package struct Entitlement: Sendable, Equatable {
    package enum Status: String, Sendable, Codable, CaseIterable {
        case active, expired, revoked, suspended, scheduled, upgraded
        case inGracePeriod = "in_grace_period"
        case inBillingRetry = "in_billing_retry"

        /// True where the user has what was granted at this moment.
        package var holds: Bool { self == .active || self == .inGracePeriod }
    }

    package let grant: Grant
    package let status: Status
    package let startsAt: Timestamp
    /// nil when it never ends.
    package let endsAt: Timestamp?

    /// True where the store will renew it; a running subscription without renewal information counts as renewing.
    package var willRenew: Bool {
        guard grant.source.kind.renews, status.holds || status == .inBillingRetry else { return false }
        return grant.renewal?.willRenew ?? status.holds
    }
}

/// The membership of one tier, or of all tiers together, with the time until which it lasts without a gap.
package struct Membership: Sendable, Equatable {
    package let tier: String
    package let rank: Int64
    /// nil when perpetual.
    package let endsAt: Timestamp?
}

/// The entitlements of a user at one moment, computed from the grants alone (`domain.md` section 7).
package struct EntitlementFold: Sendable, Equatable {
    /// Newest purchase first.
    package let entitlements: [Entitlement]
    /// The tiers held now, highest rank first.
    package let tiers: [Membership]
    /// The deciding tier with the end of the whole membership; nil when no tier is held.
    package let membership: Membership?
    /// The next moment at which time alone changes this fold.
    package let nextChangeAt: Timestamp?
    /// The next moment of such a change that is announced.
    ///
    /// The end of a period that Paydesk renews itself is announced by the outcome of its charge, and only where that
    /// takes more than a minute by time alone.
    package let nextAnnouncementAt: Timestamp?
}

package enum EntitlementRules {
    package static func fold(_ grants: [Grant], now: Timestamp) -> EntitlementFold {
        let grants = place(grants, now: now)
        let placed = grants.flatMap { $0 }
        let entitlements = grants.compactMap { parts -> Entitlement? in
            guard let first = parts.first, let last = parts.last else { return nil }
            let shown = parts.last { $0.start <= now } ?? first
            return Entitlement(
                grant: shown.grant, status: shown.status(at: now), startsAt: first.start, endsAt: last.end)
        }
        let tiered = placed.filter { !$0.grant.tier.isEmpty && $0.counts }
        let tiers = memberships(tiered, now: now)
        let counting = placed.filter(\.counts)
        let changes = counting.flatMap(\.boundaries).filter { $0 > now }
        let announced = counting.flatMap(\.announcements).filter { $0 > now }
        return EntitlementFold(
            entitlements: entitlements.sorted {
                ($0.grant.purchasedAt, $0.grant.id) > ($1.grant.purchasedAt, $1.grant.id)
            },
            tiers: tiers,
            membership: tiers.first.map {
                Membership(tier: $0.tier, rank: $0.rank, endsAt: coveredUntil(tiered, now: now))
            },
            nextChangeAt: changes.min(), nextAnnouncementAt: announced.min())
    }

    /// Places each grant in time: passes of one stack group follow each other in order of (purchase, source id); a
    /// subscription is split where a later part gives something else.
    ///
    /// A revoked pass leaves the chain, so what follows moves up; a suspended one keeps its place, since it may come back.
    private static func place(_ grants: [Grant], now: Timestamp) -> [[Placed]] {
        struct Chain: Hashable {
            let environment: Environment
            let group: String
        }
        var ends: [Chain: Timestamp] = [:]
        let inOrder = grants.sorted {
            ($0.purchasedAt, $0.source.id, $0.id) < ($1.purchasedAt, $1.source.id, $1.id)
        }
        return inOrder.map { grant in
            switch grant.term {
            case .perpetual: return [Placed(grant: grant, start: grant.purchasedAt, end: nil)]
            case .until(let end): return parts(of: grant, until: grant.shownEnd(at: now, otherwise: end))
            case .days(let days):
                guard let group = grant.stackGroup, grant.revocation == nil else {
                    return [Placed(grant: grant, start: grant.purchasedAt, end: grant.purchasedAt.adding(days: days))]
                }
                let chain = Chain(environment: grant.environment, group: group)
                let start = max(grant.purchasedAt, ends[chain] ?? grant.purchasedAt)
                let end = start.adding(days: days)
                ends[chain] = end
                return [Placed(grant: grant, start: start, end: end)]
            }
        }
    }

    private static func parts(of grant: Grant, until end: Timestamp) -> [Placed] {
        var parts: [Placed] = []
        var (running, start) = (grant, grant.purchasedAt)
        for next in grant.ahead {
            parts.append(
                Placed(grant: running, start: start, end: next.gapFrom ?? next.startsAt, isLast: false))
            (running, start) = (grant.from(next), next.startsAt)
        }
        return parts + [Placed(grant: running, start: start, end: end)]
    }

    private static func memberships(_ tiered: [Placed], now: Timestamp) -> [Membership] {
        Dictionary(grouping: tiered, by: \.grant.tier)
            .compactMap { tier, placed -> Membership? in
                guard let rank = placed.filter({ $0.holds(at: now) }).map(\.grant.rank).max() else { return nil }
                return Membership(tier: tier, rank: rank, endsAt: coveredUntil(placed, now: now))
            }
            .sorted { ($0.rank, $0.tier) > ($1.rank, $1.tier) }
    }

    /// The end of the time from now on that the grants cover without a gap; nil when one of them never ends.
    private static func coveredUntil(_ placed: [Placed], now: Timestamp) -> Timestamp? {
        var covered = now
        for next in placed.sorted(by: { $0.start < $1.start }) where next.start <= covered {
            guard let end = next.end else { return nil }
            covered = max(covered, end)
        }
        return covered
    }

    private struct Placed {
        let grant: Grant
        let start: Timestamp
        let end: Timestamp?
        /// False for a part of a subscription that another follows.
        var isLast = true

        /// The moments at which time alone changes the entitlement.
        var boundaries: [Timestamp] {
            [start, isLast ? grant.renewal?.paidUntil : nil, end].compactMap { $0 }
        }

        /// The moments of those changes that are announced.
        var announcements: [Timestamp] {
            guard grant.isUndecided, let paidUntil = grant.renewal?.paidUntil else { return boundaries }
            return boundaries.map { $0 == paidUntil ? $0.adding(seconds: Grant.announcementDelay) : $0 }
        }

        var counts: Bool { grant.revocation == nil && !grant.suspended }

        func holds(at now: Timestamp) -> Bool { counts && start <= now && (end.map { now < $0 } ?? true) }

        func status(at now: Timestamp) -> Entitlement.Status {
            if grant.revocation != nil { return .revoked }
            if grant.suspended { return .suspended }
            if isLast, grant.renewal?.isUpgraded == true { return .upgraded }
            if now < start { return .scheduled }
            // In a gap the later part is paid but has not begun.
            guard isLast else { return holds(at: now) ? .active : .scheduled }
            guard holds(at: now) else { return grant.renewal?.isInBillingRetry == true ? .inBillingRetry : .expired }
            return grant.renewal.map { now < $0.paidUntil } ?? true ? .active : .inGracePeriod
        }
    }
}
