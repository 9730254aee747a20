package import Domain
import ProviderKit
import Store

/// A plan to which a subscription can change.
package struct PortalPlan: Encodable, Sendable {
    package let sku: String
    let name: String
    let description: String
    let amount: Money
    let period: BillingPeriod
    /// True for the plan of the running period.
    let present: Bool
    /// True for the plan of the next period.
    let next: Bool
}

/// Reads what a payer's portal shows beside the answers of the API.
package struct Portal: Sendable {
    let store: StoreAccess
    let providers: ProviderCalling

    /// The names of SKUs in the first of the languages that they have; archived ones too, since they may be owned.
    package func names(of skus: [String], languages: [String]) async throws(GatewayError) -> [String: String] {
        let codes = Set(skus).sorted().compactMap { SKUCode($0) }
        guard !codes.isEmpty else { return [:] }
        let found = try await store.read { db in try db.skus.list(codes) }
        return Dictionary(
            found.values.map { sku in
                let name = sku.localized(for: languages).name
                return (sku.id, name.isBlank ? sku.id : name)
            }
        ) { first, _ in first }
    }

    /// The configured accounts of payments, as a receipt names them.
    package func methods(of accounts: [String]) -> [PaymentMethodView] {
        Set(accounts).sorted().compactMap { AccountID($0).flatMap { providers.registry[$0] } }.compactMap { account in
            let types = account.provider.contractTypes.sorted { $0.rawValue < $1.rawValue }
            return (types.contains(.stripe) ? .stripe : types.first).map { PaymentMethodView(account, $0) }
        }
    }

    /// The plans of a subscription's group on sale in its currency, with its own; none where it cannot change.
    ///
    /// - Throws: `notFound`, also for another user's subscription.
    package func plans(
        of subscription: String, user: ExternalUserID, languages: [String]
    ) async throws(GatewayError) -> [PortalPlan] {
        let found = try await store.read { db -> (ManagedSubscriptionLedger.Standing, [SKU])? in
            guard let id = ID<Subscription>(subscription), let owner = try db.users.findID(user),
                let record = try db.managedSubscriptions.find(id), record.subscription.user == owner,
                record.subscription.hasBegun
            else { return nil }
            return (try ManagedSubscriptionLedger.standing(record, in: db), try db.skus.listActive())
        }
        guard let (standing, skus) = found else { throw .unknown(.subscription, subscription) }
        let own = standing.subscription
        guard own.willRenew, own.failedAt == nil, !standing.facts.hasOpenOrder else { return [] }
        let next = own.change?.sku ?? own.sku
        return skus.filter { $0.renewal == .managed && $0.stackGroup == own.stackGroup }.compactMap { sku in
            let isPresent = sku.id == own.sku.rawValue
            // The plan that runs keeps its own price and period.
            let listed = sku.prices.first { $0.currency == own.price.currency }
            guard let amount = isPresent ? own.price : listed, let period = isPresent ? own.period : sku.period else {
                return nil
            }
            let text = sku.localized(for: languages)
            return PortalPlan(
                sku: sku.id, name: text.name.isBlank ? sku.id : text.name, description: text.description ?? "",
                amount: amount, period: period, present: isPresent, next: sku.id == next.rawValue)
        }
    }
}
