package import AppStoreBox
package import Domain

// The products that the box sells: those of the catalogue's SKUs, or those of a StoreKit configuration file.

extension BoxProduct {
    /// The products of SKUs for one app, in the order of the SKUs; of two with one id the first counts.
    ///
    /// A pattern gives a product for each option of its SKU. What the App Store could not sell is left out: a SKU
    /// without a price, and a subscription without a period.
    ///
    /// - Parameter bundle: leaves out entries that are bound to another app.
    package static func all(of skus: [SKU], bundle: String) -> [BoxProduct] {
        var seen: Set<String> = []
        return skus.flatMap { products(of: $0, bundle: bundle) }.filter { seen.insert($0.productID).inserted }
    }

    private static func products(of sku: SKU, bundle: String) -> [BoxProduct] {
        sku.appleProducts.filter { $0.bundle == nil || $0.bundle == bundle }.flatMap { entry in
            guard entry.isPattern else { return [product(sku, entry.product, sku.offeredPrices)].compactMap(\.self) }
            return sku.options.compactMap { product(sku, entry.productID(days: $0.days), $0.prices) }
        }
    }

    private static func product(_ sku: SKU, _ id: String, _ prices: [Money]) -> BoxProduct? {
        let prices = prices.compactMap(Price.init)
        let isSubscription = sku.kind == .subscription
        let period = isSubscription ? period(of: sku) : nil
        guard !prices.isEmpty, period != nil || !isSubscription else { return nil }
        return BoxProduct(
            productID: id, name: sku.name, kind: sku.kind, group: isSubscription ? sku.stackGroup : nil,
            level: sku.rank, period: period, prices: prices)
    }

    /// The SKU's own period, else its number of days.
    private static func period(of sku: SKU) -> StoreKitPeriod? {
        sku.period.map(StoreKitPeriod.init) ?? sku.durationDays.flatMap { StoreKitPeriod("P\($0)D") }
    }

    /// The products of a StoreKit configuration file, whose groups have the names of their places in it.
    ///
    /// Xcode lists the product of the highest level first.
    package static func all(of file: [StoreKitProduct]) -> [BoxProduct] {
        file.enumerated().compactMap { index, product in
            guard let price = Price(product.price), product.period != nil || product.kind != .subscription else {
                return nil
            }
            let group = product.path.split(separator: ".").first.map(String.init)
            return BoxProduct(
                productID: product.productID, name: product.texts.first?.name ?? product.referenceName,
                kind: product.kind, group: product.kind == .subscription ? group : nil, level: -Int64(index),
                period: product.period, prices: [price])
        }
    }
}

extension BoxProduct.Price {
    /// - Returns: nil for an amount that Apple's thousandths cannot say.
    fileprivate init?(_ price: Money) {
        let factors: [Int64] = [1_000, 100, 10, 1]
        guard factors.indices.contains(price.currency.minorDigits) else { return nil }
        let (milliunits, overflow) = price.value.multipliedReportingOverflow(by: factors[price.currency.minorDigits])
        guard !overflow, milliunits >= 0 else { return nil }
        self.init(currency: price.currency.code, milliunits: milliunits)
    }
}
