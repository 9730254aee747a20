import Domain
import ProviderKit
import Store

/// A SKU of a session, with what keeps it from being sold now.
struct SessionPlan: Sendable {
    enum Obstacle: Sendable {
        case archived, noPrice, noAccount, owned
        /// The user had the free SKU already.
        case once
    }

    let sku: SKU
    let code: SKUCode
    /// nil where it can be sold.
    let obstacle: Obstacle?
    /// True where the payer has to choose one of its options first.
    let needsDays: Bool
    /// The managed subscription that it would begin; nil for other SKUs.
    let subscription: SessionSubscription?
}

/// The SKUs of a session at one moment.
struct SessionPlans: Sendable {
    /// The SKUs that its maker named, else every one that is sold on its platform and in its currency.
    let plans: [SessionPlan]
    /// The possibility of a sale to the user.
    let offer: CashierFacts.Offer

    /// - Parameters:
    ///   - considered: the SKUs that the maker named, else all.
    ///   - servesPlatform: true where an enabled account serves the platform.
    init(_ considered: [SessionPlan], areNamed: Bool, servesPlatform: Bool) {
        plans = considered.filter { plan in
            switch plan.obstacle {
            case .archived, .noPrice, .noAccount: areNamed
            case .owned, .once, nil: true
            }
        }
        let obstacles = considered.compactMap(\.obstacle)
        let priced = obstacles.filter { $0 != .noPrice && $0 != .archived }
        offer =
            if obstacles.count < considered.count {
                .sells
            } else if obstacles == [.owned] {
                .owned
            } else if priced.isEmpty {
                .nothing(.currency)
            } else if !servesPlatform {
                .nothing(.platform)
            } else {
                .nothing(priced.contains(.once) ? .once : .noAccount)
            }
    }

    /// The place where the only SKU, which is owned, is managed; nil where nothing has to be managed.
    var manage: SubscriptionSnapshot.Source? { offer == .owned ? plans.first?.subscription?.manage : nil }

    var codes: [SKUCode] { plans.map(\.code) }

    /// Returns the plan that a session has chosen: the only SKU, or the payer's choice.
    func chosen(in session: Session) -> Session.Plan? {
        if let chosen = session.chosen { return chosen }
        guard plans.count == 1, let only = plans.first else { return nil }
        return Session.Plan(sku: only.code, days: session.sale.days)
    }

    /// Returns whether the payer has to choose a plan before a method.
    func needsPlan(in session: Session) -> Bool {
        guard session.chosen == nil else { return false }
        return plans.count > 1 || plans.contains { $0.needsDays && session.sale.days == nil }
    }
}

/// Finds what a session can sell.
struct SessionOffers: Sendable {
    let store: StoreAccess
    let accounts: Accounts
    let secrets: MandateSecrets
    let time: BusinessTime

    /// Reads the SKUs of a session: those that its maker named, else every one that platform and currency can be sold.
    func plans(of caller: AuthenticatedSession) async throws(GatewayError) -> SessionPlans {
        let (session, now) = (caller.session, time.now)
        let (sale, secrets) = (session.sale, secrets)
        let (skus, overrides, grants, had, subscriptions, external) = try await store.read { db in
            let skus: [SKU]
            if sale.skus.isEmpty {
                skus = try db.skus.listActive()
            } else {
                let found = try db.skus.list(sale.skus)
                skus = sale.skus.compactMap { found[$0] }
            }
            let grants = try db.grants.list(of: session.user).value()
            let free = try skus.filter { $0.once == .ever && $0.offeredPrices.contains(where: \.isZero) }
                .compactMap(\.code).filter { try db.orders.hasFree(of: session.user, sku: $0) }
            let subscriptions = try SubscriptionHoldings(of: session.user, skus, at: now, secrets, in: db)
            let external = try sale.externalToken.flatMap { try db.externalPurchases.find($0) }?.token.environment
            return (skus, try db.accounts.listOverrides().value(), grants, Set(free), subscriptions, external)
        }
        let configured = accounts.configured(with: overrides)
        let running = EntitlementRules.fold(grants, now: now).entitlements.filter {
            $0.status.holds || $0.status == .scheduled
        }
        let run = Set(running.filter { $0.grant.environment == .production }.map(\.grant.sku))
        let owned = grants.filter { $0.term == .perpetual && $0.revocation == nil }
        let reading = PlanReading(
            sale: sale, user: caller.user, accounts: configured, owned: owned, hadFree: had, running: run,
            subscriptions: subscriptions, external: external, now: now)
        let serves = configured.contains {
            $0.enabled && $0.routing.weight > 0
                && ($0.routing.platforms.isEmpty || $0.routing.platforms.contains(sale.platform))
        }
        return SessionPlans(
            skus.compactMap(reading.plan), areNamed: !sale.skus.isEmpty, servesPlatform: serves)
    }
}

/// Decides about one SKU after another from facts that were read together.
private struct PlanReading {
    let sale: SessionSale
    let user: ExternalUserID
    let accounts: [ConfiguredAccount]
    /// The user's perpetual grants.
    let owned: [Grant]
    let hadFree: Set<SKUCode>
    /// The SKUs of which the user has a running grant for real money.
    let running: Set<SKUCode>
    let subscriptions: SubscriptionHoldings
    /// The environment of the token with which is sold outside of the App Store; nil for none.
    let external: Environment?
    let now: Timestamp

    func plan(_ sku: SKU) -> SessionPlan? {
        guard let code = sku.code else { return nil }
        let options = sku.options.filter { sale.days == nil || $0.days == sale.days }
        let prices = (sku.options.isEmpty ? sku.prices : options.flatMap(\.prices)).filter {
            $0.currency == sale.currency
        }
        let able = ableAccounts(sku, prices)
        let needsDays =
            !sku.options.isEmpty && sale.days == nil && !able.contains { $0.manifest.goods == .appleProducts }
        let subscription = prices.first.flatMap {
            subscriptions.subscription(to: sku, at: $0, through: able, now: now)
        }
        let obstacle = obstacle(sku, code, prices, able) ?? (subscription?.manage == nil ? nil : .owned)
        return SessionPlan(
            sku: sku, code: code, obstacle: obstacle, needsDays: needsDays, subscription: subscription)
    }

    private func ableAccounts(_ sku: SKU, _ prices: [Money]) -> [ConfiguredAccount] {
        let needs = prices.compactMap { price -> SelectionNeed? in
            guard let amount = try? price.multiplied(by: sale.quantity), !amount.isZero else { return nil }
            var need = SelectionNeed(
                sku, days: sale.days, quantity: sale.quantity, amount: amount, platform: sale.platform,
                accepts: sale.possible, provider: sale.provider, user: user.rawValue)
            if let external { need.sellOutside(in: external) }
            return need
        }
        return accounts.filter { account in needs.contains { Selection.isAble(account, $0, among: accounts) } }
    }

    private func obstacle(
        _ sku: SKU, _ code: SKUCode, _ prices: [Money], _ able: [ConfiguredAccount]
    ) -> SessionPlan.Obstacle? {
        guard sku.active else { return .archived }
        guard !prices.isEmpty else { return .noPrice }
        if prices.contains(where: \.isZero) {
            let isRefused = hadFree.contains(code) || (sku.once != .none && running.contains(code))
            return isRefused ? .once : nil
        }
        guard !able.isEmpty else { return .noAccount }
        guard sku.kind == .nonConsumable else { return nil }
        // The rule of every checkout: what was bought with test money is still sold for real money.
        let environments = Set(owned.filter { $0.sku == code }.map(\.environment))
        let isOwned = environments.contains(.production) || able.allSatisfy { environments.contains($0.environment) }
        return isOwned ? .owned : nil
    }
}
