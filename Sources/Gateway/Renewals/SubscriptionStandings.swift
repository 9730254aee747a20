import Domain
import ProviderKit
import Store

// The effect of refunds and disputes of its orders on a managed subscription.
extension ManagedSubscriptionLedger {
    /// Follows a change of the refunds or disputes of one of its orders.
    func follow(_ order: Order, _ period: Order.SubscriptionPeriod, _ effect: Order.Standing) throws {
        guard var standing = try lock(period.subscription), standing.subscription.hasBegun else { return }
        let wasStopped = standing.subscription.isStoppedByDispute
        let isStopped = try tx.managedSubscriptions.isDisputed(period.subscription)
        if isStopped != wasStopped {
            standing.subscription.followDisputes(stopped: isStopped, at: log.now, settings)
            // A charge that was not sent before the dispute goes on with the job.
            if !isStopped, standing.facts.isCharging { try actNow(period.subscription) }
        }
        guard try tx.managedSubscriptions.newestPaidOrder(of: period.subscription) == order.id else {
            // An older period's: nothing that is owned changes.
            guard isStopped != wasStopped else { return }
            return try save(standing, isStopped ? .suspended : .reinstated, facts(of: order, standing))
        }
        if let reason = effect.revocation {
            return try revoke(standing, reason, order)
        }
        // An admin's revocation stays.
        if let taken = standing.grant?.revocation, taken.reason != .admin {
            return try reinstate(standing, order, suspended: effect.isSuspended)
        }
        guard effect.isSuspended != standing.facts.isSuspended || isStopped != wasStopped else { return }
        var facts = facts(of: order, standing)
        facts.isSuspended = effect.isSuspended
        try save(standing, effect.isSuspended ? .suspended : .reinstated, facts, suspended: effect.isSuspended)
    }

    /// The facts of an act that follows the refunds or disputes of an order.
    private func facts(of order: Order, _ standing: Standing) -> SubscriptionEntryFacts {
        SubscriptionEntryFacts {
            $0.order = order.id
            $0.isStopped = standing.subscription.isStoppedByDispute
            $0.retryDays = settings.retryDays
        }
    }

    /// Takes the running period back, and ends the subscription where it runs.
    private func revoke(_ found: Standing, _ reason: Grant.Revocation.Reason, _ order: Order) throws {
        var standing = found
        let subscription = standing.subscription
        switch subscription.state {
        case .pending: return
        case .running: try close(&standing, reason == .dispute ? .disputed : .refunded, at: log.now)
        case .ended:
            // An admin ended it with a refund, which changes only the order, or it has ended before.
            guard [.refunded, .disputed].contains(subscription.endReason), !standing.facts.isRevoked else { return }
            standing.subscription.endedAt = min(log.now, subscription.periodEnd)
        }
        var facts = facts(of: order, standing)
        (facts.revocation, facts.isSuspended) = (reason, false)
        try save(
            standing, .revoked, facts, revocation: Grant.Revocation(at: log.now, reason: reason), suspended: false)
    }

    /// Gives the access back that a refund that failed, or a dispute that was won after all, had taken.
    ///
    /// - Parameter isSuspended: true while a dispute is open, as after one that was lost and is opened again.
    private func reinstate(_ found: Standing, _ order: Order, suspended isSuspended: Bool) throws {
        var standing = found
        standing.subscription.reinstate()
        var facts = facts(of: order, standing)
        (facts.isRestored, facts.isSuspended) = (true, isSuspended)
        try save(
            standing, isSuspended ? .suspended : .reinstated, facts, revocation: .some(nil), suspended: isSuspended)
    }

    // MARK: Ends

    /// Ends a subscription: closes its open order, revokes its mandate.
    func close(_ standing: inout Standing, _ reason: ManagedSubscription.EndReason, at end: Timestamp) throws {
        if let id = standing.openOrder, let order = try tx.orders.lock(id), order.state == .open {
            try closeOrder(order, reason: reason.rawValue)
        }
        standing.subscription.end(reason, at: end)
        try tx.managedSubscriptions.update(standing.record)
        try revokeMandates(of: standing.subscription.id)
        if let setup = try tx.setups.findOpen(of: standing.subscription.id) { try cancelLater(setup) }
    }

    /// Ends a subscription and announces it.
    func end(_ found: Standing, _ reason: ManagedSubscription.EndReason, at end: Timestamp) throws {
        var standing = found
        try close(&standing, reason, at: end)
        try saveEnd(standing)
    }

    /// Writes an end, and announces it.
    private func saveEnd(_ standing: Standing) throws {
        let ended = standing.subscription
        let facts = SubscriptionEntryFacts {
            $0.reason = ended.endReason
            $0.endedAt = ended.endedAt
        }
        try save(standing, .expired, facts)
    }

    func closeOrder(_ order: Order, reason: String) throws {
        try tx.orders.move(order.id, from: .open, to: .closed, paidBy: nil, at: log.now)
        try log.appendTimeline(order, "order.closed", reason)
        try log.audit(order, "order.closed", before: "open", after: "closed: \(reason)")
        try log.emit(.orderClosed, order.id)
        try tx.jobs.ensure(
            log.ids.make(), kind: JobKind.closeAttempts.rawValue, subject: order.id.rawValue, at: log.now)
    }

    /// Has an open set-up cancelled at its provider.
    func cancelLater(_ setup: SetupRecord) throws {
        try tx.jobs.enqueue(
            log.ids.make(), kind: JobKind.reconcileSetup.rawValue, subject: setup.id.rawValue, delay: 0, at: log.now)
        followUps.wakeWorkers()
    }

    /// Ends every subscription of a user who is erased, in the transaction that erases.
    func erase(_ user: ID<User>) throws {
        for record in try tx.managedSubscriptions.listUnended(of: user) {
            guard var standing = try lock(record.subscription.id) else { continue }
            let ran = standing.subscription.state == .running
            try close(&standing, .erased, at: log.now)
            if ran {
                try saveEnd(standing)
            } else {
                try note(.notBegun, of: standing.subscription.id) { $0.reason = .erased }
            }
        }
    }
}
