import Domain
import Store

/// A payment and its order, both locked until the commit.
struct LockedPayment {
    let order: Order
    let record: PaymentRecord

    var payment: Payment { record.payment }

    /// Returns true for the account of the contract and for the account that charges the payment.
    func belongs(to account: AccountID) -> Bool { payment.account == account || payment.processor == account }

    /// Locks a payment and its order.
    ///
    /// - Returns: nil when there is no such payment.
    static func lock(_ id: ID<Payment>, in tx: any Transaction) throws -> LockedPayment? {
        guard try tx.payments.lockWithOrder(id) else { return nil }
        return try read(id, in: tx)
    }

    /// Reads a payment and its order, whose rows the caller has locked.
    static func read(_ id: ID<Payment>, in tx: any Transaction) throws -> LockedPayment? {
        let (record, order) = (try tx.payments.find(id), try tx.orders.find(of: id))
        guard let order = try order.value(), let record = try record.value() else { return nil }
        return LockedPayment(order: order, record: record)
    }

    /// Returns the second payment that was stored beside this one under the provider's reference, or this one where
    /// there is none.
    func second(under reference: String?, in tx: any Transaction) throws -> LockedPayment {
        guard let reference = reference?.stored(255), reference != payment.reference,
            let record = try tx.payments.find(beside: payment.id, under: reference)
        else { return self }
        return LockedPayment(order: order, record: record)
    }
}
