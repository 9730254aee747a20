package import Domain

/// A product that the App Store in a box sells.
package struct BoxProduct: Codable, Sendable, Equatable {
    /// A price in thousandths of a major unit, as Apple signs it: 10.99 is 10990.
    package struct Price: Codable, Sendable, Equatable {
        /// ISO 4217.
        package let currency: String
        package let milliunits: Int64

        package init(currency: String, milliunits: Int64) {
            self.currency = currency
            self.milliunits = milliunits
        }
    }

    package let productID: String
    package let name: String
    package let kind: SKU.Kind
    /// The subscription group, the SKU's `stack_group`; nil for all kinds but subscriptions.
    package let group: String?
    /// The place within the group; a larger number gives more, like a SKU's `rank`.
    package let level: Int64
    /// The length of a period; nil for all kinds but subscriptions.
    package let period: StoreKitPeriod?
    /// The SKU's own order; never empty.
    package let prices: [Price]

    package init(
        productID: String, name: String, kind: SKU.Kind, group: String?, level: Int64, period: StoreKitPeriod?,
        prices: [Price]
    ) {
        self.productID = productID
        self.name = name
        self.kind = kind
        self.group = group
        self.level = level
        self.period = period
        self.prices = prices
    }

    /// The price in a storefront's currency, else the first one.
    package func price(in storefront: Storefront) -> Price? {
        prices.first { $0.currency == storefront.currency.code } ?? prices.first
    }

    /// The price in a currency; nil where the product has none.
    package func price(currency: String) -> Price? { prices.first { $0.currency == currency } }
}

extension SKU.Kind {
    /// Apple's `type` of a signed transaction.
    package var appleType: String {
        switch self {
        case .subscription: "Auto-Renewable Subscription"
        case .consumable: "Consumable"
        case .nonRenewing: "Non-Renewing Subscription"
        case .nonConsumable: "Non-Consumable"
        }
    }
}
