import Domain
import Store

/// A request's attempt to get a contract for an order.
struct CheckoutAttempt: Sendable {
    let order: ID<Order>
    let request: RetryRequest
    let context: CallContext
    /// True for a checkout, whose key is bound to its order; the key of a retry is bound to its payment.
    let isCheckout: Bool

    /// Keeps the run's key where the run continues with another payment.
    ///
    /// - Throws: `requestInProgress` where another run has taken the key over.
    func keepKey(for payment: ID<Payment>, in tx: any Transaction, at now: Timestamp) throws {
        try tx.rebind(context, to: isCheckout ? order.rawValue : payment.rawValue, at: now)
    }
}
