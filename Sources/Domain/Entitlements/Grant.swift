/// A grant: what one source gives one user of one SKU.
package struct Grant: Identified, Sendable, Equatable {
    package static let idPrefix = "grt"

    package enum SourceKind: String, Sendable, Codable, CaseIterable {
        case order, admin, partner
        case appleTransaction = "apple_transaction"
        case appleSubscription = "apple_subscription"
        case managedSubscription = "managed_subscription"

        /// True for a subscription, which renews.
        package var renews: Bool { self == .appleSubscription || self == .managedSubscription }
    }

    /// The source of the grant; with the environment and the user this is unique, so one source grants once.
    package struct Source: Hashable, Sendable {
        package let kind: SourceKind
        package let id: String

        package init(kind: SourceKind, id: String) {
            self.kind = kind
            self.id = id
        }
    }

    /// The revocation of a grant.
    ///
    /// A grant that a refund or dispute revoked comes back when that is undone; one that an admin revoked does not.
    package struct Revocation: Hashable, Sendable {
        package enum Reason: String, Sendable, Codable {
            case refund, dispute, admin
        }

        package let at: Timestamp
        package let reason: Reason

        package init(at: Timestamp, reason: Reason) {
            self.at = at
            self.reason = reason
        }
    }

    /// The renewal of a subscription's grant.
    package struct Renewal: Hashable, Sendable {
        /// The end of what is paid; a grace period runs from then to the grant's end.
        package let paidUntil: Timestamp
        package let isInBillingRetry: Bool
        /// nil where the store stated nothing about the renewal.
        package let willRenew: Bool?
        /// True where another product of its group has replaced it.
        package let isUpgraded: Bool

        package init(paidUntil: Timestamp, isInBillingRetry: Bool, willRenew: Bool?, isUpgraded: Bool) {
            self.paidUntil = paidUntil
            self.isInBillingRetry = isInBillingRetry
            self.willRenew = willRenew
            self.isUpgraded = isUpgraded
        }
    }

    /// A later part of a subscription that is already paid, and that gives something else or follows a gap.
    package struct Ahead: Hashable, Sendable {
        package let startsAt: Timestamp
        /// The end of the part before, where a gap lies between; nil without a gap.
        package let gapFrom: Timestamp?
        package let sku: SKUCode
        package let tier: String
        package let rank: Int64
        package let order: ID<Order>?
        package let attributes: [String: JSONValue]

        package init(
            startsAt: Timestamp, gapFrom: Timestamp?, sku: SKUCode, tier: String, rank: Int64, order: ID<Order>?,
            attributes: [String: JSONValue]
        ) {
            self.startsAt = startsAt
            self.gapFrom = gapFrom
            self.sku = sku
            self.tier = tier
            self.rank = rank
            self.order = order
            self.attributes = attributes
        }
    }

    /// The length of a grant, as a fact; its position in time is computed by ``EntitlementRules``.
    package enum Term: Hashable, Sendable {
        case perpetual
        /// A number of days from its start, which earlier passes of the stack group may push back.
        case days(Int64)
        case until(Timestamp)
    }

    package let id: ID<Grant>
    package let user: ID<User>
    package let sku: SKUCode
    package let kind: SKU.Kind
    package let tier: String
    package let rank: Int64
    package let source: Source
    package let order: ID<Order>?
    package let environment: Environment
    package let purchasedAt: Timestamp
    package let term: Term
    /// Passes of one group and environment follow each other in time; nil for a grant of no group.
    package let stackGroup: String?
    package let attributes: [String: JSONValue]
    package var revocation: Revocation?
    package var suspended: Bool
    /// nil for a grant that does not renew.
    package var renewal: Renewal?
    /// The parts ahead, in the order of their starts; the term ends with the last of them.
    package var ahead: [Ahead] = []

    package init(
        id: ID<Grant>, user: ID<User>, sku: SKUCode, kind: SKU.Kind, tier: String, rank: Int64, source: Source,
        order: ID<Order>?, environment: Environment, purchasedAt: Timestamp, term: Term, stackGroup: String?,
        attributes: [String: JSONValue], revocation: Revocation? = nil, suspended: Bool = false
    ) {
        self.id = id
        self.user = user
        self.sku = sku
        self.kind = kind
        self.tier = tier
        self.rank = rank
        self.source = source
        self.order = order
        self.environment = environment
        self.purchasedAt = purchasedAt
        self.term = term
        self.stackGroup = stackGroup
        self.attributes = attributes
        self.revocation = revocation
        self.suspended = suspended
    }
}

extension Grant {
    /// Returns this grant with the SKU, tier, order and attributes of a later part.
    package func from(_ part: Ahead) -> Grant {
        var grant = Grant(
            id: id, user: user, sku: part.sku, kind: kind, tier: part.tier, rank: part.rank, source: source,
            order: part.order, environment: environment, purchasedAt: purchasedAt, term: term, stackGroup: stackGroup,
            attributes: part.attributes, revocation: revocation, suspended: suspended)
        grant.renewal = renewal
        grant.ahead = ahead
        return grant
    }
}

extension Grant {
    /// The seconds for which the outcome of a renewal may announce the end of the period before.
    package static let announcementDelay: Int64 = 60

    /// True for a managed subscription whose next period is, or will be, charged for or given up: its access goes on
    /// after the end of what is paid.
    package var isUndecided: Bool { source.kind == .managedSubscription && renewal?.isInBillingRetry == true }

    /// The end that is shown: that of what is paid while it lasts, and the grant's own afterwards.
    func shownEnd(at now: Timestamp, otherwise end: Timestamp) -> Timestamp {
        guard isUndecided, let renewal, now < renewal.paidUntil else { return end }
        return renewal.paidUntil
    }
}

extension OrderTerms {
    /// The term of the grant that these terms give; nil for a consumable, which credits units.
    package var term: Grant.Term? {
        switch kind {
        case .consumable: nil
        case .nonConsumable: .perpetual
        case .nonRenewing, .subscription: days.map(Grant.Term.days)
        }
    }
}
