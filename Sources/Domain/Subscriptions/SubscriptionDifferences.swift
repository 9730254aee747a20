/// A part of a stored managed subscription that its history makes otherwise.
package struct SubscriptionDifference: Sendable, Equatable {
    /// The name of the part, as its column has it.
    package let part: String
    package let stored: String
    package let rebuilt: String

    /// - Returns: nil where the two are equal.
    package init?<Value: Equatable>(
        _ part: String, _ stored: Value, _ rebuilt: Value, _ text: (Value) -> String = { "\($0)" }
    ) {
        guard stored != rebuilt else { return nil }
        self.part = part
        self.stored = text(stored)
        self.rebuilt = text(rebuilt)
    }

    /// - Returns: nil where the two are equal.
    package init?<Value: Equatable>(
        _ part: String, _ stored: Value?, _ rebuilt: Value?, _ text: (Value) -> String = { "\($0)" }
    ) {
        guard stored != rebuilt else { return nil }
        self.part = part
        self.stored = stored.map(text) ?? "null"
        self.rebuilt = rebuilt.map(text) ?? "null"
    }

    package var words: String { "\(part) is \(stored), by its history \(rebuilt)" }
}

extension ManagedSubscription {
    /// The parts of this stored subscription that its history makes otherwise.
    package func differences(from rebuilt: ManagedSubscription) -> [SubscriptionDifference] {
        typealias Difference = SubscriptionDifference
        let time: (Timestamp) -> String = { "\($0.rawValue)" }
        let conditions: [Difference?] = [
            Difference("user_id", user, rebuilt.user),
            Difference("environment", environment, rebuilt.environment, \.rawValue),
            Difference("sku", sku, rebuilt.sku, \.rawValue),
            Difference("stack_group", stackGroup, rebuilt.stackGroup),
            Difference("terms", terms, rebuilt.terms, \.tier),
            Difference("account", account, rebuilt.account),
            Difference("currency", price.currency, rebuilt.price.currency, \.code),
            Difference("price", price.value, rebuilt.price.value),
            Difference("unit", period.unit, rebuilt.period.unit, \.rawValue),
            Difference("unit_count", period.count, rebuilt.period.count),
            Difference("trial_days", trialDays, rebuilt.trialDays),
            Difference("grace_days", graceDays, rebuilt.graceDays),
            Difference("locale", locale, rebuilt.locale),
            Difference("partner", partner, rebuilt.partner),
            Difference("created_at", createdAt, rebuilt.createdAt, time),
        ]
        let periods: [Difference?] = [
            Difference("anchor_at", anchor.at, rebuilt.anchor.at, time),
            Difference("anchor_index", anchor.index, rebuilt.anchor.index),
            Difference("period_index", periodIndex, rebuilt.periodIndex),
            Difference("period_start", periodStart, rebuilt.periodStart, time),
            Difference("period_end", periodEnd, rebuilt.periodEnd, time),
            Difference("extended_days", extendedDays, rebuilt.extendedDays),
            Difference("cancellation", cancellation, rebuilt.cancellation, \.rawValue),
            Difference("plan", change, rebuilt.change, \.sku.rawValue),
            Difference("state", state, rebuilt.state, \.rawValue),
            Difference("ended_at", endedAt, rebuilt.endedAt, time),
            Difference("end_reason", endReason, rebuilt.endReason, \.rawValue),
        ]
        let dunning: [Difference?] = [
            Difference("failed_at", failedAt, rebuilt.failedAt, time),
            Difference("refusal", refusal, rebuilt.refusal, \.rawValue),
            Difference("tries", tries, rebuilt.tries),
            Difference("next_try_at", nextTryAt, rebuilt.nextTryAt, time),
            Difference("charging_stopped_by", isStoppedByDispute, rebuilt.isStoppedByDispute) {
                $0 ? "dispute" : "null"
            },
            Difference("held_seconds", heldSeconds, rebuilt.heldSeconds),
        ]
        return (conditions + periods + dunning).compactMap(\.self)
    }
}

extension Grant {
    /// Makes the grant of a managed subscription.
    ///
    /// - Parameters:
    ///   - begunAt: the start of its first period.
    ///   - order: the newest order that was paid.
    package init(
        _ id: ID<Grant>, of subscription: ManagedSubscription, _ facts: RenewalFacts, begunAt: Timestamp,
        order: ID<Order>?
    ) {
        self.init(
            id: id, user: subscription.user, sku: subscription.sku, kind: .subscription,
            tier: subscription.terms.tier, rank: subscription.terms.rank,
            source: Source(kind: .managedSubscription, id: subscription.id.rawValue), order: order,
            environment: subscription.environment, purchasedAt: begunAt,
            term: .until(subscription.accessEnd(facts)), stackGroup: nil, attributes: subscription.terms.attributes)
        renewal = Renewal(
            paidUntil: subscription.expiresAt,
            isInBillingRetry: subscription.state == .running && subscription.isUndecided(facts),
            willRenew: subscription.willRenew, isUpgraded: false)
    }

    /// The parts of this stored grant that the history of its managed subscription makes otherwise; an admin's
    /// revocation stays, whatever the history says.
    package func differences(from rebuilt: Grant) -> [SubscriptionDifference] {
        typealias Difference = SubscriptionDifference
        let time: (Timestamp) -> String = { "\($0.rawValue)" }
        let isTaken = revocation?.reason == .admin
        let found: [Difference?] = [
            Difference("grant.user_id", user, rebuilt.user),
            Difference("grant.sku", sku, rebuilt.sku, \.rawValue),
            Difference("grant.kind", kind, rebuilt.kind, \.rawValue),
            Difference("grant.tier", tier, rebuilt.tier),
            Difference("grant.rank", rank, rebuilt.rank),
            Difference("grant.order_id", order, rebuilt.order),
            Difference("grant.environment", environment, rebuilt.environment, \.rawValue),
            Difference("grant.purchased_at", purchasedAt, rebuilt.purchasedAt, time),
            Difference("grant.ends_at", term, rebuilt.term),
            Difference("grant.stack_group", stackGroup, rebuilt.stackGroup),
            Difference("grant.attributes", attributes, rebuilt.attributes),
            isTaken ? nil : Difference("grant.revoked_at", revocation?.at, rebuilt.revocation?.at, time),
            isTaken
                ? nil : Difference("grant.revoked_by", revocation?.reason, rebuilt.revocation?.reason, \.rawValue),
            Difference("grant.suspended", suspended, rebuilt.suspended),
            Difference("grant.paid_until", renewal?.paidUntil, rebuilt.renewal?.paidUntil, time),
            Difference("grant.billing_retry", renewal?.isInBillingRetry, rebuilt.renewal?.isInBillingRetry),
            Difference("grant.will_renew", renewal?.willRenew, rebuilt.renewal?.willRenew),
            Difference("grant.upgraded", renewal?.isUpgraded, rebuilt.renewal?.isUpgraded),
            Difference("grant.ahead", ahead, rebuilt.ahead),
        ]
        return found.compactMap(\.self)
    }
}
