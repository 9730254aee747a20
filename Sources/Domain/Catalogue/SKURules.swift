/// A rule that a SKU breaks: the field, and the reason as a text for the admin.
package struct SKUFault: Error, Sendable, Equatable {
    package let field: String
    package let reason: LocalizedText
}

extension SKU {
    /// Returns this SKU, or throws the first rule that it breaks.
    package func validated() throws(SKUFault) -> SKU {
        func require(_ holds: Bool, _ field: String, _ reason: LocalizedText) throws(SKUFault) {
            guard holds else { throw SKUFault(field: field, reason: reason) }
        }
        try require(code != nil, "id", "must match [a-z0-9][a-z0-9_.-]{0,63}")
        try require(
            name.hasScalars(1...200) && name.isPlain, "name",
            "must have 1 to 200 characters, none of them a control character")
        try require(
            description.hasScalars(0...4_000) && description.isPlainText, "description",
            "must have at most 4,000 characters, no control characters but tabs and line breaks")
        try require(
            tier.hasScalars(0...64) && tier.isPlain, "tier", "must have at most 64 characters, none of them a control")
        try require((0...1_000_000).contains(rank), "rank", "must be 0 to 1,000,000")
        let planIsGood = planCode.map { $0.hasScalars(0...64) && $0.isPlain } ?? true
        try require(planIsGood, "plan_code", "must have at most 64 characters, none of them a control")
        try require((subscribeID ?? 1) > 0, "subscribe_id", "must be positive")
        let groupIsGood = stackGroup.hasScalars(0...64) && stackGroup.isPlain
        try require(groupIsGood, "stack_group", "must have at most 64 characters, none of them a control")
        try require(durationDays.map(AppleProduct.dayRange.contains) ?? true, "duration_days", "must be 1 to 3,660")
        try require(!prices.isEmpty || !options.isEmpty, "prices", "a SKU needs prices or options")
        try Self.check(prices, "prices")
        try checkOptions()
        try checkAppleProducts()
        try checkExtras()
        if let period {
            try require(kind == .subscription, "period", "only a subscription has a period")
            try require(
                period.isSellable, "period.count",
                "must be 1 to \(period.unit.longest) for the unit \(period.unit.rawValue)")
        }
        try require((0...365).contains(trialDays), "trial_days", "must be 0 to 365")
        try require((0...28).contains(graceDays), "grace_days", Self.graceRule)
        if renewal == .managed { try checkManaged() }
        if let fault = offersFault ?? givesNothing { throw fault }
        let sellsAPeriod = !(kind == .subscription && renewal == .onePeriod) || durationDays != nil
        try require(sellsAPeriod, "duration_days", "renewal one_period needs the period's number of days")
        return self
    }

    private static let graceRule: LocalizedText = "must be 0 to 28, and shorter than the period"

    /// Checks what Paydesk has to know to renew a subscription.
    private func checkManaged() throws(SKUFault) {
        guard kind == .subscription else {
            throw SKUFault(field: "renewal", reason: "only a subscription is managed")
        }
        guard let period else { throw SKUFault(field: "period", reason: "a managed subscription needs its period") }
        guard graceDays < period.leastDays else {
            throw SKUFault(field: "grace_days", reason: Self.graceRule)
        }
        guard prices.allSatisfy({ $0.value > 0 }) else {
            throw SKUFault(field: "prices", reason: "a managed subscription has no price of 0")
        }
    }

    /// The fault of a SKU that cannot be bought or gives its buyer nothing; nil for a SKU that can be sold.
    package var givesNothing: SKUFault? {
        switch kind {
        case .consumable where units.isEmpty:
            SKUFault(field: "units", reason: "a consumable needs the units that it credits")
        case .nonRenewing where durationDays == nil && options.isEmpty && pattern == nil:
            SKUFault(field: "duration_days", reason: "a pass needs its number of days")
        case .subscription where tier.isEmpty && units.isEmpty && attributes.isEmpty:
            SKUFault(field: "tier", reason: "a subscription needs a tier, units or attributes that it gives")
        case .subscription where appleProductIDs.isEmpty && renewal == .storeOnly:
            SKUFault(
                field: "apple_product_ids",
                reason: "a subscription needs an Apple product, or the renewal managed or one_period, to be bought by")
        default: nil
        }
    }

    private static func check(_ prices: [Money], _ field: String) throws(SKUFault) {
        guard prices.count <= 200, Set(prices.map(\.currency)).count == prices.count else {
            throw SKUFault(field: field, reason: "one price a currency, at most 200")
        }
        guard prices.allSatisfy({ (0...1_000_000_000_000).contains($0.value) }) else {
            throw SKUFault(field: field, reason: "a price is 0 to 1,000,000,000,000 minor units")
        }
    }

    private func checkOptions() throws(SKUFault) {
        guard options.count <= 100, Set(options.map(\.days)).count == options.count,
            options.allSatisfy({ AppleProduct.dayRange.contains($0.days) && !$0.prices.isEmpty })
        else {
            throw SKUFault(field: "options", reason: "each option has its own number of days (1 to 3,660) and prices")
        }
        guard options.isEmpty || kind == .nonRenewing else {
            throw SKUFault(field: "options", reason: "only a pass (non_renewing) has options")
        }
        for option in options { try Self.check(option.prices, "options") }
    }

    private func checkAppleProducts() throws(SKUFault) {
        guard appleProductIDs.count <= 100, Set(appleProductIDs).count == appleProductIDs.count,
            appleProducts.count == appleProductIDs.count
        else {
            throw SKUFault(
                field: "apple_product_ids",
                reason: "different ids of letters, digits and ._-, optionally bundle:product, with at most one ${days}")
        }
        guard appleProducts.count(where: \.isPattern) <= 1 else {
            throw SKUFault(field: "apple_product_ids", reason: "at most one pattern")
        }
        guard pattern == nil || kind == .nonRenewing else {
            throw SKUFault(field: "apple_product_ids", reason: "only a pass (non_renewing) has a pattern")
        }
    }

    private func checkExtras() throws(SKUFault) {
        let unitsAreGood =
            units.count <= 20
            && units.allSatisfy { SKUCode($0.key) != nil && (1...1_000_000_000_000).contains($0.value) }
        guard unitsAreGood else {
            throw SKUFault(field: "units", reason: "at most 20 names like ids, each 1 to 1,000,000,000,000")
        }
        guard taxCategory.map({ SKUCode($0) != nil }) ?? true else {
            throw SKUFault(field: "tax_category", reason: "must match [a-z0-9][a-z0-9_.-]{0,63}")
        }
        guard attributes.count <= 50 else { throw SKUFault(field: "attributes", reason: "at most 50") }
        guard !JSONValue.object(attributes).holdsNUL else {
            throw SKUFault(field: "attributes", reason: "text must not contain U+0000")
        }
        let localizationsAreGood =
            localizations.count <= 50
            && localizations.allSatisfy { language, text in
                language.hasScalars(1...35) && language.isPlain && text.name.hasScalars(1...200) && text.name.isPlain
                    && (text.description.map { $0.hasScalars(0...4_000) && $0.isPlainText } ?? true)
            }
        guard localizationsAreGood else {
            throw SKUFault(
                field: "localizations",
                reason: "at most 50, each with a name of 1 to 200 characters and no control characters")
        }
    }
}

extension JSONValue {
    /// True where a string or a member's name contains U+0000, which a text column cannot store.
    package var holdsNUL: Bool {
        switch self {
        case .string(let text): text.utf8.contains(0)
        case .array(let values): values.contains(where: \.holdsNUL)
        case .object(let members): members.contains { $0.key.utf8.contains(0) || $0.value.holdsNUL }
        case .null, .bool, .integer, .number: false
        }
    }
}
