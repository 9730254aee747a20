/// A means of payment that a payer has agreed to be charged by without being present.
public enum Mandate: Identified { public static let idPrefix = "man" }

/// The making of a mandate without a payment: for a trial, or in place of another mandate.
public enum Setup: Identified { public static let idPrefix = "stp" }

/// An announced price for the subscriptions of a SKU that run.
package enum PriceChange: Identified { package static let idPrefix = "prc" }

/// A subscription that Paydesk renews itself (`docs/subscriptions.md`).
///
/// It keeps the price, the period, the days of grace and the terms of its beginning until a change of plan or of price
/// replaces them. Times are business time.
package struct ManagedSubscription: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// The first order is not paid, or the set-up of the trial has not succeeded; nobody sees it.
        case pending
        case running
        /// Never left again.
        case ended
    }

    package enum EndReason: String, Sendable, Codable, CaseIterable {
        case canceled, refunded, disputed, erased, lapsed, duplicate
        case paymentFailed = "payment_failed"
        /// A subscription of a store took its place.
        case replaced
        case mandateEnded = "mandate_ended"
    }

    /// The reason of a `subscription.changed`.
    package enum ChangeCause: String, Sendable, CaseIterable {
        case started, renewed, recovered, resumed, changed, suspended, reinstated, extended, imported, overlap
        case expired, revoked
        case paymentFailed = "payment_failed"
        case cancelRequested = "cancel_requested"
        case changeRequested = "change_requested"
        case changeDropped = "change_dropped"
        case paymentMethod = "payment_method"
        case priceChange = "price_change"
    }

    /// The plan that takes the place of the present one at the next renewal, frozen when it was asked for.
    package struct Change: Sendable, Equatable, Codable {
        package let sku: SKUCode
        package let terms: OrderTerms
        package let price: Money
        package let period: BillingPeriod
        package let graceDays: Int64

        private enum CodingKeys: String, CodingKey {
            case sku, terms, price, period
            case graceDays = "grace_days"
        }

        package init(sku: SKUCode, terms: OrderTerms, price: Money, period: BillingPeriod, graceDays: Int64) {
            self.sku = sku
            self.terms = terms
            self.price = price
            self.period = period
            self.graceDays = graceDays
        }
    }

    package let id: ID<Subscription>
    package let user: ID<User>
    /// That of its account, which another attempt of the first order may change.
    package var environment: Environment
    package var sku: SKUCode
    package let stackGroup: String
    package var terms: OrderTerms
    package var account: AccountID
    package var price: Money
    package var period: BillingPeriod
    /// The days of its trial; 0 where it began with a payment.
    package let trialDays: Int64
    package var graceDays: Int64
    package var anchor: PeriodAnchor
    package var periodIndex: Int64
    package var periodStart: Timestamp
    package var periodEnd: Timestamp
    /// Days that an admin added to the running period.
    package var extendedDays: Int64 = 0
    /// The reason with which it ends at the end of the period; nil while it is not to end.
    package var cancellation: EndReason?
    package var change: Change?
    package var state: State
    package var endedAt: Timestamp?
    package var endReason: EndReason?
    /// The time of the first refusal of the renewal that is due; nil where none was refused.
    package var failedAt: Timestamp?
    package var refusal: ChargeRefusal?
    /// The tries of the renewal that is due.
    package var tries: Int64 = 0
    package var nextTryAt: Timestamp?
    /// True while a dispute of one of its orders is open or lost.
    package var isStoppedByDispute = false
    /// Seconds since the period's end in which a hold forbade every charge.
    package var heldSeconds: Int64 = 0
    /// The language of its texts for the payer; nil for English.
    package var locale: String?
    package let partner: String?
    package let createdAt: Timestamp

    package init(
        id: ID<Subscription>, user: ID<User>, environment: Environment, sku: SKUCode, stackGroup: String,
        terms: OrderTerms, account: AccountID, price: Money, period: BillingPeriod, trialDays: Int64, graceDays: Int64,
        anchor: PeriodAnchor, periodIndex: Int64 = 0, periodStart: Timestamp, periodEnd: Timestamp,
        state: State = .pending, partner: String?, createdAt: Timestamp
    ) {
        self.id = id
        self.user = user
        self.environment = environment
        self.sku = sku
        self.stackGroup = stackGroup
        self.terms = terms
        self.account = account
        self.price = price
        self.period = period
        self.trialDays = trialDays
        self.graceDays = graceDays
        self.anchor = anchor
        self.periodIndex = periodIndex
        self.periodStart = periodStart
        self.periodEnd = periodEnd
        self.state = state
        self.partner = partner
        self.createdAt = createdAt
    }
}

extension ManagedSubscription {
    /// True while the trial runs: period 0 was not paid and its length is the trial's.
    package var isTrial: Bool { trialDays > 0 && periodIndex == 0 }

    package var cancelsAtPeriodEnd: Bool { cancellation != nil }

    /// True where the next period will be charged for; in dunning too.
    package var willRenew: Bool { state == .running && !cancelsAtPeriodEnd && !isStoppedByDispute }

    /// The seconds for which access lasts after the period's end while nothing is decided.
    private static let leastGrace: Int64 = 3_600

    /// The end of the access after the period's end: the grace, or, while no charge was refused, at least an hour.
    package var graceEnd: Timestamp {
        let seconds = graceDays * 86_400
        return periodEnd.adding(seconds: failedAt == nil ? max(seconds, Self.leastGrace) : seconds)
    }
}
