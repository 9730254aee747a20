/// A managed subscription as its history makes it: a fold of the entries by the same transitions that made it.
package struct SubscriptionRebuild: Sendable, Equatable {
    /// The reason why an entry cannot follow those before it.
    package enum Fault: Error, Equatable {
        /// Another beginning than its opening, or a second opening.
        case notOpened
        /// The entry lacks a fact that its cause needs.
        case lacksFact
        /// The state does not allow the act.
        case impossible
        /// A renewal that was refused before, or has another plan, is told as another kind of renewal.
        case otherRenewal
    }

    /// A period that began, with the order that paid it.
    package struct PaidPeriod: Sendable, Equatable {
        package let order: ID<Order>
        package let user: ID<User>
        package let origin: Order.Origin
        package let index: Int64
        package let start: Timestamp
        package let end: Timestamp
        package let sku: SKUCode
        /// The amount of its order; the price of one that was paid elsewhere, and 0 for a trial.
        package let amount: Money
    }

    private let id: ID<Subscription>
    private var built: ManagedSubscription?
    /// The announced price that replaces the present one.
    package private(set) var priceChange: ID<PriceChange>?
    package private(set) var retriedAt: Timestamp?
    package private(set) var noticed: String?
    package private(set) var externalID: String?
    package private(set) var revocation: Grant.Revocation?
    package private(set) var isSuspended = false
    /// The start of the first period; nil where none began.
    package private(set) var begunAt: Timestamp?
    package private(set) var newestOrder: ID<Order>?
    /// The number of periods that began.
    package private(set) var periods: Int64 = 0
    /// The time of the last entry.
    package private(set) var changedAt: Timestamp?

    package init(_ id: ID<Subscription>) { self.id = id }

    /// The subscription; nil before its first entry.
    package var subscription: ManagedSubscription? { built }

    /// Applies the next entry.
    ///
    /// - Returns: the period that begins with it; nil where none does.
    @discardableResult
    package mutating func apply(_ entry: SubscriptionEntry) throws(Fault) -> PaidPeriod? {
        let period: PaidPeriod?
        switch entry.cause {
        case .quiet(let cause):
            try applyQuiet(cause, entry)
            period = nil
        case .told(let cause): period = try applyTold(cause, entry)
        }
        changedAt = entry.at
        return period
    }

    private mutating func applyTold(
        _ cause: ManagedSubscription.ChangeCause, _ entry: SubscriptionEntry
    ) throws(Fault) -> PaidPeriod? {
        let (facts, now) = (entry.facts, entry.at)
        switch cause {
        case .imported: return try importOne(facts, now)
        case .started: return try start(facts, now)
        case .renewed, .recovered, .changed: return try renew(cause, facts, now)
        case .paymentFailed: try refuse(facts, now)
        case .cancelRequested: try run { $0.cancellation = .canceled }
        case .resumed: try run { $0.cancellation = nil }
        case .changeRequested:
            let plan = try Self.need(facts.plan)
            try run { $0.change = plan }
        case .changeDropped: try run { $0.change = nil }
        case .paymentMethod: try run { $0.takeMandate(at: now) }
        case .priceChange:
            let price = try Self.need(facts.amount)
            try run { $0.price = price }
            priceChange = nil
        case .extended:
            let days = try Self.need(facts.days)
            try run { $0.extend(days: days) }
        case .overlap: try run { $0.cancellation = .replaced }
        case .expired:
            let (reason, end) = (try Self.need(facts.reason), try Self.need(facts.endedAt))
            try run { $0.end(reason, at: end) }
        case .suspended, .reinstated, .revoked: try follow(cause, facts, now)
        }
        return nil
    }

    private mutating func applyQuiet(
        _ cause: SubscriptionEntry.QuietCause, _ entry: SubscriptionEntry
    ) throws(Fault) {
        let (facts, now) = (entry.facts, entry.at)
        switch cause {
        case .opened:
            guard built == nil else { throw .notOpened }
            let opening = try Self.need(facts.opening)
            guard opening.externalID == nil else { throw .lacksFact }
            built = opening.subscription(id, at: now)
        case .moved:
            let (account, environment) = (try Self.need(facts.account), try Self.need(facts.environment))
            try change(in: .pending) {
                $0.account = account
                $0.environment = environment
            }
        case .notBegun:
            let reason = try Self.need(facts.reason)
            try change(in: .pending) { $0.end(reason, at: now) }
        case .retried:
            try run { $0.nextTryAt = now }
            retriedAt = now
        case .noticed: noticed = try Self.need(facts.notice)
        case .priceAnnounced: priceChange = try Self.need(facts.priceChange)
        case .priceWithdrawn: priceChange = nil
        case .holdReleased:
            let since = try Self.need(facts.since)
            try run { $0.heldSeconds += now.rawValue - max($0.periodEnd, since).rawValue }
        }
    }

    // MARK: Periods

    private mutating func importOne(_ facts: SubscriptionEntryFacts, _ now: Timestamp) throws(Fault) -> PaidPeriod {
        guard built == nil else { throw .notOpened }
        let opening = try Self.need(facts.opening)
        externalID = try Self.need(opening.externalID)
        built = opening.subscription(id, at: now)
        return try begun(.history, facts) { $0.cancellation = facts.cancellation }
    }

    private mutating func start(_ facts: SubscriptionEntryFacts, _ now: Timestamp) throws(Fault) -> PaidPeriod {
        guard built?.state == .pending else { throw built == nil ? .notOpened : .impossible }
        return try begun(.checkout, facts) {
            if $0.trialDays > 0 { $0.beginTrial(at: now) } else { $0.begin(paidAt: now) }
            $0.cancellation = facts.cancellation
        }
    }

    private mutating func renew(
        _ cause: ManagedSubscription.ChangeCause, _ facts: SubscriptionEntryFacts, _ now: Timestamp
    ) throws(Fault) -> PaidPeriod {
        guard built?.state == .running else { throw .impossible }
        var made = ManagedSubscription.ChangeCause.renewed
        let period = try begun(.renewal, facts) {
            made = $0.renew(paidAt: now)
            // Paid by the payer, who left no mandate for the next period.
            if let cancellation = facts.cancellation { $0.cancellation = cancellation }
        }
        guard made == cause else { throw .otherRenewal }
        // A changed plan has its own price.
        if cause == .changed { priceChange = nil }
        return period
    }

    private mutating func begun(
        _ origin: Order.Origin, _ facts: SubscriptionEntryFacts, _ begin: (inout ManagedSubscription) -> Void
    ) throws(Fault) -> PaidPeriod {
        guard var now = built else { throw .notOpened }
        let order = try Self.need(facts.order)
        begin(&now)
        built = now
        (revocation, isSuspended, newestOrder) = (nil, false, order)
        if begunAt == nil { begunAt = now.periodStart }
        periods += 1
        return PaidPeriod(
            order: order, user: now.user, origin: origin, index: now.periodIndex, start: now.periodStart,
            end: now.periodEnd, sku: now.sku,
            amount: now.isTrial ? Money(value: 0, currency: now.price.currency) : facts.amount ?? now.price)
    }

    // MARK: Refusals and money that goes back

    private mutating func refuse(_ facts: SubscriptionEntryFacts, _ now: Timestamp) throws(Fault) {
        let refusal = try Self.need(facts.refusal)
        guard facts.order != nil else {
            // The mandate ended at its provider before a renewal was due.
            return try run {
                $0.refusal = refusal
                $0.nextTryAt = nil
            }
        }
        let settings = BillingSettings(retryDays: try Self.need(facts.retryDays))
        try run { $0.refuse(refusal, at: now, isTry: facts.payment != nil, settings) }
    }

    private mutating func follow(
        _ cause: ManagedSubscription.ChangeCause, _ facts: SubscriptionEntryFacts, _ now: Timestamp
    ) throws(Fault) {
        guard var followed = built, followed.state != .pending else { throw .impossible }
        let isStopped = try Self.need(facts.isStopped)
        if isStopped != followed.isStoppedByDispute {
            let settings = BillingSettings(retryDays: try Self.need(facts.retryDays))
            followed.followDisputes(stopped: isStopped, at: now, settings)
        }
        if cause == .revoked {
            let reason = try Self.need(facts.revocation)
            if followed.state == .running {
                followed.end(reason == .dispute ? .disputed : .refunded, at: now)
            } else {
                followed.endedAt = min(now, followed.periodEnd)
            }
            revocation = Grant.Revocation(at: now, reason: reason)
        }
        if facts.isRestored == true {
            followed.reinstate()
            revocation = nil
        }
        isSuspended = facts.isSuspended ?? isSuspended
        built = followed
    }

    // MARK: Steps

    private mutating func run(_ act: (inout ManagedSubscription) -> Void) throws(Fault) {
        try change(in: .running, act)
    }

    private mutating func change(
        in state: ManagedSubscription.State, _ act: (inout ManagedSubscription) -> Void
    ) throws(Fault) {
        guard var changed = built else { throw .notOpened }
        guard changed.state == state else { throw .impossible }
        act(&changed)
        built = changed
    }

    private static func need<Value>(_ value: Value?) throws(Fault) -> Value {
        guard let value else { throw .lacksFact }
        return value
    }
}
