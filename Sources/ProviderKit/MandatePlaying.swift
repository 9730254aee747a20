public import Domain

/// A provider that plays its own service and can be told how mandates behave; for development.
public protocol MandatePlaying: MandateCharging {
    /// Plays the payer or the bank: `renewals` says how later charges end, `ended=1` ends the mandate.
    ///
    /// - Returns: false for a form that says neither.
    func playOn(_ subscription: ID<Subscription>, form: [String: String]) async throws(ProviderError) -> Bool

    /// Returns what the played service believes about a subscription.
    func playedBook(of subscription: ID<Subscription>) async throws(ProviderError) -> PlayedBook
}

/// The book of a played service about one subscription.
public struct PlayedBook: Sendable, Encodable {
    public struct Charge: Sendable, Encodable {
        public let payment_id: ID<Payment>
        public let subscription_id: ID<Subscription>
        public let period_index: Int64
        public let amount: Money
        public let outcome: String
        public let at: Timestamp

        public init(
            payment_id: ID<Payment>, subscription_id: ID<Subscription>, period_index: Int64, amount: Money,
            outcome: String, at: Timestamp
        ) {
            self.payment_id = payment_id
            self.subscription_id = subscription_id
            self.period_index = period_index
            self.amount = amount
            self.outcome = outcome
            self.at = at
        }
    }

    public struct Mandate: Sendable, Encodable {
        public let subscription_id: ID<Subscription>
        public let state: String

        public init(subscription_id: ID<Subscription>, state: String) {
            self.subscription_id = subscription_id
            self.state = state
        }
    }

    /// The newest charges, oldest first.
    public let charges: [Charge]
    public let mandates: [Mandate]

    public init(charges: [Charge], mandates: [Mandate]) {
        self.charges = charges
        self.mandates = mandates
    }
}

/// A provider with pay pages of its own that also shows set-ups, at `/{kind}/{setup_id}`.
public protocol SetupPageServing: PaymentPageServing {
    /// Returns the page of a set-up; nil where it is unknown.
    func page(setup: ID<Setup>, for visitor: PageVisitor) async throws(ProviderError) -> PaymentPage?

    /// Performs the payer's action from the page's form; nil where the set-up is unknown.
    func act(
        setup: ID<Setup>, form: [String: String], for visitor: PageVisitor
    ) async throws(ProviderError) -> PaymentPage?
}
