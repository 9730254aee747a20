// The transitions of a managed subscription: each applies a fact and leaves everything else as it is.
extension ManagedSubscription {
    /// Begins the first period with the payment of the first order.
    package mutating func begin(paidAt now: Timestamp) {
        state = .running
        anchor = PeriodAnchor(at: now, index: 0)
        (periodIndex, periodStart, periodEnd) = (0, now, anchor.end(of: 0, period))
    }

    /// Begins the trial with the success of its set-up; the first paid period follows it.
    package mutating func beginTrial(at now: Timestamp) {
        state = .running
        anchor = PeriodAnchor(at: now.adding(days: trialDays), index: 1)
        (periodIndex, periodStart, periodEnd) = (0, now, anchor.at)
    }

    /// Begins the next period with the payment of its order.
    ///
    /// Paid while the access goes on, the period follows the one before. After an interruption it begins now, and the
    /// time between is neither charged nor given. A changed plan is counted from its own start.
    ///
    /// - Returns: the cause of the event.
    package mutating func renew(paidAt now: Timestamp) -> ChangeCause {
        let next = periodIndex + 1
        let changed = change
        let length = changed?.period ?? period
        let following = changed == nil ? anchor : PeriodAnchor(at: periodEnd, index: next)
        let continues = now < graceEnd && now < following.end(of: next, length)
        let cause: ChangeCause = failedAt == nil ? .renewed : .recovered
        if let changed {
            (sku, terms, price) = (changed.sku, changed.terms, changed.price)
            (period, graceDays, change) = (changed.period, changed.graceDays, nil)
        }
        anchor = continues ? following : PeriodAnchor(at: now, index: next)
        periodStart = continues ? periodEnd : now
        periodIndex = next
        periodEnd = anchor.end(of: next, period)
        extendedDays = 0
        forgetRefusals()
        return changed == nil ? cause : .changed
    }

    /// Counts a refusal of the due renewal.
    ///
    /// - Parameter isTry: false where no payment was made, because the mandate had ended before.
    package mutating func refuse(
        _ refusal: ChargeRefusal, at now: Timestamp, isTry: Bool = true, _ settings: BillingSettings
    ) {
        if isTry { tries += 1 }
        let first = failedAt ?? now
        failedAt = first
        self.refusal = refusal
        let isRepeated = refusal == .soft && tries < BillingSettings.mostTries
        nextTryAt = isRepeated ? Self.nextTry(after: now, failedAt: first, settings) : nil
    }

    /// Forgets the refusals of a renewal that was paid.
    private mutating func forgetRefusals() {
        (failedAt, refusal, nextTryAt) = (nil, nil, nil)
        (tries, heldSeconds) = (0, 0)
    }

    /// Takes a new mandate: an earlier refusal says nothing about it, so the due renewal is tried at once.
    package mutating func takeMandate(at now: Timestamp) {
        refusal = nil
        if failedAt != nil, tries < BillingSettings.mostTries { nextTryAt = now }
        if cancellation == .mandateEnded { cancellation = nil }
    }

    /// Ends it; access that goes on afterwards is the grant's.
    package mutating func end(_ reason: EndReason, at now: Timestamp) {
        state = .ended
        (endedAt, endReason) = (now, reason)
        nextTryAt = nil
        change = nil
    }

    /// Gives the access of the running period back after the end, because the money did not go back.
    ///
    /// The subscription stays ended and does not renew; its access lasts to the end of the period.
    package mutating func reinstate() { endedAt = periodEnd }

    /// Moves the period's end, from which the next periods are counted then.
    package mutating func extend(days: Int64) {
        periodEnd = periodEnd.adding(days: days)
        anchor = PeriodAnchor(at: periodEnd, index: periodIndex + 1)
        extendedDays += days
    }

    /// Follows the disputes of its orders; tries that fell due while one stopped the charges are not made up for.
    package mutating func followDisputes(stopped: Bool, at now: Timestamp, _ settings: BillingSettings) {
        isStoppedByDispute = stopped
        guard !stopped, let failedAt, let next = nextTryAt, next <= now else { return }
        nextTryAt = Self.nextTry(after: now, failedAt: failedAt, settings)
    }
}
