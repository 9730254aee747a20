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
        let claimed = try await write { tx in
            try tx.orders.claimRefresh(found.id, at: now, interval: Self.refreshInterval)
        }
        guard claimed else { throw .rateLimited(retryAfter: Self.refreshInterval) }
        try await reconcile(found.id, cause: Cause(actor: context.actor, requestID: context.requestID))
        return try await snapshot(found.id, audience: .user)
    }

    /// Queries each payment and refund of an order that is not final and settles the answers.
    func reconcile(_ order: ID<Order>, cause: Cause) async throws(GatewayError) {
        let now = time.now
        let (expired, payments, refunds) = try await read { db in
            let found = try db.orders.find(order)
            return (
                try found?.state == .open && db.orders.hasExpired(order, at: now) ? found : nil,
                try db.payments.list(of: order).value().map(\.payment), try db.refunds.list(of: order).value()
            )
        }
        if expired == nil {
            for payment in payments where !payment.state.isFinal {
                try requireRunning()
                try await ask(payment, cause: cause) { try? await $0.query($1) }
            }
        }
        for refund in refunds where !refund.state.isFinal { try await continueRefund(refund.id, cause: cause) }
        // Nobody should be able to pay what is being closed, so an attempt of an expired order is cancelled where it can be.
        guard let expired else { return }
        do throws(GatewayError) {
            try await closeFenced(expired, reason: "expired", cause: cause) { _ in }
        } catch {
            switch error {
            // It was paid after all, or nobody can say that yet: it stays open, and is asked about again.
            case .orderNotOpen, .providerUnavailable, .requestInProgress: return
            default: throw error
            }
        }
    }
}
