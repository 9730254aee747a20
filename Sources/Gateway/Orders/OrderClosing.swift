package import Domain
import Store

/// Closes open orders.
package struct OrderClosing: Sendable {
    let settlements: SettlementRunner
    let orders: Orders
    let attempts: PaymentAttempts

    /// Closes a user's open order after its attempts were cancelled, or queried where they cannot be cancelled.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen` (also where a query finds that it was paid), `providerUnavailable`
    ///   where a provider did not state whether it was paid, `requestInProgress` while other requests keep making
    ///   attempts.
    package func cancel(
        _ order: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        let found = try await orders.own(order, user: user)
        return try await close(found, reason: "cancelled", audience: .user, audit: context.audit)
    }

    /// Closes an open order that a partner may see.
    ///
    /// - Throws: the errors of ``cancel(_:user:context:)``; `orderNotFound` also for another partner's.
    package func cancel(
        _ order: String, visibleTo partner: String, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        let found = try await orders.find(order, visibleTo: partner).order
        return try await close(found, reason: "cancelled by the partner", audience: .stored, audit: context.audit)
    }

    /// Closes any open order, for an admin.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen`.
    package func close(_ order: String, context: CallContext) async throws(GatewayError) -> OrderSnapshot {
        let found = try await orders.find(order).order
        return try await close(found, reason: "closed by an admin", audience: .stored, audit: context.audit)
    }

    /// Closes an order that may be closed already.
    ///
    /// - Returns: the closed order, also where a late payment has reopened it a moment later.
    private func close(
        _ order: Order, reason: String, audience: OrderSnapshot.Audience, audit: AuditContext
    ) async throws(GatewayError) -> OrderSnapshot {
        if order.origin == .renewal, let period = order.period {
            throw .belongsToSubscription(period.subscription)
        }
        guard order.state != .closed else {
            let closed = try await orders.snapshot(order.id, audience: audience)
            guard closed.order.state != .paid else { throw .orderNotOpen }
            return closed
        }
        guard order.state == .open else { throw .orderNotOpen }
        return try await close(order, reason: reason, audit: audit) { tx in
            guard let closed = try OrderSnapshot.load(order.id, from: tx, audience: audience) else {
                throw GatewayError.notFound
            }
            return closed
        }
    }

    /// Closes an open order after its attempts were cancelled or queried, including those that were made meanwhile.
    ///
    /// - Parameter read: reads from the transaction that closes the order.
    /// - Throws: `orderNotOpen` where it was paid, `providerUnavailable` where a provider did not state whether it was,
    ///   `requestInProgress` while other requests keep making attempts.
    func close<T: Sendable>(
        _ order: Order, reason: String, audit: AuditContext,
        reading read: @escaping @Sendable (any Transaction) throws -> T
    ) async throws(GatewayError) -> T {
        var cancelled = AttemptCancellation()
        for _ in 0..<PaymentAttempts.cancellationRounds {
            cancelled = try await attempts.cancel(of: order.id, audit: audit, after: cancelled)
            // An attempt whose provider did not answer may be paid a moment later; the payer would get nothing for the
            // money.
            guard cancelled.allAnswered else { throw .providerUnavailable }
            let asked = cancelled.asked
            let closed = try await settlements.run(audit) { settlement -> T? in
                let tx = settlement.tx
                try tx.users.lock(order.user)
                guard let current = try tx.orders.lock(order.id), current.state != .paid else {
                    throw GatewayError.orderNotOpen
                }
                // Another attempt may have been made meanwhile.
                let open = try tx.payments.list(of: order.id).value().map(\.payment).filter { !$0.state.isFinal }
                guard open.allSatisfy({ asked.contains($0.id) }) else { return nil }
                try OrderWriter(settlement).close(current, reason: reason)
                try settlement.managed.cancelTrial(of: current)
                return try read(tx)
            }
            if let closed { return closed }
        }
        throw .requestInProgress
    }
}
