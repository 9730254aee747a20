/// A payer's complaint to the bank or wallet.
public struct Dispute: Identified, Sendable {
    public static let idPrefix = "dsp"

    package enum State: String, Sendable, CaseIterable {
        case open, won, lost
    }

    package let id: ID<Dispute>
    package let order: ID<Order>
    package let payment: ID<Payment>
    /// The provider's id of it, or the payment's where the provider names none.
    package let reference: String
    package let amount: Money
    package var state: State
    package let createdAt: Timestamp
    /// The provider's time of the current state.
    package var toldAt: Timestamp

    package init(
        id: ID<Dispute>, order: ID<Order>, payment: ID<Payment>, reference: String, amount: Money, state: State,
        createdAt: Timestamp, toldAt: Timestamp
    ) {
        self.id = id
        self.order = order
        self.payment = payment
        self.reference = reference
        self.amount = amount
        self.state = state
        self.createdAt = createdAt
        self.toldAt = toldAt
    }
}

extension Dispute {
    /// Returns whether a newer statement replaces the current state.
    ///
    /// The latest time counts, and any state can be left again: a decision can be appealed, and a closed dispute
    /// re-opened. Within one second an end counts over `open`, and `lost` over `won`, so that the order of arrival does
    /// not matter; only a dispute that was open before its end is re-opened by another statement of that second.
    ///
    /// - Parameter wasOpen: true where an earlier statement opened it.
    package func isFollowed(by next: State, at time: Timestamp, wasOpen: Bool) -> Bool {
        if time == toldAt, next == .open, wasOpen { return state != .open }
        return (time, next.finality) > (toldAt, state.finality)
    }
}

extension Dispute.State {
    fileprivate var finality: Int {
        switch self {
        case .open: 0
        case .won: 1
        case .lost: 2
        }
    }
}
