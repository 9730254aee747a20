extension ManagedSubscription {
    /// False for one that nobody sees: it waits for its first payment, or another one began in its place.
    package var hasBegun: Bool { state != .pending && endReason != .duplicate }

    /// The time at which access ends by what is known now; after an end, the earlier of it and the period's.
    package func accessEnd(_ facts: RenewalFacts) -> Timestamp {
        switch state {
        case .pending: periodStart
        case .running: isUndecided(facts) ? graceEnd : periodEnd
        case .ended: min(endedAt ?? periodEnd, graceEnd)
        }
    }

    /// True where the next period is, or will be, charged for or given up, so that access may go on after the period's
    /// end.
    package func isUndecided(_ facts: RenewalFacts) -> Bool { willRenew || facts.hasOpenOrder || facts.isCharging }

    /// The end of what is paid; after an end, the earlier of it and the period's.
    package var expiresAt: Timestamp {
        guard state == .ended, let endedAt else { return periodEnd }
        return min(endedAt, periodEnd)
    }

    package func status(at now: Timestamp, _ facts: RenewalFacts) -> Subscription.Status {
        switch state {
        case .pending: return .scheduled
        case .ended:
            if facts.isRevoked { return .revoked }
            guard now < expiresAt else { return .expired }
            return facts.isSuspended ? .suspended : .active
        case .running:
            if facts.isRevoked { return .revoked }
            if facts.isSuspended { return .suspended }
            if now < periodEnd { return .active }
            guard isUndecided(facts) else { return .expired }
            return now < graceEnd ? .inGracePeriod : .inBillingRetry
        }
    }

    /// The end of the grace while a renewal is due and undecided; nil otherwise, and where there are no days of grace.
    package func graceExpiresAt(at now: Timestamp, _ facts: RenewalFacts) -> Timestamp? {
        guard state == .running, now >= periodEnd, isUndecided(facts), graceDays > 0 else { return nil }
        return graceEnd
    }

    /// The time of the next charge; nil where none is planned.
    package var nextChargeAt: Timestamp? {
        guard willRenew else { return nil }
        return failedAt == nil ? periodEnd : nextTryAt
    }

    /// The whole days of the running period that are left, and all of its days; a part of a day does not count.
    package func daysLeft(at now: Timestamp) -> (left: Int64, all: Int64) {
        let all = max(1, (periodEnd.rawValue - periodStart.rawValue) / 86_400)
        return (min(all, max(0, (periodEnd.rawValue - now.rawValue) / 86_400)), all)
    }
}

extension ManagedSubscription {
    /// The start of the first period after the running one that begins at a time or later, if each follows the one
    /// before.
    package func firstStart(from time: Timestamp) -> Timestamp {
        var (index, start) = (periodIndex + 1, periodEnd)
        while start < time {
            index += 1
            start = anchor.start(of: index, period)
        }
        return start
    }
}
