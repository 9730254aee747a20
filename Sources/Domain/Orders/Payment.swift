/// An attempt to pay an order through one account.
public struct Payment: Identified, Sendable {
    public static let idPrefix = "pay"

    package enum State: String, Sendable, CaseIterable {
        /// The intent is durable; the provider may not know of it yet.
        case created
        case pending
        /// The outcome of a call is not known; a query finds it out.
        case unknown
        case succeeded, failed, cancelled
    }

    package let id: ID<Payment>
    package let order: ID<Order>
    /// The account that made the contract.
    package let account: AccountID
    /// The account that moves the money where it is another one (Apple Pay).
    package let processor: AccountID?
    package let amount: Money
    /// The payer's platform and return address; another attempt of the same order may have others.
    package let platform: Platform
    package let returnURL: String?
    /// `sandbox` where its account was in its provider's test mode when the payment was made.
    package let environment: Environment
    package var state: State
    /// The provider's own id of the payment, once known.
    package var reference: String?
    /// True where a later attempt was opened although this one could not be cancelled for certain.
    package var unfenced: Bool
    /// The opened payment for which a provider reported this further money, and whose id the provider knows; nil for an
    /// opened payment.
    package let original: ID<Payment>?
    package let createdAt: Timestamp

    package init(
        id: ID<Payment>, order: ID<Order>, account: AccountID, processor: AccountID? = nil, amount: Money,
        platform: Platform, returnURL: String?, environment: Environment, state: State = .created,
        reference: String? = nil,
        unfenced: Bool = false, original: ID<Payment>? = nil, createdAt: Timestamp
    ) {
        self.id = id
        self.order = order
        self.account = account
        self.processor = processor
        self.amount = amount
        self.platform = platform
        self.returnURL = returnURL
        self.environment = environment
        self.state = state
        self.reference = reference
        self.unfenced = unfenced
        self.original = original
        self.createdAt = createdAt
    }
}

extension Payment {
    /// The id under which the provider knows this payment.
    package var number: ID<Payment> { original ?? id }
}

extension Payment.State {
    /// A provider's statement about a payment, without its amounts.
    package enum Fact: String, Sendable, CaseIterable {
        case accepted, succeeded, failed, cancelled
        case outcomeUnknown = "outcome_unknown"
    }

    /// The effect of a fact on a payment; an unchanged state with no anomaly is a duplicate or a fact overtaken by a
    /// later one.
    package struct Move: Sendable, Equatable {
        package let state: Payment.State
        package let anomaly: Anomaly?
    }

    /// The transition table of `domain.md` section 3.
    package func applying(_ fact: Fact) -> Move {
        switch (self, fact) {
        case (.created, .accepted), (.unknown, .accepted): Move(state: .pending, anomaly: nil)
        case (.created, .outcomeUnknown), (.pending, .outcomeUnknown): Move(state: .unknown, anomaly: nil)
        case (.created, .succeeded), (.pending, .succeeded), (.unknown, .succeeded):
            Move(state: .succeeded, anomaly: nil)
        case (.created, .failed), (.pending, .failed), (.unknown, .failed): Move(state: .failed, anomaly: nil)
        case (.created, .cancelled), (.pending, .cancelled), (.unknown, .cancelled):
            Move(state: .cancelled, anomaly: nil)
        case (.failed, .succeeded): Move(state: .succeeded, anomaly: .revivedPayment)
        case (.cancelled, .succeeded): Move(state: .succeeded, anomaly: .latePayment)
        case (.succeeded, .failed), (.succeeded, .cancelled): Move(state: self, anomaly: .contradictingFact)
        case (.pending, .accepted), (.unknown, .outcomeUnknown), (.failed, _), (.cancelled, _), (.succeeded, _):
            Move(state: self, anomaly: nil)
        }
    }

    /// True where no provider call is owed and no money is expected.
    package var isFinal: Bool { self == .succeeded || self == .failed || self == .cancelled }
}
