package import Domain

/// The members of `data` of `GET /v1/public/session` that the cashier shows.
///
/// The page is drawn from the answer that its module gets, so that both show the same.
package struct SessionFacts: Decodable, Sendable {
    package struct Plan: Decodable, Sendable {
        let sku: String
        let days: Int64?
    }

    package struct Granted: Decodable, Sendable {
        let expires_at: Timestamp?
        let perpetual: Bool
    }

    package let id: String
    package let skus: [String]
    let chosen: Plan?
    let quantity: Int64
    let days: Int64?
    package let currency: Currency?
    package let return_url: String?
    package let cancel_url: String?
    package let expires_at: Timestamp
    package let state: CashierState?
    package let reason: String?
    package let order: OrderFacts?
    package let contract: ContractFacts?
    let granted: Granted?
    package let terms: [String: String]
    let manage: String?
}

/// An order as a session sees it.
package struct OrderFacts: Decodable, Sendable {
    package struct Attempt: Decodable, Sendable {
        package struct Failure: Decodable, Sendable {
            let reason: String
            let message: String
        }

        let id: String
        package let provider: String
        let status: String
        let failure: Failure?
    }

    struct RefundLine: Decodable, Sendable {
        let status: String
        let amount: Money
        let created_at: Timestamp
    }

    package let id: String
    package let status: String
    let next_action: String
    let origin: String?
    package let sku: String
    let quantity: Int64
    let days: Int64?
    let environment: String
    let amount: Money?
    let charged: Money?
    let refunded: Money?
    /// The tax that the charge contains; nil where it is not known.
    package var tax: Money?
    package let provider: String?
    package let subscription_id: String?
    let created_at: Timestamp?
    let paid_at: Timestamp?
    package let payments: [Attempt]
    let refunds: [RefundLine]?

    /// True where a store has sold it.
    var isFromStore: Bool { origin == "purchase" }

    var newest: Attempt? { payments.last }
}

/// The contract of an open order.
package struct ContractFacts: Decodable, Sendable {
    struct Stripe: Decodable, Sendable {
        let publishable_key: String
        let client_secret: String?
    }

    let type: ContractType
    let payment_id: String?
    let setup_id: String?
    let setup: Bool?
    let provider: String?
    let status: String
    let amount: Money
    let expires_at: Timestamp?
    let checkout_url: String?
    let qr_image_url: String?
    let product_ids: [String]?
    let stripe: Stripe?
}

/// The length of a subscription's period.
package struct PeriodFacts: Decodable, Sendable {
    let unit: String
    let count: Int64
}

/// A product as `GET /v1/public/products` shows it.
package struct ProductFacts: Decodable, Sendable {
    struct Option: Decodable, Sendable {
        let days: Int64
        let prices: [Money]
    }

    package let sku: String
    let name: String
    let description: String
    let kind: SKU.Kind?
    let duration_days: Int64?
    let prices: [Money]
    let options: [Option]
    let owned: Bool
    let renewal: String?
    let period: PeriodFacts?
    let trial_days: Int64?

    /// Makes the product of a SKU that is no longer on offer.
    init(unknown sku: String) {
        (self.sku, name, description, kind, duration_days) = (sku, sku, "", nil, nil)
        (prices, options, owned, renewal, period, trial_days) = ([], [], false, nil, nil, nil)
    }

    /// Makes the product of a subscription that runs.
    init(managed sku: String, name: String, _ period: PeriodFacts?) {
        (self.sku, self.name, description, kind, duration_days) = (sku, name, "", .subscription, nil)
        (prices, options, owned, renewal, self.period, trial_days) = ([], [], true, "managed", period, nil)
    }

    var isManaged: Bool { renewal == "managed" }
}

/// A way to pay as `GET /v1/public/payment-methods` shows it.
package struct MethodFacts: Decodable, Sendable {
    package let account: String
    package let kind: String
    let display_name: String
    package let type: ContractType
}

/// The merchant's appearance, as in `branding` of a session.
package struct BrandingFacts: Decodable, Sendable {
    let name: String
    let logo_url: String?
    let support_url: String?
    let terms_url: String?
    let privacy_url: String?
    let merchant_lines: [String]
    let test: Bool
}
