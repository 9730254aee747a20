/// The facts beside a managed subscription's row on which its status and its next act depend.
package struct RenewalFacts: Sendable, Equatable {
    /// True while the order of the next period is open.
    package var hasOpenOrder: Bool
    /// True while a charge is under way, or its outcome is not known.
    package var isCharging: Bool
    /// True while a dispute of the running period's order is open.
    package var isSuspended: Bool
    /// True where the grant was taken back.
    package var isRevoked: Bool

    package init(
        hasOpenOrder: Bool = false, isCharging: Bool = false, isSuspended: Bool = false, isRevoked: Bool = false
    ) {
        self.hasOpenOrder = hasOpenOrder
        self.isCharging = isCharging
        self.isSuspended = isSuspended
        self.isRevoked = isRevoked
    }
}

/// The next act about a managed subscription that Paydesk takes by itself.
package enum RenewalAct: Sendable, Equatable {
    /// The next act is due at this time; nil where something else comes first, such as the answer to a charge.
    case wait(until: Timestamp?)
    /// The order of the next period is made and charged.
    case begin
    /// The open order is charged once more.
    case tryAgain
    case end(ManagedSubscription.EndReason)
}

extension ManagedSubscription {
    /// Returns the act that is due at a time.
    ///
    /// - Parameter isHeld: true while no mandate may be charged (`billing.hold`).
    package func act(
        at now: Timestamp, _ facts: RenewalFacts, _ settings: BillingSettings, isHeld: Bool
    ) -> RenewalAct {
        guard state == .running, !facts.isCharging else { return .wait(until: nil) }
        guard now >= periodEnd else { return .wait(until: periodEnd) }
        guard facts.hasOpenOrder else {
            if let cancellation { return .end(cancellation) }
            if isStoppedByDispute { return .end(.disputed) }
            return firstTry(at: now, .begin, isHeld: isHeld)
        }
        // Asked while the charge was under way, which has failed since.
        if let cancellation { return .end(cancellation) }
        guard let failedAt else { return firstTry(at: now, .tryAgain, isHeld: isHeld) }
        let givenUpAt = givenUp(failedAt, settings)
        let mayCharge = !isHeld && !isStoppedByDispute
        // The last try comes at the moment at which it is given up, and is made up to a day late.
        if mayCharge, let nextTryAt, nextTryAt <= now, now <= givenUpAt.adding(days: 1) { return .tryAgain }
        guard now < givenUpAt else { return .end(.paymentFailed) }
        guard mayCharge, let nextTryAt else { return .wait(until: givenUpAt) }
        return .wait(until: min(nextTryAt, givenUpAt))
    }

    /// The act of a renewal that no provider has refused yet: a charge, or the end of one that lapsed.
    private func firstTry(at now: Timestamp, _ act: RenewalAct, isHeld: Bool) -> RenewalAct {
        if isHeld { return .wait(until: nil) }
        if hasLapsed(at: now) { return .end(.lapsed) }
        return isStoppedByDispute ? .wait(until: lapsesAt.adding(seconds: 1)) : act
    }

    private var lapsesAt: Timestamp { periodEnd.adding(days: BillingSettings.lapseDays).adding(seconds: heldSeconds) }

    /// Returns whether so long a time has passed since the period's end, holds left out, that nothing is begun any more.
    package func hasLapsed(at now: Timestamp) -> Bool { now > lapsesAt }

    /// The time at which a refused renewal is given up: after the last try, and not before the grace has ended.
    package func givenUp(_ failedAt: Timestamp, _ settings: BillingSettings) -> Timestamp {
        max(failedAt.adding(days: settings.retryDays.last ?? 0), graceEnd)
    }

    /// The next of the tries that follow a first refusal, after a time; nil where there is none.
    package static func nextTry(
        after now: Timestamp, failedAt: Timestamp, _ settings: BillingSettings
    ) -> Timestamp? {
        settings.retryDays.lazy.map { failedAt.adding(days: $0) }.first { $0 > now }
    }

    /// The seconds after its making at which a renewal's order would expire, if the renewal did not close it before.
    package func orderLifetime(_ settings: BillingSettings) -> Int64 {
        max(settings.retryDays.last ?? 0, graceDays + 1) * 86_400
    }
}
