import Domain
import ProviderKit
import Store

// The effect of refunds and disputes of its orders on a managed subscription.
extension ManagedSubscriptionLedger {
    /// Follows a change of the refunds or disputes of one of its orders.
    func follow(_ order: Order, _ period: Order.SubscriptionPeriod, _ effect: Order.Standing) throws {
        guard var standing = try lock(period.subscription), standing.subscription.state != .pending else { return }
        let wasStopped = standing.subscription.isStoppedByDispute
        let isStopped = try tx.managedSubscriptions.isDisputed(period.subscription)
        if isStopped != wasStopped {
            standing.subscription.followDisputes(stopped: isStopped, at: log.now, settings)
        }
        guard try tx.managedSubscriptions.newestPaidOrder(of: period.subscription) == order.id else {
            // An older period's: nothing that is owned changes.
            if isStopped != wasStopped { try save(standing, isStopped ? .suspended : .reinstated) }
            return
        }
        if let reason = effect.revocation {
            return try revoke(standing, reason)
        }
        if standing.facts.isRevoked { return try reinstate(standing) }
        guard effect.isSuspended != standing.facts.isSuspended || isStopped != wasStopped else { return }
        try save(standing, effect.isSuspended ? .suspended : .reinstated, suspended: effect.isSuspended)
    }

    /// Takes the running period back, and ends the subscription where it runs.
    private func revoke(_ found: Standing, _ reason: Grant.Revocation.Reason) throws {
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
        try save(
            standing, .revoked, revocation: Grant.Revocation(at: log.now, reason: reason), suspended: false)
    }

    /// Gives the access back that a refund that failed, or a dispute that was won after all, had taken.
    private func reinstate(_ found: Standing) throws {
        var standing = found
        standing.subscription.reinstate()
        try save(standing, .reinstated, revocation: .some(nil), suspended: false)
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
        try save(standing, .expired, detail: reason.rawValue)
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
            if ran { try save(standing, .expired, detail: "erased") }
        }
    }
}
