package import Domain
import ProviderKit
import Store

/// Payments with another amount than their order's.
package struct Mismatches: Sendable {
    let settlements: SettlementRunner
    let orders: Orders

    /// Resolves a payment with another amount: the order counts as paid with it, or it is refunded.
    ///
    /// - Throws: `orderNotFound`, `notFound` for an unknown number, `conflict` where it is already resolved, or it
    ///   should pay an order that is already paid.
    package func settle(
        _ order: String, _ n: Int64, _ act: Mismatch.Act, reason: String, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        // An earlier run under the same key has resolved it; its answer was lost.
        if context.resumed != nil { return try await orders.snapshot(id, audience: .admin) }
        try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            guard let unlocked = try tx.orders.find(id) else { throw GatewayError.orderNotFound(order) }
            try tx.users.lock(unlocked.user)
            guard let current = try tx.orders.lock(id), let found = try tx.mismatches.find(n, of: id) else {
                throw GatewayError.notFound
            }
            guard found.state == .open else {
                throw GatewayError.conflict(reason: "it was \(found.state.rawValue) before")
            }
            guard act == .giveBack || current.state != .paid else {
                throw GatewayError.conflict(reason: "the order is paid; return the money")
            }
            try settlement.payments.resolve(found, act)
            try settlement.log.audit(
                current, "mismatch.\(act.state.rawValue)", before: "\(n) of \(found.payment) \(found.amount)",
                after: act.state.rawValue, reason: reason)
            try tx.bind(context, to: id.rawValue)
        }
        return try await orders.snapshot(id, audience: .admin)
    }
}
