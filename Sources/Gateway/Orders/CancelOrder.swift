package import Domain
import Store

extension Gateway {
    /// Closes a user's open order after its attempts were cancelled, or asked about where they cannot be.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen` (also when asking finds that it was paid).
    package func cancelOrder(
        _ order: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        let found = try await ownOrder(order, user: user)
        try await close(found, reason: "cancelled", cause: Cause(actor: context.actor, requestID: context.requestID))
        return try await snapshot(found.id, audience: .user)
    }

    /// Closes any open order, for an admin.
    ///
    /// - Throws: `orderNotFound`, `orderNotOpen`.
    package func closeOrder(_ order: String, context: CallContext) async throws(GatewayError) -> OrderSnapshot {
        let found = try await readOrder(order).order
        try await close(
            found, reason: "closed by an admin", cause: Cause(actor: context.actor, requestID: context.requestID))
        return try await snapshot(found.id, audience: .stored)
    }

    private func close(_ order: Order, reason: String, cause: Cause) async throws(GatewayError) {
        guard order.state != .closed else { return }
        guard order.state == .open else { throw .orderNotOpen }
        // What nobody could ask may be paid a moment later; closing it would take the payer's money for nothing.
        guard try await fence(order.id, cause: cause).allAnswered else { throw .providerUnavailable }
        try await settle(cause) { settlement in
            try settlement.tx.lockUser(order.user)
            guard let current = try settlement.tx.lockOrder(order.id), current.state != .paid else {
                throw GatewayError.orderNotOpen
            }
            try settlement.close(current, reason: reason)
        }
    }
}

extension Settlement {
    /// Closes an order that is open; the caller holds its lock.
    func close(_ order: Order, reason: String) throws {
        guard order.state == .open else { return }
        try tx.moveOrder(order.id, from: .open, to: .closed, paidBy: nil, at: now)
        try note(order, "order.closed", reason)
        try audit(order, "order.closed", before: "open", after: "closed: \(reason)")
        try emit(.orderClosed, order.id)
    }
}
