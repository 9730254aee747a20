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
    /// nil for all kinds but subscriptions.
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
    /// Makes a SKU for a product that no SKU names yet; a value that the file leaves out gets its default.
    ///
    /// - Parameters:
    ///   - entry: the product id, bound to an app where the admin named one.
    ///   - days: the days that a pass gives; a subscription has those of its period.
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
            renewal: .storeOnly, period: product.period?.billing, trialDays: 0,
            graceDays: SKU.usualGraceDays, consumption: .ignore, once: .ever, active: true, localizations: [:])
        say(product.texts)
    }

    /// Takes over the product's texts in each language.
    ///
    /// A text that this SKU already shows in its language changes nothing, so that importing an exported file changes
    /// nothing. Any other text goes to the localization of exactly its tag, else to that of the bare language. The text
    /// in the file's own language becomes the SKU's name where no localization has that language; any other language
    /// gets a new localization.
    package mutating func say(_ texts: [StoreKitProduct.Text]) {
        // An added text can change what another language shows, so the texts are applied until nothing changes.
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
