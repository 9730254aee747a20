/// A product of a StoreKit configuration file, read and checked.
package struct StoreKitProduct: Hashable, Sendable, Codable {
    /// The product's name and description in one language.
    package struct Text: Hashable, Sendable, Codable {
        /// A language tag, `zh-CN`.
        package let tag: String
        package let name: String
        /// Empty where the file has none.
        package let description: String

        package init(tag: String, name: String, description: String) {
            self.tag = tag
            self.name = name
            self.description = description
        }

        package var language: String { tag.split(separator: "-").first.map(String.init) ?? tag }
    }

    /// The product's path in the file, `subscriptionGroups[0].subscriptions[1]`.
    package let path: String
    package let productID: String
    package let kind: SKU.Kind
    package let referenceName: String
    package let price: Money
    /// nil for all but subscriptions.
    package let period: StoreKitPeriod?
    /// The file's own language first.
    package let texts: [Text]

    package init(
        path: String, productID: String, kind: SKU.Kind, referenceName: String, price: Money, period: StoreKitPeriod?,
        texts: [Text]
    ) {
        self.path = path
        self.productID = productID
        self.kind = kind
        self.referenceName = referenceName
        self.price = price
        self.period = period
        self.texts = texts
    }
}

extension SKU {
    /// A SKU for a product that none names yet; what the file does not say has its default.
    ///
    /// - Parameters:
    ///   - entry: the product id, bound to an app where the admin named one.
    ///   - days: what a pass gives; a subscription has its period's.
    package init(
        _ product: StoreKitProduct, code: SKUCode, entry: String, tier: String, rank: Int64, days: Int64?,
        units: [String: Int64]
    ) {
        let first = product.texts.first
        self.init(
            id: code.rawValue, number: 0, name: first?.name ?? product.referenceName,
            description: first?.description ?? "", kind: product.kind, tier: tier, rank: rank,
            durationDays: product.period?.days ?? days, planCode: nil, subscribeID: nil, prices: [product.price],
            appleProductIDs: [entry], options: [], units: units, attributes: [:], clientFallback: false,
            stacking: product.kind == .nonRenewing ? .extend : .none, stackGroup: tier.isEmpty ? code.rawValue : tier,
            onRefund: .revoke,
            onePeriodElsewhere: false, consumption: .ignore, once: .ever, active: true, localizations: [:])
        say(product.texts)
    }

    /// Takes over what the product is called in each language.
    ///
    /// A text that this SKU would show to that language anyway changes nothing, so that what was exported comes back as
    /// it was. Another one goes to the localization of exactly that language, else to the one of the bare language. The
    /// file's own language is the SKU's name where no localization speaks it; any other is added.
    package mutating func say(_ texts: [StoreKitProduct.Text]) {
        // A text that is added can be shown to a language that another text was shown to before, so they are looked at
        // until all of them are.
        for _ in 0...texts.count {
            let before = self
            sayOnce(texts)
            if self == before { return }
        }
    }

    private mutating func sayOnce(_ texts: [StoreKitProduct.Text]) {
        let tags = Set(texts.map(\.tag))
        var taken: Set<String> = []
        for (index, text) in texts.enumerated() {
            let shown = localized(for: [text.tag])
            let isShown = shown.name == text.name && (text.description.isEmpty || shown.description == text.description)
            let description = text.description.isEmpty ? nil : text.description
            let speaks = localizations.keys.contains { $0 == text.language || $0.hasPrefix(text.language + "-") }
            let isBareFree = !tags.contains(text.language) && !taken.contains(text.language)
            let keys = isBareFree ? [text.tag, text.language] : [text.tag]
            let key = keys.first { localizations[$0] != nil }
            taken.formUnion(key.map { [$0] } ?? [])
            if isShown, index > 0 || speaks { continue }
            if let key {
                let former = localizations[key]?.description
                localizations[key] = Localization(name: text.name, description: description ?? former)
            } else if index == 0, !speaks {
                name = text.name
                self.description = description ?? self.description
                // Another text of this language would otherwise be shown for this one.
                guard texts.dropFirst().contains(where: { $0.language == text.language }) else { continue }
                localizations[text.tag] = Localization(name: text.name, description: description)
            } else {
                localizations[text.tag] = Localization(name: text.name, description: description)
            }
        }
    }
}

extension [Money] {
    /// Replaces the price in the same currency, or adds it.
    package mutating func setPrice(_ price: Money) {
        if let index = firstIndex(where: { $0.currency == price.currency }) {
            self[index] = price
        } else {
            append(price)
        }
    }
}
