import Crypto
package import Domain
import Foundation

extension StoreKitFile {
    /// A file that Xcode opens, with notes on the products that are not in it.
    package struct Rendering: Sendable {
        package let text: String
        /// A line for each product that is left out.
        package let notes: [String]
    }

    /// Writes the offered SKUs with a literal Apple product id as a StoreKit configuration file.
    ///
    /// Equal catalogues give equal texts: internal ids are made from the product ids. A tier becomes a subscription
    /// group, since a user with one of its SKUs needs no other, and a higher rank becomes a higher level.
    ///
    /// - Throws: an encoding error only.
    package static func render(_ skus: [SKU], storefront: Storefront, bundle: String?) throws -> Rendering {
        var renderer = StoreKitRenderer(storefront: storefront)
        for sku in skus { renderer.add(sku, bundle: bundle) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(renderer.file), as: UTF8.self)
        return Rendering(text: text + "\n", notes: renderer.notes)
    }

    /// Lists the bundle ids to which a catalogue binds products.
    package static func bundles(of skus: [SKU]) -> [String] {
        let products = skus.filter(\.active).flatMap(\.appleProducts).filter { !$0.isPattern }
        return Set(products.compactMap(\.bundle)).sorted()
    }
}

private struct StoreKitRenderer {
    private struct Subscription {
        let sku: SKU
        var fields: [String: JSONValue]
    }

    let storefront: Storefront
    private(set) var notes: [String] = []
    private var products: [JSONValue] = []
    private var passes: [JSONValue] = []
    private var tiers: [(name: String, subscriptions: [Subscription])] = []
    private var ids: Set<String> = []
    private var written: Set<String> = []

    init(storefront: Storefront) { self.storefront = storefront }

    private mutating func note(_ sku: SKU, _ words: String) { notes.append("\(sku.id): \(words)") }

    mutating func add(_ sku: SKU, bundle: String?) {
        let entries = sku.appleProducts.filter { bundle == nil || $0.bundle == nil || $0.bundle == bundle }
        guard !entries.isEmpty else { return }
        guard sku.active else { return note(sku, "is archived and left out") }
        for entry in entries {
            guard !entry.isPattern else {
                note(sku, "\(entry.text) is a pattern, which Xcode has no word for; it is left out")
                continue
            }
            guard let price = sku.prices.first(where: { $0.currency == storefront.currency }) else {
                note(sku, "\(entry.product) has no price in \(storefront.currency) and is left out")
                continue
            }
            guard written.insert(entry.product).inserted else {
                note(sku, "\(entry.product) is there already, for another app, and is left out")
                continue
            }
            add(sku, entry.product, price)
        }
    }

    private mutating func add(_ sku: SKU, _ product: String, _ price: Money) {
        switch sku.kind {
        case .consumable: products.append(.object(fields(sku, product, price, "Consumable")))
        case .nonConsumable: products.append(.object(fields(sku, product, price, "NonConsumable")))
        case .nonRenewing: passes.append(.object(fields(sku, product, price, "NonRenewingSubscription")))
        case .subscription:
            guard let period = StoreKitPeriod(sold: sku) else {
                let known = StoreKitPeriod.sold.map(\.text).joined(separator: ", ")
                return note(sku, "\(product) needs a period that the App Store sells (\(known)) and is left out")
            }
            var fields = fields(sku, product, price, "RecurringSubscription")
            fields["recurringSubscriptionPeriod"] = .string(period.text)
            for offers in ["adHocOffers", "codeOffers", "winbackOffers"] { fields[offers] = .array([]) }
            fields["introductoryOffer"] = .null
            let subscription = Subscription(sku: sku, fields: fields)
            if let index = tiers.firstIndex(where: { $0.name == sku.tier }) {
                tiers[index].subscriptions.append(subscription)
            } else {
                tiers.append((sku.tier, [subscription]))
            }
        }
    }

    private mutating func fields(
        _ sku: SKU, _ product: String, _ price: Money, _ type: String
    ) -> [String: JSONValue] {
        [
            "displayPrice": .string(price.decimal), "familyShareable": .bool(false), "internalID": .string(id(product)),
            "localizations": .array(localizations(sku)), "productID": .string(product),
            "referenceName": .string(sku.name), "type": .string(type),
        ]
    }

    /// Lists the localizations, the storefront's language first.
    private mutating func localizations(_ sku: SKU) -> [JSONValue] {
        func entry(_ locale: String, _ shown: SKU.Localization) -> JSONValue {
            .object([
                "description": .string(shown.description ?? sku.description), "displayName": .string(shown.name),
                "locale": .string(locale),
            ])
        }
        let main = StoreKitReader.tag(storefront.locale)
        let first = sku.localized(for: [main])
        var locales: Set<String> = [storefront.locale]
        var entries = [entry(storefront.locale, first)]
        for (key, shown) in sku.localizations.sorted(by: { $0.key < $1.key }) where key != main {
            guard StoreKitReader.isTag(key) else {
                note(sku, "a localization is not named by a language tag such as en or zh-Hans, and is left out")
                continue
            }
            let whole = key.replacing("-", with: "_")
            let usual = Self.usual[key].flatMap { locale in
                let tag = StoreKitReader.tag(locale)
                return locales.contains(locale) || sku.localizations[tag] != nil ? nil : locale
            }
            guard locales.insert(usual ?? whole).inserted else { continue }
            entries.append(entry(usual ?? whole, shown))
        }
        return entries
    }

    /// The App Store's codes of languages that it does not offer without a region or script.
    private static let usual = ["en": "en_US", "es": "es_ES", "pt": "pt_BR", "zh": "zh_Hans"]

    /// Makes an id of eight hexadecimal digits that depends on the text and is unique in this file.
    private mutating func id(_ text: String) -> String {
        var salted = text
        while true {
            let made = Hex.encoded(SHA256.hash(data: Data(salted.utf8)).prefix(4), .upper)
            if ids.insert(made).inserted { return made }
            salted += "+"
        }
    }

    var file: JSONValue {
        mutating get {
            let identifier = id("paydesk")
            let groups = tiers.map { group($0.name, $0.subscriptions) }
            return .object([
                "identifier": .string(identifier), "nonRenewingSubscriptions": .array(passes),
                "products": .array(products), "subscriptionGroups": .array(groups),
                "settings": .object([
                    "_failTransactionsEnabled": .bool(false), "_locale": .string(storefront.locale),
                    "_storeKitErrors": .array([]), "_storefront": .string(storefront.code),
                ]),
                "version": .object(["major": .integer(4), "minor": .integer(0)]),
            ])
        }
    }

    private mutating func group(_ tier: String, _ subscriptions: [Subscription]) -> JSONValue {
        let group = id("group:\(tier)")
        let ranks = Set(subscriptions.map(\.sku.rank)).sorted(by: >)
        let members = subscriptions.map { subscription -> JSONValue in
            var fields = subscription.fields
            let level = ranks.firstIndex(of: subscription.sku.rank) ?? 0
            fields["groupNumber"] = .integer(Int64(level) + 1)
            fields["subscriptionGroupID"] = .string(group)
            return .object(fields)
        }
        return .object([
            "id": .string(group), "localizations": .array([]),
            "name": .string(tier.isEmpty ? "Subscriptions" : tier), "subscriptions": .array(members),
        ])
    }
}
