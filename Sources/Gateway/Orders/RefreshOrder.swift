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
        let (found, payments, refunds) = try await read { db in
            (try db.order(order), try db.payments(of: order).map(\.payment), try db.refunds(of: order))
        }
        guard let found else { return }
        let expires = found.state == .open && found.expiresAt <= time.now
        if !expires {
            for payment in payments where !payment.state.isFinal { try await query(payment, cause: cause) }
        }
        for refund in refunds where refund.state == .created || refund.state == .pending || refund.state == .unknown {
            _ = try? await executeRefund(refund.id, cause: cause)
        }
        // Nobody should be able to pay what is being closed, so an attempt of an expired order is cancelled where it can be.
        guard expires, try await fence(order, cause: cause) else { return }
        try await settle(cause) { settlement in
            guard let unlocked = try settlement.tx.order(order) else { return }
            try settlement.tx.lockUser(unlocked.user)
            guard let current = try settlement.tx.lockOrder(order), current.expiresAt <= settlement.now else { return }
            try settlement.close(current, reason: "expired")
        }
    }

    private func query(_ payment: Payment, cause: Cause) async throws(GatewayError) {
        guard let account = registry[payment.processor ?? payment.account] else { return }
        let reference = ProviderReference(payment: payment.id, reference: payment.reference, amount: payment.amount)
        let report = await calls.perform { try? await account.provider.query(reference) }
        guard let report, report.payment == payment.id else { return }
        _ = try await settle(cause) { try $0.apply(.payment(report), from: account.id) }
    }
}
