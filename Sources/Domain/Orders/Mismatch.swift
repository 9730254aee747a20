/// Money that arrived for a payment in another amount than was asked, until an admin decides about it.
package struct Mismatch: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case open, accepted, returned
    }

    /// The admin's decision about a mismatch.
    package enum Act: String, Sendable, CaseIterable {
        /// Applies the money to the order.
        case accept
        /// Refunds the money.
        case giveBack = "return"

        package var state: State { self == .accept ? .accepted : .returned }
    }

    package let order: ID<Order>
    /// The number of this mismatch among those of its order, from 1.
    package let n: Int64
    package let payment: ID<Payment>
    /// The provider's own id of the money; empty where it named none.
    package let reference: String
    package let amount: Money
    package let at: Timestamp
    package let state: State

    package init(
        order: ID<Order>, n: Int64, payment: ID<Payment>, reference: String, amount: Money, at: Timestamp, state: State
    ) {
        self.order = order
        self.n = n
        self.payment = payment
        self.reference = reference
        self.amount = amount
        self.at = at
        self.state = state
    }
}
