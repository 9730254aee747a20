import Domain

/// Reads the members of a StoreKit configuration file and collects its faults.
struct StoreKitReader {
    let file: String
    private(set) var faults: [ConfigurationFault] = []
    private static let faultLimit = 100
    private var seen: [String: String] = [:]

    init(file: String) { self.file = file }

    /// Records a fault, up to a limit: otherwise a file full of faults would be answered with many times its size.
    private mutating func fault(_ path: String, _ problem: String, _ remedy: String) {
        guard faults.count < Self.faultLimit else { return }
        faults.append(ConfigurationFault(file: file, key: path, problem: problem, remedy: remedy))
    }

    // MARK: The currency

    /// Chooses the currency: that of the option, else the storefront's, else the configured one.
    mutating func currency(
        _ settings: [String: JSONValue], given: Currency?, fallback: Currency
    ) -> (Currency, reason: String) {
        if let given { return (given, "as --currency says") }
        guard let code = optionalText(settings, "_storefront", "settings"), !code.isEmpty else {
            return (fallback, "the configured default_currency, for the file names no storefront")
        }
        guard let storefront = Storefront(code) else {
            fault(
                "settings._storefront", "is not a storefront whose currency is known here",
                "say the currency with --currency, as in --currency EUR")
            return (fallback, "")
        }
        return (storefront.currency, "the currency of the file's storefront \(storefront.code)")
    }

    // MARK: Products

    private static let kinds: [String: SKU.Kind] = [
        "Consumable": .consumable, "NonConsumable": .nonConsumable, "NonRenewingSubscription": .nonRenewing,
        "RecurringSubscription": .subscription,
    ]

    mutating func products(_ root: [String: JSONValue], currency: Currency, locale: String) -> [StoreKitProduct] {
        var found: [StoreKitProduct] = []
        func path(_ list: String, _ index: Int) -> String { "\(list)[\(index)]" }
        for (list, kind) in [("products", nil), ("nonRenewingSubscriptions", SKU.Kind.nonRenewing)] {
            for (index, value) in array(root[list], list).enumerated() {
                let place = path(list, index)
                product(value, place, kind, currency, locale).map { found.append($0) }
            }
        }
        for (index, value) in array(root["subscriptionGroups"], "subscriptionGroups").enumerated() {
            let group = path("subscriptionGroups", index)
            let list = "\(group).subscriptions"
            for (index, value) in array(object(value, group)["subscriptions"], list).enumerated() {
                product(value, path(list, index), .subscription, currency, locale).map { found.append($0) }
            }
        }
        if found.count > StoreKitFile.productLimit {
            fault("", "has more than \(StoreKitFile.productLimit) products", "split it")
        }
        return found
    }

    /// - Parameter expected: the kind of the list's products where the file states none; nil where it must state one.
    private mutating func product(
        _ value: JSONValue, _ path: String, _ expected: SKU.Kind?, _ currency: Currency, _ locale: String
    ) -> StoreKitProduct? {
        let before = faults.count
        let fields = object(value, path)
        guard faults.count == before else { return nil }
        let id = productID(fields, path)
        let kind = kind(fields, path, expected)
        let price = price(fields, path, currency)
        let period = kind == .subscription ? period(fields, path) : nil
        let name = optionalText(fields, "referenceName", path) ?? ""
        let texts = texts(fields, path, locale)
        guard faults.count == before, let kind, let price else { return nil }
        return StoreKitProduct(
            path: path, productID: id, kind: kind, referenceName: name.isEmpty ? id : name, price: price,
            period: period, texts: texts)
    }

    private mutating func productID(_ fields: [String: JSONValue], _ path: String) -> String {
        let place = "\(path).productID"
        guard let id = text(fields, "productID", path) else { return "" }
        guard let product = AppleProduct(id), product.bundle == nil, !product.isPattern else {
            fault(place, "is not a product id", "write letters, digits, dots, hyphens and underscores")
            return ""
        }
        if let other = seen.updateValue(place, forKey: id) {
            fault(place, "is \(id), as \(other)", "give each product its own id")
        }
        return id
    }

    private mutating func kind(_ fields: [String: JSONValue], _ path: String, _ expected: SKU.Kind?) -> SKU.Kind? {
        let place = "\(path).type"
        guard fields["type"] != nil || expected == nil else { return expected }
        guard let word = text(fields, "type", path) else { return nil }
        guard let kind = Self.kinds[word] else {
            fault(
                place, "is not a type of products", "write one of \(Self.kinds.keys.sorted().joined(separator: ", "))")
            return nil
        }
        guard (kind == .subscription) == (expected == .subscription) else {
            fault(place, "does not belong in this list", "keep subscriptions, and only them, in subscriptionGroups")
            return nil
        }
        return kind
    }

    /// Reads a price with a decimal point, as Xcode writes it; a comma is refused, because 1,299 would have two
    /// meanings.
    private mutating func price(_ fields: [String: JSONValue], _ path: String, _ currency: Currency) -> Money? {
        guard let written = text(fields, "displayPrice", path) else { return nil }
        guard written.utf8.count <= 32, let price = Money(decimal: written, currency: currency), price.value >= 0 else {
            let example = Money(value: 499, currency: currency).decimal
            fault("\(path).displayPrice", "is not a price in \(currency)", "write a decimal number such as \(example)")
            return nil
        }
        return price
    }

    private mutating func period(_ fields: [String: JSONValue], _ path: String) -> StoreKitPeriod? {
        guard let written = text(fields, "recurringSubscriptionPeriod", path) else { return nil }
        guard let period = StoreKitPeriod(written) else {
            fault("\(path).recurringSubscriptionPeriod", "is not a period", "write one such as P1W, P1M or P1Y")
            return nil
        }
        return period
    }

    /// Reads the texts that have a name, those in the file's own language first.
    private mutating func texts(
        _ fields: [String: JSONValue], _ path: String, _ main: String
    ) -> [StoreKitProduct.Text] {
        var found: [StoreKitProduct.Text] = []
        for (index, value) in array(fields["localizations"], "\(path).localizations").enumerated() {
            let place = "\(path).localizations[\(index)]"
            let entry = object(value, place)
            guard let name = optionalText(entry, "displayName", place), !name.isEmpty,
                let locale = text(entry, "locale", place)
            else { continue }
            let tag = Self.tag(locale)
            guard Self.isTag(tag) else {
                fault("\(place).locale", "is not a locale", "write one such as en_US")
                continue
            }
            let description = optionalText(entry, "description", place) ?? ""
            guard !found.contains(where: { $0.tag == tag }) else { continue }
            found.append(StoreKitProduct.Text(tag: tag, name: name, description: description))
        }
        let own = Self.tag(main)
        return found.filter { $0.tag == own } + found.filter { $0.tag != own }
    }

    static func tag(_ locale: String) -> String { locale.replacing("_", with: "-") }

    static func isTag(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}/) != nil
    }

    // MARK: Values

    /// Reads an object; an absent one or null is empty.
    mutating func object(_ value: JSONValue?, _ path: String) -> [String: JSONValue] {
        switch value {
        case nil, .null: return [:]
        case .object(let fields): return fields
        default:
            fault(path, "is not an object", "compare it with a file that Xcode saved")
            return [:]
        }
    }

    private mutating func array(_ value: JSONValue?, _ path: String) -> [JSONValue] {
        switch value {
        case nil, .null: return []
        case .array(let elements): return elements
        default:
            fault(path, "is not a list", "compare it with a file that Xcode saved")
            return []
        }
    }

    private mutating func text(_ fields: [String: JSONValue], _ key: String, _ path: String) -> String? {
        let before = faults.count
        if let text = optionalText(fields, key, path) { return text }
        if faults.count == before { fault("\(path).\(key)", "is missing", "add it") }
        return nil
    }

    mutating func optionalText(_ fields: [String: JSONValue], _ key: String, _ path: String) -> String? {
        switch fields[key] {
        case nil, .null: return nil
        case .string(let text):
            guard text.unicodeScalars.contains("\u{0}") else { return text }
            fault("\(path).\(key)", "holds U+0000, which no database keeps", "remove it")
            return nil
        default:
            fault("\(path).\(key)", "is not a text", "write it in quotes")
            return nil
        }
    }
}
