package import Domain
import ProviderKit
import Store

/// One literal Apple product id with its SKU, as `/apple-iap/products` lists it.
package struct AppleProductView: Sendable {
    package let number: Int64
    package let productID: String
    package let name: String
    package let price: Money
    package let planCode: String
}

extension Gateway {
    /// Every literal Apple product id on offer, in the default currency where it has a price there.
    package func appleProducts() async throws(GatewayError) -> [AppleProductView] {
        let skus = try await read { db in try db.skus.listActive() }
        return skus.flatMap { sku in
            let prices = sku.offeredPrices
            guard let price = prices.first(where: { $0.currency == settings.defaultCurrency }) ?? prices.first else {
                return [AppleProductView]()
            }
            return sku.appleProducts.filter { !$0.isPattern }.map {
                AppleProductView(
                    number: sku.number, productID: $0.product, name: sku.name, price: price,
                    planCode: sku.planCode ?? "")
            }
        }
    }
}
