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

    package init(
        id: ID<Dispute>, order: ID<Order>, payment: ID<Payment>, reference: String, amount: Money, state: State,
        createdAt: Timestamp
    ) {
        self.id = id
        self.order = order
        self.payment = payment
        self.reference = reference
        self.amount = amount
        self.state = state
        self.createdAt = createdAt
    }
}

extension Dispute.State {
    package struct Move: Sendable, Equatable {
        package let state: Dispute.State
        package let anomaly: Anomaly?
    }

    /// Moves a dispute: it ends once, and an `open` that arrives after the end changes nothing.
    package func applying(_ fact: Dispute.State) -> Move {
        switch (self, fact) {
        case (.open, _): Move(state: fact, anomaly: nil)
        case (_, .open): Move(state: self, anomaly: nil)
        case (.won, .lost), (.lost, .won): Move(state: self, anomaly: .contradictingFact)
        case (.won, .won), (.lost, .lost): Move(state: self, anomaly: nil)
        }
    }
}
