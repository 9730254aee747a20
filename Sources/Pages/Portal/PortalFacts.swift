import Domain

/// A thing that a user owns, as `GET /v1/public/entitlements` shows it.
package struct EntitlementFacts: Decodable, Sendable {
    let id: String
    package let sku: String
    let status: String
    let starts_at: Timestamp
    let expires_at: Timestamp?
    let perpetual: Bool
    let will_renew: Bool
}

/// A subscription, as `GET /v1/public/subscriptions/{id}` shows it.
package struct SubscriptionFacts: Decodable, Sendable {
    struct PaymentMethod: Decodable, Sendable {
        let label: String?
        let brand: String?
        let last4: String?
    }

    struct PriceChange: Decodable, Sendable {
        let amount: Money
        let applies_at: Timestamp
    }

    package let id: String
    package let source: String
    package let sku: String?
    let status: String
    let product_id: String?
    let will_renew: Bool
    let expires_at: Timestamp
    let grace_expires_at: Timestamp?
    let environment: String
    let is_family_shared: Bool
    package let orders: [String]
    let period: PeriodFacts?
    let trial: Bool
    let next_charge_at: Timestamp?
    let next_amount: Money?
    let cancel_at_period_end: Bool
    package let change_to: String?
    let price_change: PriceChange?
    let failed_at: Timestamp?
    let refusal: String?
    let payment_method: PaymentMethod?
    let ended_at: Timestamp?
    let end_reason: String?

    var isManaged: Bool { source == "paydesk" }
    /// True where Paydesk goes on charging, or may again.
    var isRunning: Bool { isManaged && ended_at == nil && !["expired", "revoked"].contains(status) }
    /// True where a charge was refused and the payer can pay here.
    var isRefused: Bool { isRunning && !cancel_at_period_end && failed_at != nil }
    package var mayCancel: Bool { isRunning && !cancel_at_period_end }
    package var mayChange: Bool { isRunning && will_renew && failed_at == nil }

    func mayResume(at now: Timestamp) -> Bool { isRunning && cancel_at_period_end && now < expires_at }
}

/// A plan to which a subscription can change.
package struct PlanFacts: Decodable, Sendable {
    package let sku: String
    let name: String
    let description: String
    let amount: Money
    let period: PeriodFacts
    let present: Bool
    let next: Bool
}

/// The state of the page of a payment method.
package struct CardFacts: Decodable, Sendable {
    /// `methods`, `open`, `checking` or `paid`.
    package let state: String
    package let isRunning: Bool
    package let order_id: String?
    let amount: Money?
    package let contract: ContractFacts?
    let failed: String?
    let failure: OrderFacts.Attempt.Failure?
    package let methods: [MethodFacts]
}

/// The facts of the overview.
package struct OverviewFacts: Sendable {
    let entitlements: [EntitlementFacts]
    /// Units of consumables, by name.
    let balances: [String: Int64]
    /// Units that were bought in tests, which cannot be spent together with the others.
    let testBalances: [String: Int64]
    let subscriptions: [SubscriptionFacts]
    let orders: [OrderFacts]
    /// The cursor of the orders that follow; nil on the last page.
    let nextCursor: String?
    /// True where newer orders stand on another page.
    let isLater: Bool

    package init(
        entitlements: [EntitlementFacts], balances: [String: Int64], testBalances: [String: Int64],
        subscriptions: [SubscriptionFacts], orders: [OrderFacts], nextCursor: String?, isLater: Bool
    ) {
        self.entitlements = entitlements
        self.balances = balances
        self.testBalances = testBalances
        self.subscriptions = subscriptions
        self.orders = orders
        self.nextCursor = nextCursor
        self.isLater = isLater
    }
}
