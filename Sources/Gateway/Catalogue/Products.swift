package import Domain
import ProviderKit
import Store

/// One SKU as a frontend sees it.
package struct ProductView: Sendable {
    package let sku: SKU
    package let localization: SKU.Localization
    package let owned: Bool
}

/// One way to pay, as a frontend sees it.
package struct PaymentMethodView: Encodable, Sendable {
    let account: String
    let kind: String
    let display_name: String
    let type: ContractType
}

extension Gateway {
    /// What is offered, localized, by ascending number.
    ///
    /// - Parameters:
    ///   - user: whose possessions are marked; nil marks none.
    ///   - platform: hides what no enabled account could sell there; a free SKU is always shown.
    ///   - currency: keeps the SKUs that are priced in it.
    package func listProducts(
        user: ExternalUserID?, platform: Platform?, currency: Currency?, languages: [String]
    ) async throws(GatewayError) -> [ProductView] {
        let (skus, overrides, grants) = try await read { db in
            (
                try db.skus.listActive(), try db.accounts.listOverrides().value(),
                try user.flatMap { try db.users.findID($0) }.map { try db.grants.list(of: $0).value() } ?? []
            )
        }
        let accounts = accounts(with: overrides)
        let owned = Set(grants.filter { $0.term == .perpetual && $0.revocation == nil }.map(\.sku.rawValue))
        return skus.filter { sku in
            let wanted = sku.offeredPrices.filter { currency == nil || $0.currency == currency }
            guard !wanted.isEmpty else { return false }
            guard let platform else { return true }
            return wanted.contains { price in
                price.isZero || isSold(sku, at: price, on: platform, by: accounts)
            }
        }.map { sku in
            ProductView(sku: sku, localization: sku.localized(for: languages), owned: owned.contains(sku.id))
        }
    }

    /// The active SKUs that no enabled account could sell on any platform.
    package func unsoldSKUs() async throws(GatewayError) -> [SKU] {
        let (skus, overrides) = try await read { db in
            (try db.skus.listActive(), try db.accounts.listOverrides().value())
        }
        let accounts = accounts(with: overrides)
        return skus.filter { sku in
            !sku.offeredPrices.contains { price in
                price.isZero || Platform.allCases.contains { isSold(sku, at: price, on: $0, by: accounts) }
            }
        }
    }

    /// The prices on offer for which there are accounts, of which none can charge exactly that amount.
    package func unchargeablePrices() async throws(GatewayError) -> [(sku: String, price: Money)] {
        let (skus, overrides) = try await read { db in
            (try db.skus.listActive(), try db.accounts.listOverrides().value())
        }
        let accounts = accounts(with: overrides)
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

    /// The accounts that a checkout would try, in its order.
    ///
    /// - Throws: `skuNotFound`, `invalidRequest`.
    package func listPaymentMethods(
        _ request: CheckoutRequest, user: ExternalUserID
    ) async throws(GatewayError) -> [PaymentMethodView] {
        let offer = try await offer(request, user: user)
        guard !offer.quote.amount.isZero else { return [] }
        return offer.route.accounts.flatMap { account in
            account.provider.contractTypes.intersection(request.accept).sorted { $0.rawValue < $1.rawValue }.map {
                type in
                PaymentMethodView(
                    account: account.id.rawValue, kind: account.manifest.kind,
                    display_name: account.manifest.displayName,
                    type: type)
            }
        }
    }
}
