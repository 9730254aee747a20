package import Domain

/// A session in the form of `docs/api.md` section 13, for the browser that has its token.
package struct SessionSnapshot: Encodable, Sendable {
    package struct Plan: Encodable, Sendable, Equatable {
        package let sku: String
        @Nullable package private(set) var days: Int64?

        init(_ plan: Session.Plan) {
            sku = plan.sku.rawValue
            days = plan.days
        }
    }

    /// The end, or the units, that a paid order gave.
    package struct Granted: Encodable, Sendable, Equatable {
        @Nullable package private(set) var expires_at: Timestamp?
        package let perpetual: Bool
        package let units: [String: Int64]

        init(expiresAt: Timestamp?, isPerpetual: Bool, units: [String: Int64]) {
            expires_at = expiresAt
            perpetual = isPerpetual
            self.units = units
        }
    }

    package let id: ID<Session>
    package let purpose: String
    package let skus: [String]
    @Nullable package private(set) var chosen: Plan?
    package let quantity: Int64
    @Nullable package private(set) var days: Int64?
    @Nullable package private(set) var currency: Currency?
    package let platform: Platform
    @Nullable package private(set) var provider: String?
    package let accept: [ContractType]
    @Nullable package private(set) var return_url: String?
    @Nullable package private(set) var cancel_url: String?
    @Nullable package private(set) var locale: String?
    package let created_at: Timestamp
    package let expires_at: Timestamp
    package let readable_until: Timestamp
    /// nil for a portal.
    @Nullable package private(set) var state: CashierState?
    @Nullable package private(set) var reason: String?
    @Nullable package private(set) var order: OrderSnapshot?
    @Nullable package private(set) var contract: PaymentContract?
    @Nullable package private(set) var granted: Granted?
    /// The sentence of each subscription that Paydesk renews, by SKU.
    package private(set) var terms: SessionTermsBySKU
    /// The place where the subscription that keeps the only SKU from being sold is managed: `app_store`, `paydesk`; left
    /// out where there is none.
    package private(set) var manage: String?
    package let branding: Branding

    /// - Parameter cashier: nil for a portal.
    init(_ session: Session, _ cashier: SessionCashier?, branding: Branding) {
        let sale = session.sale
        id = session.id
        purpose = session.purpose.rawValue
        skus = cashier?.plans.codes.map(\.rawValue) ?? []
        chosen = cashier?.plans.chosen(in: session).map(Plan.init)
        quantity = sale.quantity
        days = sale.days
        currency = sale.currency
        platform = sale.platform
        provider = sale.provider
        accept = ContractType.allCases.filter(sale.accept.contains)
        return_url = sale.returnURL
        cancel_url = sale.cancelURL
        locale = session.locale
        created_at = session.createdAt
        expires_at = session.expiresAt
        readable_until = session.readableUntil
        state = cashier?.standing.state
        reason = cashier?.standing.reason
        order = cashier?.order
        contract = cashier?.contract
        granted = cashier?.granted
        terms = SessionTermsBySKU(cashier?.plans.plans ?? [], locale: session.locale)
        manage = cashier?.plans.manage?.rawValue
        self.branding = branding
    }
}

extension SessionSnapshot {
    /// Returns the session with its texts in the first of the languages that Paydesk has, else in English.
    package func speaking(_ languages: [String]) -> SessionSnapshot {
        var snapshot = self
        snapshot.order = order?.speaking(languages)
        snapshot.terms.locale = SubscriptionLanguage.first(of: languages)
        return snapshot
    }
}

/// The part of a session that only a checkout has.
struct SessionCashier: Sendable {
    let plans: SessionPlans
    let standing: CashierStanding
    let order: OrderSnapshot?
    let contract: PaymentContract?
    let granted: SessionSnapshot.Granted?
}
