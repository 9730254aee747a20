import Domain
import Gateway
import HTTPTypes
import Pages

/// Reads what a page of the portal shows: the answers of the API, and the names of what they name.
struct PortalReading {
    let gateway: Gateway
    let caller: AuthenticatedSession
    let languages: [String]
    let query: [String: String]

    private var user: ExternalUserID { caller.user }

    struct Found: Sendable {
        let page: PortalFrame.Page
        var names: [String: String] = [:]
        var accounts: [MethodFacts] = []
        var policy = PagePolicy.Page.other
        /// The path of the page that is shown in its place; nil for none.
        var redirect: String?

        init(_ page: PortalFrame.Page) { self.page = page }
    }

    /// Reads a page.
    ///
    /// - Throws: `orderNotFound`, `unknown` for what is not the user's.
    func read(
        _ place: PortalPlace, orders: Int64, subscriptions: Int64
    ) async throws(GatewayError) -> Found {
        switch place {
        case .overview: try await overview(orders, subscriptions)
        case .order(let id): try await order(id)
        case .subscription(let id): try await subscription(id)
        case .card(let id): try await card(id)
        case .nothing: Found(.message(.unknown))
        }
    }

    private func overview(_ orderLimit: Int64, _ subscriptionLimit: Int64) async throws(GatewayError) -> Found {
        let owned = try await gateway.entitlements.find(user: user).value
        let subscriptions = try await gateway.subscriptions.list(user: user, cursor: nil, limit: subscriptionLimit)
        let orders = try await gateway.orders.list(user: user, cursor: query["cursor"], limit: orderLimit)
        let entitlements: [EntitlementFacts] = try CashierPages.facts(owned.entitlements)
        let held: [SubscriptionFacts] = try CashierPages.facts(subscriptions.items)
        let bought: [OrderFacts] = try CashierPages.facts(orders.items.map(\.withoutMetadata))
        var found = Found(
            .overview(
                OverviewFacts(
                    entitlements: entitlements, balances: owned.balances,
                    testBalances: owned.sandbox_balances, subscriptions: held, orders: bought,
                    nextCursor: orders.nextCursor, isLater: query["cursor"] != nil)))
        found.names = try await names(
            entitlements.map(\.sku) + held.flatMap { [$0.sku, $0.change_to].compactMap(\.self) } + bought.map(\.sku))
        return found
    }

    private func order(_ id: String) async throws(GatewayError) -> Found {
        let order = try await gateway.orders.find(id, user: user).speaking(languages).withoutMetadata
        var facts: OrderFacts = try CashierPages.facts(order)
        facts.tax = order.order.includedTax
        var found = Found(.order(facts))
        found.names = try await names([facts.sku])
        found.accounts = try CashierPages.facts(
            gateway.portal.methods(of: facts.payments.map(\.provider) + [facts.provider].compactMap(\.self)))
        return found
    }

    private func subscription(_ id: String) async throws(GatewayError) -> Found {
        let facts: SubscriptionFacts = try CashierPages.facts(try await gateway.subscriptions.find(id, user: user))
        var plans: [PlanFacts] = []
        if facts.source == SubscriptionSnapshot.Source.paydesk.rawValue {
            plans = try CashierPages.facts(
                try await gateway.portal.plans(of: id, user: user, languages: languages))
        }
        var found = Found(.subscription(facts, plans, look(facts, plans)))
        found.names = try await names([facts.sku, facts.change_to].compactMap(\.self))
        return found
    }

    /// The part of a subscription that the address asks for, where it is there.
    private func look(_ facts: SubscriptionFacts, _ plans: [PlanFacts]) -> PortalFrame.Look {
        switch query["view"] {
        case "cancel" where facts.mayCancel: return .question(.cancel)
        case "plans" where facts.mayChange && plans.count > 1: return .plans
        case "change" where facts.mayChange:
            return plans.first { $0.sku == query["sku"] }.map { .question(.change($0)) } ?? .facts
        default: return .facts
        }
    }

    private func card(_ id: String) async throws(GatewayError) -> Found {
        let facts: SubscriptionFacts = try CashierPages.facts(try await gateway.subscriptions.find(id, user: user))
        let place = PortalPlace.subscription(id).path
        guard facts.source == SubscriptionSnapshot.Source.paydesk.rawValue else {
            return elsewhere(facts, place)
        }
        let ended = query["redirect_status"]
        let page = SubscriptionCardPage(
            address: PortalPlace.card(id, of: caller.id, at: gateway.settings.publicURL),
            isChoosing: query["view"] == "methods", hasReturned: ended != nil && ended != "failed")
        let card = try await gateway.subscriptionActs.card(id, on: page, by: .user(user)).speaking(languages)
        guard card.isRunning || card.state == .paid else { return elsewhere(facts, place) }
        let shown: CardFacts = try CashierPages.facts(card)
        var found = Found(.card(facts, shown))
        found.names = try await names([facts.sku].compactMap(\.self))
        let takesCards = shown.methods.contains { $0.kind == "stripe" && $0.type == .stripe }
        found.policy = takesCards ? .cardCashier : .cashier
        return found
    }

    /// A subscription without a payment method here has its page alone.
    private func elsewhere(_ facts: SubscriptionFacts, _ path: String) -> Found {
        var found = Found(.subscription(facts, [], .facts))
        found.redirect = path
        return found
    }

    private func names(_ skus: [String]) async throws(GatewayError) -> [String: String] {
        try await gateway.portal.names(of: skus, languages: languages)
    }
}
