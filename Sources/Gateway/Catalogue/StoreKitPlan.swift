import Domain

/// The changes of a catalogue by a StoreKit configuration file.
///
/// A product that a SKU names changes that SKU's names and its price in the file's currency; a product that matches a
/// SKU's pattern changes the price of that option. Any other product becomes a SKU. Members that the file does not
/// contain stay as they are.
struct StoreKitPlan {
    /// The SKUs to be written, in the order of the file.
    private(set) var skus: [SKU] = []
    private(set) var outcome = StoreKitOutcome()

    private let file: StoreKitImport
    private let index: StoreKitIndex
    /// Each SKU that the file changes, in its state before, and its products.
    private var matched: [(sku: SKU, products: [(product: StoreKitProduct, days: Int64?)])] = []
    private var positions: [String: Int] = [:]

    init(_ file: StoreKitImport, onto catalogue: [SKU]) {
        self.file = file
        index = StoreKitIndex(catalogue, bundle: file.bundle)
        var codes = Set(catalogue.map(\.id))
        for product in file.products {
            switch index.match(product.productID) {
            case .literal(let sku): add(product, nil, to: sku)
            case .pattern(let sku, let days): add(product, days, to: sku)
            case .ambiguous(let ids):
                fault(
                    product.path, "is a product of \(ids.joined(separator: " and ")), of different apps",
                    "say which app the file belongs to with --bundle")
            case .unknown: make(product, &codes)
            }
        }
        for (sku, products) in matched { change(sku, products) }
        noteMissing()
    }

    private mutating func add(_ product: StoreKitProduct, _ days: Int64?, to sku: SKU) {
        let position = positions[sku.id] ?? matched.count
        if position == matched.count {
            positions[sku.id] = position
            matched.append((sku, []))
        }
        matched[position].products.append((product, days))
    }

    // MARK: Known products

    private mutating func change(_ before: SKU, _ products: [(product: StoreKitProduct, days: Int64?)]) {
        guard let first = products.first?.product else { return }
        var after = before
        for (product, _) in products where product.kind != before.kind {
            note(
                before,
                "\(product.productID) is \(product.kind.rawValue) in the file, the SKU is "
                    + "\(before.kind.rawValue); purchases of it are marked kind_mismatch until they agree")
        }
        for (product, _) in products where !isLong(before, product) {
            let own = before.period.map { StoreKitPeriod($0).text } ?? "\(before.durationDays ?? 0) days"
            let field = before.period == nil ? "duration_days" : "period"
            note(
                before,
                "\(product.productID) renews every \(product.period?.text ?? ""), the SKU has \(own); "
                    + "set its \(field) if that is wrong")
        }
        if before.durationDays == nil, before.kind == .subscription, let period = first.period {
            after.durationDays = period.days
        }
        for days in Set(products.map(\.days)).sorted(by: { ($0 ?? 0) < ($1 ?? 0) }) {
            price(&after, days, products.filter { $0.days == days }.map(\.product))
        }
        if let literal = products.first(where: { $0.days == nil }) { after.say(literal.product.texts) }
        if !before.active { note(before, "it is archived, so its products are not offered") }
        for (product, _) in products where isSpecified(product.productID) {
            note(before, "what was said of \(product.productID) is for new SKUs only; this one keeps its own")
        }
        guard after != before, let sku = validated(after, first.path) else { return }
        skus.append(sku)
        outcome.changed.append("\(sku.id): \(Self.difference(before, sku))")
    }

    /// Sets the price of a SKU, or of its option of that number of days, where the products agree on it.
    private mutating func price(_ sku: inout SKU, _ days: Int64?, _ products: [StoreKitProduct]) {
        guard let price = products.first?.price else { return }
        guard products.allSatisfy({ $0.price == price }) else {
            let list = products.map { "\($0.productID) \($0.price)" }.joined(separator: ", ")
            return note(sku, "its products differ in price, so it keeps its own: \(list)")
        }
        if let option = sku.options.firstIndex(where: { $0.days == days }) {
            sku.options[option].prices.setPrice(price)
        } else if !sku.options.isEmpty {
            let ids = products.map(\.productID).joined(separator: ", ")
            note(sku, "\(ids): the SKU is sold in options and has none for it; its prices are not changed")
        } else if days == nil || days == sku.durationDays {
            sku.prices.setPrice(price)
        } else if let days {
            note(sku, "has no option of \(days) days, so a price of \(price) is not kept; add the option")
        }
    }

    private func isSpecified(_ id: String) -> Bool {
        file.tiers[id] != nil || file.days[id] != nil || file.units[id] != nil
    }

    private func isLong(_ sku: SKU, _ product: StoreKitProduct) -> Bool {
        guard let period = product.period else { return true }
        if let own = sku.period { return StoreKitPeriod(own).isAsLong(as: period) }
        return sku.durationDays.map(period.covers) ?? true
    }

    // MARK: New products

    private mutating func make(_ product: StoreKitProduct, _ codes: inout Set<String>) {
        let id = product.productID
        let entry = file.bundle.map { "\($0):\(id)" } ?? id
        guard let code = Self.code(for: id) else {
            return fault(product.path, "has an id that gives no SKU id", "add it to a SKU's apple_product_ids")
        }
        guard codes.insert(code.rawValue).inserted else {
            return fault(
                product.path, "would be the SKU \(code.rawValue), which there is already",
                "add \(id) to the apple_product_ids of the SKU that it belongs to")
        }
        guard isTold(product) else { return }
        let tier = file.tiers[id]
        let draft = SKU(
            product, code: code, entry: entry, tier: tier?.name ?? "", rank: tier?.rank ?? 0,
            days: product.kind == .nonRenewing ? file.days[id] : nil,
            units: product.kind == .consumable ? file.units[id] ?? [:] : [:])
        guard let sku = validated(draft, product.path) else { return }
        skus.append(sku)
        outcome.added.append("\(sku.id): \(sku.kind.rawValue), \(product.price), \(sku.name)")
    }

    /// Returns true where the admin has given the values that the file lacks; otherwise adds a fault for each.
    ///
    /// The import itself grants the purchases that wait for the product, and a grant keeps the terms of its time: a
    /// value that is missing then would stay missing for those who paid.
    private mutating func isTold(_ product: StoreKitProduct) -> Bool {
        let (id, before) = (product.productID, outcome.faults.count)
        let otherwise = "or add \(id) to a SKU's apple_product_ids"
        if product.kind == .subscription || product.kind == .nonRenewing, file.tiers[id] == nil {
            fault(
                product.path, "is new, and the file does not say which membership it gives",
                "say it with --tier \(id)=VIP:10 (tier and rank), or --tier \(id)= for none; \(otherwise)")
        }
        if product.kind == .nonRenewing, file.days[id] == nil {
            fault(
                product.path, "is a new pass, and the file does not say how long it lasts",
                "say it with --days \(id)=30, \(otherwise)")
        }
        if product.kind == .consumable, file.units[id] == nil {
            fault(
                product.path, "is a new consumable, and the file does not say what it gives",
                "say it with --units \(id)=coins:100, \(otherwise)")
        }
        return outcome.faults.count == before
    }

    /// Makes the id of a SKU: the last 64 characters of the product id in lower case, without the characters that an id
    /// may not begin with.
    private static func code(for product: String) -> SKUCode? {
        SKUCode(String(product.lowercased().suffix(64).drop { "._-".contains($0) }))
    }

    // MARK: Messages

    private mutating func validated(_ sku: SKU, _ path: String) -> SKU? {
        do throws(SKUFault) { return try sku.validated() } catch {
            fault(path, "breaks a rule of SKUs: \(error.field): \(error.reason)", "correct it")
            return nil
        }
    }

    /// Notes the active SKUs whose product is not in the file.
    private mutating func noteMissing() {
        let ids = Set(file.products.map(\.productID))
        for (sku, product) in index.active where !ids.contains(product) {
            note(sku, "\(product) is not in the file")
        }
    }

    private mutating func note(_ sku: SKU, _ words: String) { outcome.notes.append("\(sku.id): \(words)") }

    private mutating func fault(_ path: String, _ problem: String, _ remedy: String) {
        outcome.faults.append(StoreKitOutcome.Fault(path: path, problem: problem, remedy: remedy))
    }

    private static func difference(_ before: SKU, _ after: SKU) -> String {
        var parts: [String] = []
        func compare(_ name: String, _ old: [Money], _ new: [Money]) {
            for price in new where !old.contains(price) {
                let former = old.first { $0.currency == price.currency }?.description ?? "none"
                parts.append("\(name) \(former) → \(price)")
            }
        }
        compare("price", before.prices, after.prices)
        for (old, new) in zip(before.options, after.options) {
            compare("price for \(new.days) days", old.prices, new.prices)
        }
        if before.name != after.name { parts.append("name \(before.name) → \(after.name)") }
        if before.description != after.description { parts.append("description") }
        if let days = after.durationDays, before.durationDays != days { parts.append("duration_days none → \(days)") }
        let languages = after.localizations.filter { before.localizations[$0.key] != $0.value }.keys.sorted()
        if !languages.isEmpty { parts.append("localizations \(languages.joined(separator: ", "))") }
        return parts.joined(separator: "; ")
    }
}

/// Finds the SKU of an App Store product.
private struct StoreKitIndex {
    enum Match {
        case literal(SKU)
        case pattern(SKU, days: Int64)
        case ambiguous([String])
        case unknown
    }

    /// The active SKUs and their products, which the file should contain.
    let active: [(sku: SKU, product: String)]
    private let bundle: String?
    private var literals: [String: [(sku: SKU, bundle: String?)]] = [:]
    private var patterns: [(sku: SKU, entry: AppleProduct)] = []

    init(_ catalogue: [SKU], bundle: String?) {
        self.bundle = bundle
        var active: [(sku: SKU, product: String)] = []
        for sku in catalogue {
            for entry in sku.appleProducts where bundle == nil || entry.bundle == nil || entry.bundle == bundle {
                if entry.isPattern {
                    if sku.active { patterns.append((sku, entry)) }
                } else {
                    literals[entry.product, default: []].append((sku, entry.bundle))
                    if sku.active { active.append((sku, entry.product)) }
                }
            }
        }
        self.active = active
    }

    /// Finds the SKU of a product: an active SKU before an archived one, an entry of this app before one of any app, a
    /// literal before a pattern.
    func match(_ product: String) -> Match {
        let all = literals[product] ?? []
        let living = all.contains(where: \.sku.active) ? all.filter(\.sku.active) : all.suffix(1)
        let preferred = living.filter { $0.bundle == bundle }
        let ids = Set((preferred.isEmpty ? living : preferred).map(\.sku.id))
        if let found = preferred.first ?? living.first {
            return ids.count == 1 ? .literal(found.sku) : .ambiguous(ids.sorted())
        }
        let bound = patterns.filter { $0.entry.bundle == bundle } + patterns.filter { $0.entry.bundle != bundle }
        for (sku, entry) in bound {
            if let days = entry.days(in: product) { return .pattern(sku, days: days) }
        }
        return .unknown
    }
}
