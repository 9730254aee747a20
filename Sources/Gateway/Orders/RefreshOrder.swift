package import Domain
import ProviderKit
import Store

extension Gateway {
    private static let refreshInterval: Int64 = 5

    /// Asks the providers now about everything of an order that is not final, and answers the order.
    ///
    /// An open order whose time is over is closed when no provider reports a payment.
    /// - Throws: `orderNotFound`, `rateLimited` within 5 s of the last time.
    package func refreshOrder(
        _ order: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        let found = try await ownOrder(order, user: user)
        let now = time.now
        let claimed = try await write { tx in try tx.claimRefresh(found.id, at: now, interval: Self.refreshInterval) }
        guard claimed else { throw .rateLimited(retryAfter: Self.refreshInterval) }
        try await reconcile(found.id, cause: Cause(actor: context.actor, requestID: context.requestID))
        return try await snapshot(found.id, audience: .user)
    }

    /// Queries each payment and refund of an order that is not final and settles the answers.
    func reconcile(_ order: ID<Order>, cause: Cause) async throws(GatewayError) {
        let now = time.now
        let (expires, payments, refunds) = try await read { db in
            (
                try db.order(order)?.state == .open && db.hasExpired(order, at: now),
                try db.payments(of: order).map(\.payment), try db.refunds(of: order)
            )
        }
        if !expires {
            for payment in payments where !payment.state.isFinal {
                try requireRunning()
                try await ask(payment, cause: cause) { try? await $0.query($1) }
            }
        }
        for refund in refunds where !refund.state.isFinal { try await continueRefund(refund.id, cause: cause) }
        // Nobody should be able to pay what is being closed, so an attempt of an expired order is cancelled where it can be.
        guard expires, try await fence(order, cause: cause).allAnswered else { return }
        try await settle(cause) { settlement in
            guard let unlocked = try settlement.tx.order(order) else { return }
            try settlement.tx.lockUser(unlocked.user)
            guard let current = try settlement.tx.lockOrder(order) else { return }
            try settlement.close(current, reason: "expired")
        }
    }
}
