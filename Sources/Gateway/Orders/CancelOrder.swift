package import Domain
import Store

extension Gateway {
    /// Closes a user's open order after its attempts were cancelled, or asked about where they cannot be.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen` (also when asking finds that it was paid), `providerUnavailable` where
    ///   nobody could say whether it was, `requestInProgress` while others keep making attempts.
    package func cancelOrder(
        _ order: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        let found = try await ownOrder(order, user: user)
        let cause = Cause(actor: context.actor, requestID: context.requestID)
        return try await close(found, reason: "cancelled", audience: .user, cause: cause)
    }

    /// Closes an open order that a partner may see.
    ///
    /// - Throws: as for its user; `orderNotFound` for another partner's too.
    package func cancelOrder(
        _ order: String, visibleTo partner: String, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        let found = try await readOrder(order, visibleTo: partner).order
        let cause = Cause(actor: context.actor, requestID: context.requestID)
        return try await close(found, reason: "cancelled by the partner", audience: .stored, cause: cause)
    }

    /// Closes any open order, for an admin.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen`.
    package func closeOrder(_ order: String, context: CallContext) async throws(GatewayError) -> OrderSnapshot {
        let found = try await readOrder(order).order
        let cause = Cause(actor: context.actor, requestID: context.requestID)
        return try await close(found, reason: "closed by an admin", audience: .stored, cause: cause)
    }

    /// - Returns: the order as it was closed, also where a payment has revived it a moment later.
    private func close(
        _ order: Order, reason: String, audience: OrderSnapshot.Audience, cause: Cause
    ) async throws(GatewayError) -> OrderSnapshot {
        guard order.state != .closed else {
            let closed = try await snapshot(order.id, audience: audience)
            guard closed.order.state != .paid else { throw .orderNotOpen }
            return closed
        }
        guard order.state == .open else { throw .orderNotOpen }
        return try await closeFenced(order, reason: reason, cause: cause) { tx in
            guard let closed = try OrderSnapshot.load(order.id, from: tx, audience: audience) else {
                throw GatewayError.notFound
            }
            return closed
        }
    }

    /// Closes an open order after its attempts were cancelled, or asked about, and so were those that others made meanwhile.
    ///
    /// - Parameter read: what is read of the order in the transaction that closes it.
    /// - Throws: `orderNotOpen` when it was paid, `providerUnavailable` where nobody could say whether it was,
    ///   `requestInProgress` while others keep making attempts.
    func closeFenced<T: Sendable>(
        _ order: Order, reason: String, cause: Cause, reading read: @escaping @Sendable (any Transaction) throws -> T
    ) async throws(GatewayError) -> T {
        var fenced = Fence()
        for _ in 0..<Self.fenceRounds {
            fenced = try await fence(order.id, cause: cause, after: fenced)
            // What nobody could ask may be paid a moment later; closing it would take the payer's money for nothing.
            guard fenced.allAnswered else { throw .providerUnavailable }
            let fence = fenced
            let closed = try await settle(cause) { settlement -> T? in
                let tx = settlement.tx
                try tx.users.lock(order.user)
                guard let current = try tx.orders.lock(order.id), current.state != .paid else {
                    throw GatewayError.orderNotOpen
                }
                // Somebody may have made another attempt while these were fenced.
                let open = try tx.payments.list(of: order.id).value().map(\.payment).filter { !$0.state.isFinal }
                guard open.allSatisfy({ fence.asked.contains($0.id) }) else { return nil }
                try settlement.close(current, reason: reason)
                return try read(tx)
            }
            if let closed { return closed }
        }
        throw .requestInProgress
    }
}

extension Settlement {
    /// Closes an order that is open; the caller holds its lock.
    func close(_ order: Order, reason: String) throws {
        guard order.state == .open else { return }
        try tx.orders.move(order.id, from: .open, to: .closed, paidBy: nil, at: now)
        try log.appendTimeline(order, "order.closed", reason)
        try log.audit(order, "order.closed", before: "open", after: "closed: \(reason)")
        try log.emit(.orderClosed, order.id)
    }
}
