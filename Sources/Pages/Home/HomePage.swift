package import Domain

/// Everything that the page at `/` is drawn from.
package struct HomeFrame: Sendable {
    /// The parts that only a development server shows.
    package struct Development: Sendable {
        package let address: String
        /// The products on sale, with a price each.
        package let products: [(product: ProductFacts, price: Money)]
        /// True where the merchant's name is configured.
        package let isNamed: Bool
        /// True where an account takes real money.
        package let isConnected: Bool

        package init(
            address: String, products: [(product: ProductFacts, price: Money)], isNamed: Bool, isConnected: Bool
        ) {
            self.address = address
            self.products = products
            self.isNamed = isNamed
            self.isConnected = isConnected
        }
    }

    package let locale: PageLocale
    /// nil in production.
    package var development: Development?
    /// True where the App Store in a box is on.
    package var hasBox = false
    package var alert: PageAlert?
    /// The SKU that was chosen before the page is shown again.
    package var chosen: String?

    package init(locale: PageLocale) { self.locale = locale }
}

extension HomeFrame {
    /// The context of `home.mustache`.
    func members(_ t: PageTexts, styles: [String]) -> Context {
        let own = development.map { development -> Context in
            let products = development.products.map { product, price -> Context in
                let amount = price.isZero ? t["free"] : PageWords.amount(price, locale)
                return [
                    "sku": product.sku, "text": "\(product.name) · \(amount)", "chosen": product.sku == chosen,
                ]
            }
            return [
                "address": development.address, "products": products, "named": development.isNamed,
                "sells": !products.isEmpty, "connected": development.isConnected,
            ]
        }
        let alert = alert.map { alert -> Context in
            [
                "reason": alert.rawValue, "title": t["alert_\(alert.rawValue)"],
                "text": t["alert_\(alert.rawValue)_text"],
            ]
        }
        return context([
            "lang": locale.rawValue, "title": "Paydesk", "styles": styles, "development": own, "box": hasBox,
            "languages": locale.others, "alert": alert, "words": t.table,
        ])
    }
}
