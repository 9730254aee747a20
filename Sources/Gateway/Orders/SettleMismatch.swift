package import Domain
import ProviderKit
import Store

extension Gateway {
    /// Settles money that came with another amount: it pays the order with what came, or goes back.
    ///
    /// - Throws: `orderNotFound`, `notFound` for an unknown number, `conflict` where it is settled, or the order is paid and
    ///   it is to pay it.
    package func settleMismatch(
        _ order: String, _ n: Int64, _ act: Mismatch.Act, reason: String, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        // A run under the same key has settled it; its answer was lost.
        if context.resumed != nil { return try await snapshot(id, audience: .admin) }
        try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
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
        return try await snapshot(id, audience: .admin)
    }
}
