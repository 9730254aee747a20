package import Domain
import ProviderKit
import Store

/// Refunds of paid orders.
package struct Refunds: Sendable {
    let settlements: SettlementRunner
    let orders: Orders
    let sending: RefundSending

    /// Refunds money of an order; the database reserves the amount before the provider is called.
    ///
    /// - Parameters:
    ///   - amount: nil refunds all that is left of one payment, a second payment of the order first.
    ///   - partner: limits the orders to those of the partner and those that no partner made; nil for all orders.
    /// - Throws: `orderNotFound`, `invalidRequest`, `refundExceedsCaptured`, `providerRejected` (no money was
    ///   returned), `providerUnavailable` (the refund is not lost: a request with the same key, or a refresh, continues
    ///   it).
    package func request(
        _ order: String, amount: Money?, reason: String, visibleTo partner: String? = nil, context: CallContext
    ) async throws(GatewayError) -> RefundView {
        let audit = context.audit
        if let partner { _ = try await orders.find(order, visibleTo: partner) }
        if let refund = context.resumed.flatMap(ID<Refund>.init) {
            return try await sending.send(refund, audit: audit)
        }
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        guard (amount?.value ?? 1) > 0 else {
            throw .invalidRequest(field: "amount", reason: "must be positive")
        }
        let refund = try await settlements.run(audit) { settlement in
            let tx = settlement.tx
            guard let unlocked = try tx.orders.find(id) else { throw GatewayError.orderNotFound(order) }
            try tx.users.lock(unlocked.user)
            guard let target = try tx.orders.lock(id).flatMap({ try Self.refundable($0, amount, in: tx) }) else {
                // Only Apple refunds its customers; money that another provider was paid as well is not Apple's.
                if try tx.purchases.exists(for: id).value() {
                    throw GatewayError.providerRejected(reason: "refund_by_apple_only")
                }
                throw GatewayError.refundExceedsCaptured
            }
            guard let record = try tx.payments.lock(target), record.refundable > 0 else {
                throw GatewayError.refundExceedsCaptured
            }
            let currency = record.payment.amount.currency
            guard amount == nil || amount?.currency == currency else {
                throw GatewayError.invalidRequest(field: "amount", reason: .orderCurrency(currency))
            }
            let wanted = amount ?? Money(value: record.refundable, currency: currency)
            guard let refund = try settlement.refunds.open(wanted, of: record.payment, reason: reason) else {
                throw GatewayError.refundExceedsCaptured
            }
            try tx.bind(context, to: refund.id.rawValue)
            return refund.id
        }
        return try await sending.send(refund, audit: audit)
    }
}

extension Refunds {
    /// Chooses the payment that a refund takes from: a second payment with enough left, else the one that paid the
    /// order.
    ///
    /// A second payment is refunded first, so that the customer keeps what the other payment bought.
    private static func refundable(
        _ order: Order, _ amount: Money?, in tx: any Transaction
    ) throws -> ID<Payment>? {
        let records = try tx.payments.list(of: order.id).value().filter { $0.refundable > 0 }
        let (paying, held) = (
            records.first { $0.payment.id == order.paidBy }, records.filter { $0.payment.id != order.paidBy }
        )
        return (held.first { $0.refundable >= amount?.value ?? 0 } ?? paying ?? held.first)?.payment.id
    }
}

/// A refund as an admin sees it.
package struct RefundView: Encodable, Sendable {
    package let refund: Refund

    private enum CodingKeys: String, CodingKey {
        case id, order_id, payment_id, status, amount, reference, reason, created_at
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(refund.id, forKey: .id)
        try fields.encode(refund.order, forKey: .order_id)
        try fields.encode(refund.payment, forKey: .payment_id)
        try fields.encode(refund.state.rawValue, forKey: .status)
        try fields.encode(refund.amount, forKey: .amount)
        try fields.encode(refund.reference, forKey: .reference)
        try fields.encode(refund.reason, forKey: .reason)
        try fields.encode(refund.createdAt, forKey: .created_at)
    }
}
