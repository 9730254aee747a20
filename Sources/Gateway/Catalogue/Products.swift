package import Domain
import ProviderKit
package import Store

/// A SKU as a frontend sees it.
package struct ProductView: Sendable {
    package let sku: SKU
    package let localization: SKU.Localization
    package let owned: Bool
    /// The days of the trial that this user would have; 0 for none.
    package let trialDays: Int64
}

extension Catalogue {
    /// The SKUs on offer, localized, by ascending number.
    ///
    /// - Parameters:
    ///   - user: the user whose own SKUs are marked; nil marks none.
    ///   - platform: leaves out SKUs that no enabled account could sell there; a free SKU is always shown.
    ///   - currency: keeps the SKUs that are priced in it.
    package func products(
        user: ExternalUserID?, platform: Platform?, currency: Currency?, languages: [String]
    ) async throws(GatewayError) -> [ProductView] {
        let (settlements, environment) = (settlements, trialEnvironment)
        let (skus, overrides, grants, trials) = try await store.read { db in
            let id = try user.flatMap { try db.users.findID($0) }
            let skus = try db.skus.listActive()
            return (
                skus, try db.accounts.listOverrides().value(), try id.map { try db.grants.list(of: $0).value() } ?? [],
                try TrialDays(of: id, environment, settlements.billing.secrets, in: db).ofAll(skus)
            )
        }
        let accounts = accounts.configured(with: overrides)
        let owned = Set(grants.filter { $0.term == .perpetual && $0.revocation == nil }.map(\.sku.rawValue))
        return skus.filter { sku in
            let wanted = sku.offeredPrices.filter { currency == nil || $0.currency == currency }
            guard !wanted.isEmpty else { return false }
            guard let platform else { return true }
            return wanted.contains { price in
                price.isZero || isSold(sku, at: price, on: platform, by: accounts)
            }
        }.map { sku in
            ProductView(
                sku: sku, localization: sku.localized(for: languages), owned: owned.contains(sku.id),
                trialDays: trials[sku.id] ?? 0)
        }
    }

    /// The environment in which a managed SKU is sold first: that of the accounts that charge mandates.
    private var trialEnvironment: Environment {
        let able = accounts.providers.registry.accounts.filter { $0.manifest.mandates }
        return able.isEmpty || able.contains { $0.environment == .production } ? .production : .sandbox
    }

    /// The active SKUs that no enabled account could sell on any platform.
    package func unsoldSKUs() async throws(GatewayError) -> [SKU] {
        let (skus, overrides) = try await store.read { db in
            (try db.skus.listActive(), try db.accounts.listOverrides().value())
        }
        let accounts = accounts.configured(with: overrides)
        return skus.filter { sku in
            !sku.offeredPrices.contains { price in
                price.isZero || Platform.allCases.contains { isSold(sku, at: price, on: $0, by: accounts) }
            }
        }
    }

    /// The prices that some account could charge but for their amount: too many digits, below its minimum or above its
    /// maximum.
    package func unchargeablePrices() async throws(GatewayError) -> [(sku: String, price: Money)] {
        let (skus, overrides) = try await store.read { db in
            (try db.skus.listActive(), try db.accounts.listOverrides().value())
        }
        let accounts = accounts.configured(with: overrides)
        return skus.flatMap { sku in
            sku.offeredPrices.filter { price in
                let needs = Platform.allCases.map { SelectionNeed(sku, amount: price, platform: $0, user: "") }
                func isAble(whateverAmount: Bool) -> Bool {
                    needs.contains { need in
                        accounts.contains {
                            Selection.isAble($0, need, among: accounts, whateverAmount: whateverAmount)
                        }
                    }
                }
                return !price.isZero && isAble(whateverAmount: true) && !isAble(whateverAmount: false)
            }.map { (sku: sku.id, price: $0) }
        }
    }

    private func isSold(_ sku: SKU, at price: Money, on platform: Platform, by accounts: [ConfiguredAccount]) -> Bool {
        let need = SelectionNeed(sku, amount: price, platform: platform, user: "")
        return accounts.contains { Selection.isAble($0, need, among: accounts) }
    }

    /// The products of stored purchases that give nothing, because no SKU names them or their SKU has no duration; the
    /// latest purchase first.
    ///
    /// The catalogue is read as well, because an unclaimed purchase has no SKU even where one names its product by now.
    /// - Parameter bound: the number of products that are read.
    package func unknownProducts(bound: Int64 = 1_000) async throws(GatewayError) -> [UnknownProduct] {
        try await store.report { db in
            try db.purchases.listUnknownProducts(limit: bound).filter { found in
                let known = try db.skus.find(appleProduct: found.product, bundle: found.bundle)
                return known.map { !$0.sku.lasts($0.days) } ?? true
            }
        }
    }
}
