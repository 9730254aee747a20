package import Domain
package import ProviderKit
import Store

/// A SKU priced for a request, with the accounts that can take the payment, best first.
struct Offer: Sendable {
    let sku: SKU
    let code: SKUCode
    let quote: Quote
    let candidates: CandidateAccounts
    /// The sale outside of the App Store; nil for others.
    var external: ExternalTerms?

    /// The terms of the order, with the SKU's name in the payer's language where the SKU has it.
    func terms(in locale: String?) -> OrderTerms {
        guard let locale else { return quote.terms }
        var terms = quote.terms
        terms.name = sku.localized(for: [locale]).name
        return terms
    }
}

/// Prices SKUs and finds the accounts that can take their payment.
struct Offers: Sendable {
    let store: StoreAccess
    let accounts: Accounts
    let time: BusinessTime

    /// Prices a SKU and finds the accounts that can take the payment.
    ///
    /// - Throws: `skuNotFound`, `invalidRequest` naming the field that does not fit the SKU.
    func offer(_ request: CheckoutRequest, user: ExternalUserID) async throws(GatewayError) -> Offer {
        guard let code = SKUCode(request.sku) else { throw .skuNotFound(request.sku) }
        let (found, overrides) = try await skuAndOverrides(code)
        guard let sku = found, sku.active else { throw .skuNotFound(request.sku) }
        let (quote, appleOnly) = try quote(sku, request)
        let external = try await external(request, sku)
        var need = SelectionNeed(
            sku, days: quote.days, quantity: request.quantity, amount: quote.amount, platform: request.platform,
            accepts: appleOnly ? request.accept.intersection([.appleIAP]) : request.accept, provider: request.provider,
            user: user.rawValue)
        if let external { need.sellOutside(in: external.token.environment) }
        let candidates = candidates(for: need, with: overrides)
        if appleOnly && candidates.accounts.isEmpty {
            throw .invalidRequest(field: "days", reason: Self.optionIsNeeded(of: sku))
        }
        return Offer(sku: sku, code: code, quote: quote, candidates: candidates, external: external)
    }

    /// Checks the claim that a checkout is sold outside of the App Store; nil where it makes none.
    private func external(_ request: CheckoutRequest, _ sku: SKU) async throws(GatewayError) -> ExternalTerms? {
        guard let claim = request.external else { return nil }
        var kept: ExternalToken?
        if case .kept(let id) = claim.token {
            kept = try await store.read { db in try db.externalPurchases.find(id) }
        }
        return try ExternalAccounts(registry: accounts.providers.registry).terms(
            claim, sku, request.currency, kept: kept, at: time.now)
    }

    /// Reads a SKU and the admins' changes of accounts together.
    private func skuAndOverrides(_ code: SKUCode) async throws(GatewayError) -> (SKU?, [StoredOverride]) {
        try await store.read { db in
            let overrides = try db.accounts.listOverrides()
            return (try db.skus.find(code), try overrides.value())
        }
    }

    /// Prices a SKU; a pattern SKU without `days` can only be sold by Apple, which then offers every option.
    private func quote(_ sku: SKU, _ request: CheckoutRequest) throws(GatewayError) -> (Quote, appleOnly: Bool) {
        func price(appleOffersAll: Bool) throws(QuoteFault) -> Quote {
            try sku.quote(
                quantity: request.quantity, days: request.days, currency: request.currency,
                appleOffersAll: appleOffersAll)
        }
        do throws(QuoteFault) {
            return (try price(appleOffersAll: false), false)
        } catch .days where request.days == nil && request.accept.contains(.appleIAP) {
            do throws(QuoteFault) { return (try price(appleOffersAll: true), true) } catch { throw fault(error, sku) }
        } catch {
            throw fault(error, sku)
        }
    }

    private func fault(_ fault: QuoteFault, _ sku: SKU) -> GatewayError {
        switch fault {
        case .quantity: .invalidRequest(field: "quantity", reason: "\(sku.id) is not sold in this quantity")
        case .days: .invalidRequest(field: "days", reason: Self.optionIsNeeded(of: sku))
        case .currency: .invalidRequest(field: "currency", reason: Self.otherCurrency(than: sku))
        }
    }

    /// Finds the accounts that can take another payment of an order.
    func candidates(
        for order: Order, _ amount: Money, _ request: RetryRequest, user: ExternalUserID
    ) async throws(GatewayError) -> CandidateAccounts {
        let (found, overrides) = try await skuAndOverrides(order.sku)
        guard let sku = found else { throw .skuNotFound(order.sku.rawValue) }
        // An order without an option can only be completed by a product that Apple sells.
        let needsApple = order.days == nil && !sku.options.isEmpty
        var need = SelectionNeed(
            sku, days: order.days, quantity: order.quantity, amount: amount, platform: request.platform,
            accepts: needsApple ? request.accept.intersection([.appleIAP]) : request.accept, provider: request.provider,
            user: user.rawValue)
        if order.external != nil { need.sellOutside(in: order.environment) }
        if let period = order.period {
            (need.isManaged, need.renewer) = (true, .paydesk)
            // The mandate that a payment leaves is charged at the subscription's account.
            if order.origin == .renewal { need.account = try await account(of: period.subscription) }
        } else if need.isManaged {
            need.renewer = .store
        }
        return candidates(for: need, with: overrides)
    }

    private func account(of subscription: ID<Subscription>) async throws(GatewayError) -> AccountID? {
        try await store.read { db in try db.managedSubscriptions.find(subscription)?.subscription.account }
    }

    /// Selects the accounts that can take a payment now, or the reason why each cannot.
    private func candidates(for need: SelectionNeed, with overrides: [StoredOverride]) -> CandidateAccounts {
        let configured = accounts.configured(with: overrides)
        var unhealthy = accounts.providers.load.unhealthy
        // An account whose payments another account charges is of no use while that one is unhealthy.
        unhealthy.formUnion(configured.filter { $0.processor.map(unhealthy.contains) ?? false }.map(\.id))
        let able = Selection.candidates(configured, for: need, avoiding: unhealthy)
        guard able.isEmpty else {
            return CandidateAccounts(
                accounts: able, need: need, insists: able.first.map { unhealthy.contains($0.id) } ?? false)
        }
        let refusals = configured.compactMap { account in
            Selection.refusal(of: account, need, among: configured).map {
                AccountRefusal(account: account.id, reason: $0)
            }
        }
        return CandidateAccounts(accounts: [], need: need, insists: false, refusals: refusals)
    }

    private static func otherCurrency(than sku: SKU) -> LocalizedText {
        let text: LocalizedText = "\(sku.id) has no price in this currency"
        return text.with("allowed", .array(sku.currencies.map { .string($0.code) }))
    }

    private static func optionIsNeeded(of sku: SKU) -> LocalizedText {
        let text: LocalizedText = "one of this SKU's options must be named"
        return text.with("allowed", .array(sku.options.map { .integer($0.days) }))
    }
}

extension SelectionNeed {
    /// Makes the requirements of the sale of a SKU.
    init(
        _ sku: SKU, days: Int64? = nil, quantity: Int64 = 1, amount: Money, platform: Platform,
        accepts: Set<ContractType> = Set(ContractType.allCases), provider: String? = nil, user: String
    ) {
        self.init(
            sku: sku.id, kind: sku.kind, sellsOnePeriod: sku.renewal == .onePeriod,
            hasAppleProducts: !sku.appleOffer(days: days).isEmpty, quantity: quantity, amount: amount,
            platform: platform, accepts: accepts, provider: provider, user: user)
        isManaged = sku.renewal == .managed
        mayLeaveStore = sku.physical
    }

    /// Restricts the sale to accounts outside of the App Store in one environment.
    mutating func sellOutside(in environment: Environment) {
        self.environment = environment
        mayLeaveStore = true
        accepts.remove(.appleIAP)
    }
}

/// The accounts that a payment may try, best first; where there is none, the reason of each.
struct CandidateAccounts: Sendable {
    /// The accounts whose provider renews as that of the first does, or does not, where the SKU's renewals depend on it.
    ///
    /// The order of a managed SKU begins a subscription of Paydesk's, or awaits the store's.
    var renewingAlike: CandidateAccounts {
        guard need.isManaged, let first = accounts.first else { return self }
        var alike = self
        alike.accounts.removeAll { $0.manifest.recurring != first.manifest.recurring }
        return alike
    }

    var accounts: [ConfiguredAccount]
    let need: SelectionNeed
    /// True where every possible account is unhealthy, so that they are tried all the same.
    var insists: Bool
    /// The reason of each account that cannot take the payment; empty where one can.
    var refusals: [AccountRefusal] = []

    /// Returns the error of a request for which there is no account.
    ///
    /// - Parameter showsAccounts: true for a caller who may see how payments are routed.
    func refusal(showsAccounts: Bool) -> GatewayError {
        let order = SelectionRefusal.allCases
        let nearest = refusals.map(\.reason).max {
            (order.firstIndex(of: $0) ?? 0) < (order.firstIndex(of: $1) ?? 0)
        }
        return .noProvider(NoProvider(reason: nearest, accounts: showsAccounts ? refusals : []))
    }
}

/// An account that cannot take a payment, with the reason.
package struct AccountRefusal: Sendable, Equatable {
    package let account: AccountID
    package let reason: SelectionRefusal
}

/// The reasons why no account can take a payment.
package struct NoProvider: Sendable, Equatable {
    /// The reason of the best candidate; nil where no account is configured.
    package let reason: SelectionRefusal?
    /// The reason of each account; empty for callers who may not see how payments are routed.
    package let accounts: [AccountRefusal]

    package init(reason: SelectionRefusal?, accounts: [AccountRefusal]) {
        self.reason = reason
        self.accounts = accounts
    }
}
