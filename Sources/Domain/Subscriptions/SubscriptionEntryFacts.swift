/// The conditions with which a managed subscription begins.
package struct SubscriptionOpening: Sendable, Equatable, Codable {
    package let user: ID<User>
    package let environment: Environment
    package let sku: SKUCode
    package let stackGroup: String
    package let terms: OrderTerms
    package let account: AccountID
    package let price: Money
    package let period: BillingPeriod
    package let trialDays: Int64
    package let graceDays: Int64
    package let locale: String?
    package let partner: String?
    /// The first period of a subscription that ran elsewhere before; nil for one that a payment or a trial begins.
    package let periodStart: Timestamp?
    package let periodEnd: Timestamp?
    /// The id that it had there.
    package let externalID: String?

    private enum CodingKeys: String, CodingKey {
        case user, environment, sku, terms, account, price, period, locale, partner
        case stackGroup = "stack_group"
        case trialDays = "trial_days"
        case graceDays = "grace_days"
        case periodStart = "period_start"
        case periodEnd = "period_end"
        case externalID = "external_id"
    }

    /// - Parameter externalID: the id of a subscription that ran elsewhere; nil for one that begins here.
    package init(_ subscription: ManagedSubscription, importedAs externalID: String? = nil) {
        user = subscription.user
        environment = subscription.environment
        sku = subscription.sku
        stackGroup = subscription.stackGroup
        terms = subscription.terms
        account = subscription.account
        price = subscription.price
        period = subscription.period
        trialDays = subscription.trialDays
        graceDays = subscription.graceDays
        locale = subscription.locale
        partner = subscription.partner
        periodStart = externalID == nil ? nil : subscription.periodStart
        periodEnd = externalID == nil ? nil : subscription.periodEnd
        self.externalID = externalID
    }

    /// Makes the subscription that these conditions open; it waits for its payment or its trial unless it ran before.
    package func subscription(_ id: ID<Subscription>, at now: Timestamp) -> ManagedSubscription {
        let start = periodStart ?? now
        let end = periodEnd ?? now.adding(period, times: 1)
        var opened = ManagedSubscription(
            id: id, user: user, environment: environment, sku: sku, stackGroup: stackGroup, terms: terms,
            account: account, price: price, period: period, trialDays: trialDays, graceDays: graceDays,
            anchor: periodEnd.map { PeriodAnchor(at: $0, index: 1) } ?? PeriodAnchor(at: now, index: 0),
            periodStart: start, periodEnd: end, state: externalID == nil ? .pending : .running, partner: partner,
            createdAt: now)
        opened.locale = locale
        return opened
    }
}

/// The contents of an entry in the history of a managed subscription: everything that its act decided and that does not
/// follow from the entries before it.
package struct SubscriptionEntryFacts: Sendable, Equatable, Codable {
    package var opening: SubscriptionOpening?
    package var account: AccountID?
    package var environment: Environment?
    /// The order of the period that begins or was refused, or whose money moved.
    package var order: ID<Order>?
    /// The payment that was refused; nil where none was made.
    package var payment: ID<Payment>?
    package var amount: Money?
    /// The reason with which a subscription is to end although it has just begun.
    package var cancellation: ManagedSubscription.EndReason?
    /// The plan that was asked for.
    package var plan: ManagedSubscription.Change?
    package var refusal: ChargeRefusal?
    /// The days of `billing.retry_days` that held when it was refused, or when a dispute let it go on.
    package var retryDays: [Int64]?
    package var days: Int64?
    /// The reason of an end, and its time.
    package var reason: ManagedSubscription.EndReason?
    package var endedAt: Timestamp?
    /// True where a dispute stops charges after the act.
    package var isStopped: Bool?
    /// The suspension of access; nil where the act leaves it as it was.
    package var isSuspended: Bool?
    /// True where access came back after it was taken.
    package var isRestored: Bool?
    package var revocation: Grant.Revocation.Reason?
    package var priceChange: ID<PriceChange>?
    /// The beginning of a hold that has ended.
    package var since: Timestamp?
    /// The contents of a notice: the period, its amount and its SKU.
    package var notice: String?

    private enum CodingKeys: String, CodingKey {
        case opening, account, environment, order, payment, amount, cancellation, plan, refusal, days, reason
        case revocation, since, notice
        case retryDays = "retry_days"
        case endedAt = "ended_at"
        case isStopped = "stopped"
        case isSuspended = "suspended"
        case isRestored = "restored"
        case priceChange = "price_change"
    }

    package init() {}

    package init(_ fill: (inout SubscriptionEntryFacts) -> Void) {
        self.init()
        fill(&self)
    }
}

/// An entry in the history of a managed subscription.
package struct SubscriptionEntry: Sendable, Equatable {
    /// A cause of which users are not told.
    package enum QuietCause: String, Sendable, CaseIterable {
        /// A checkout wrote it; it waits for its payment or its trial.
        case opened
        /// Another attempt of its first order goes to another account.
        case moved
        /// The end of one that never began.
        case notBegun = "not_begun"
        /// An admin asked for another try.
        case retried
        /// The notice of the next renewal was sent.
        case noticed
        case priceAnnounced = "price_announced"
        /// An announced price was replaced before it held.
        case priceWithdrawn = "price_withdrawn"
        case holdReleased = "hold_released"
    }

    package enum Kind: Hashable, Sendable {
        case told(ManagedSubscription.ChangeCause)
        case quiet(QuietCause)

        /// - Returns: nil for a word that is no cause.
        package init?(rawValue: String) {
            if let told = ManagedSubscription.ChangeCause(rawValue: rawValue) {
                self = .told(told)
            } else if let quiet = QuietCause(rawValue: rawValue) {
                self = .quiet(quiet)
            } else {
                return nil
            }
        }

        package var rawValue: String {
            switch self {
            case .told(let cause): cause.rawValue
            case .quiet(let cause): cause.rawValue
            }
        }
    }

    package let at: Timestamp
    package let cause: Kind
    package let facts: SubscriptionEntryFacts

    package init(at: Timestamp, cause: Kind, facts: SubscriptionEntryFacts) {
        self.at = at
        self.cause = cause
        self.facts = facts
    }
}
