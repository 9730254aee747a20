/// Money on its way back to the payer.
public struct Refund: Identified, Sendable {
    public static let idPrefix = "ref"

    package enum State: String, Sendable, CaseIterable {
        case created, pending, unknown, succeeded, failed
        /// Apple took its own refund back.
        case reversed
    }

    package let id: ID<Refund>
    package let order: ID<Order>
    package let payment: ID<Payment>
    package let amount: Money
    package let reason: String
    package var state: State
    package var reference: String?
    /// True where its amount counts against what was captured; false where a provider gave back more than that.
    package let counted: Bool
    package let createdAt: Timestamp
    /// The time at which its call was sent last; nil before that.
    package var sentAt: Timestamp?

    /// The reason that is stored for a refund of which the provider reported first.
    package static let madeElsewhere = "made at the provider"

    package init(
        id: ID<Refund>, order: ID<Order>, payment: ID<Payment>, amount: Money, reason: String, state: State = .created,
        reference: String? = nil, counted: Bool = true, createdAt: Timestamp, sentAt: Timestamp? = nil
    ) {
        self.id = id
        self.order = order
        self.payment = payment
        self.amount = amount
        self.reason = reason
        self.state = state
        self.reference = reference
        self.counted = counted
        self.createdAt = createdAt
        self.sentAt = sentAt
    }
}

extension Refund.State {
    package enum Fact: String, Sendable, CaseIterable {
        case accepted, succeeded, failed, reversed
        case outcomeUnknown = "outcome_unknown"
    }

    package struct Move: Sendable, Equatable {
        package let state: Refund.State
        package let anomaly: Anomaly?
    }

    /// Moves a refund (`domain.md` section 4).
    ///
    /// A success may bounce later (`failed`) or be taken back by Apple (`reversed`), reported in any order. A success
    /// after a failure is an anomaly: the amount was free again in between.
    package func applying(_ fact: Fact) -> Move {
        switch (self, fact) {
        case (.created, .accepted), (.unknown, .accepted): Move(state: .pending, anomaly: nil)
        case (.created, .outcomeUnknown), (.pending, .outcomeUnknown): Move(state: .unknown, anomaly: nil)
        case (.created, .succeeded), (.pending, .succeeded), (.unknown, .succeeded):
            Move(state: .succeeded, anomaly: nil)
        case (.created, .failed), (.pending, .failed), (.unknown, .failed), (.succeeded, .failed):
            Move(state: .failed, anomaly: nil)
        case (.created, .reversed), (.pending, .reversed), (.unknown, .reversed), (.succeeded, .reversed):
            Move(state: .reversed, anomaly: nil)
        case (.failed, .succeeded): Move(state: self, anomaly: .contradictingFact)
        case (.pending, .accepted), (.unknown, .outcomeUnknown), (.succeeded, _), (.failed, _), (.reversed, _):
            Move(state: self, anomaly: nil)
        }
    }

    /// True where no provider call is owed.
    package var isFinal: Bool { self == .succeeded || self == .failed || self == .reversed }

    /// True where the amount is bound: it may have left or is about to.
    package var isBinding: Bool { self != .failed && self != .reversed }
}
