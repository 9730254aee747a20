package import Domain
import Store

/// A dispute in an admin's list.
package struct DisputeView: Encodable, Sendable {
    let id: ID<Dispute>
    let order_id: ID<Order>
    let payment_id: ID<Payment>
    /// The internal id; it is replaced by the app's own id where it is shown.
    let user_id: ID<User>
    let status: String
    let amount: Money
    let created_at: Timestamp
}

/// The disputes of all orders.
package struct Disputes: Sendable {
    let store: StoreAccess

    /// Lists disputes, newest first; a nil state lists all.
    package func list(
        _ state: Dispute.State?, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<DisputeView> {
        let cursor = try Cursor(cursor, of: Dispute.self)
        let found = try await store.report { db in
            try db.disputes.list(state, before: cursor.position, limit: limit + 1).map { dispute, user in
                DisputeView(
                    id: dispute.id, order_id: dispute.order, payment_id: dispute.payment, user_id: user,
                    status: dispute.state.rawValue, amount: dispute.amount, created_at: dispute.createdAt)
            }
        }
        return Page(found, limit: limit) { $0.id.rawValue }
    }
}
