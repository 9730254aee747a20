/// A thing that is sold, in the shape of the admin API, the catalogue file and the database.
///
/// Decoding fills in the defaults; ``validated()`` enforces the rules that types cannot.
package struct SKU: Hashable, Sendable {
    package enum Kind: String, Sendable, Codable, CaseIterable {
        case subscription, consumable
        case nonRenewing = "non_renewing"
        case nonConsumable = "non_consumable"
    }

    package enum Stacking: String, Sendable, Codable, CaseIterable {
        case none, extend
    }

    package enum OnRefund: String, Sendable, Codable, CaseIterable {
        case revoke, keep
    }

    package static let usualGraceDays: Int64 = 3

    /// The limit on how often a user may have a SKU whose price is 0.
    package enum Once: String, Sendable, Codable, CaseIterable {
        /// Once for each user, also after the grant was revoked or has ended.
        case ever
        /// Again when what was given has ended; units are given again at once.
        case running
        /// Any number of times.
        case none
    }

    /// The ways in which a subscription is sold outside of the App Store.
    package enum Renewal: String, Sendable, Codable, CaseIterable {
        /// Only through accounts whose provider renews by itself.
        case storeOnly = "store_only"
        /// A period at a time, through every account.
        case onePeriod = "one_period"
        /// Paydesk renews it, through accounts that charge mandates.
        case managed
    }

    /// The answer to Apple's consumption request, for a customer who consented.
    package enum Consumption: String, Sendable, Codable, CaseIterable {
        case ignore, decline
        case noPreference = "no_preference"
        case grantFull = "grant_full"
    }

    /// A length in which a SKU with a pattern product is sold, with its prices.
    package struct Option: Hashable, Sendable, Codable {
        package var days: Int64
        package var prices: [Money]
    }

    package struct Localization: Hashable, Sendable, Codable {
        package var name: String
        package var description: String?
    }

    package var id: String
    /// Assigned by the database, ascending; 0 before that.
    package var number: Int64
    package var name: String
    package var description: String
    package var kind: Kind
    package var tier: String
    package var rank: Int64
    package var durationDays: Int64?
    package var planCode: String?
    package var subscribeID: Int64?
    package var prices: [Money]
    package var appleProductIDs: [String]
    /// The promotional offers on its Apple products that are signed for their audiences.
    package var offers: [PromotionalOffer] = []
    package var options: [Option]
    package var units: [String: Int64]
    package var attributes: [String: JSONValue]
    package var clientFallback: Bool
    package var stacking: Stacking
    /// The stack group: passes of one group follow each other in time.
    package var stackGroup: String
    package var onRefund: OnRefund
    package var renewal: Renewal
    /// The length of one period of a subscription; nil where nobody said it.
    package var period: BillingPeriod?
    /// The days of the trial with which a managed subscription begins; 0 for none.
    package var trialDays: Int64
    /// The days for which access goes on while a renewal is refused.
    package var graceDays: Int64
    package var consumption: Consumption
    package var once: Once
    /// The name of its rate of tax in the settings of external purchases; nil for a SKU that is not sold so.
    package var taxCategory: String?
    /// True for goods and services that are used outside of the app, which Apple does not sell.
    package var physical = false
    package var active: Bool
    package var localizations: [String: Localization]
}

extension SKU: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, number, name, description, kind, tier, rank, prices, options, units, attributes, stacking, consumption,
            once, active, renewal, period, offers, physical
        case trialDays = "trial_days"
        case graceDays = "grace_days"
        case taxCategory = "tax_category"
        case localizations
        case durationDays = "duration_days"
        case planCode = "plan_code"
        case subscribeID = "subscribe_id"
        case appleProductIDs = "apple_product_ids"
        case clientFallback = "client_fallback"
        case stackGroup = "stack_group"
        case onRefund = "on_refund"
        case onePeriodElsewhere = "one_period_elsewhere"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(String.self, forKey: .id)
        number = 0
        name = try fields.decode(String.self, forKey: .name)
        description = try fields.decodeIfPresent(String.self, forKey: .description) ?? ""
        kind = try fields.decode(Kind.self, forKey: .kind)
        tier = try fields.decodeIfPresent(String.self, forKey: .tier) ?? ""
        rank = try fields.decodeIfPresent(Int64.self, forKey: .rank) ?? 0
        durationDays = try fields.decodeIfPresent(Int64.self, forKey: .durationDays)
        planCode = try fields.decodeIfPresent(String.self, forKey: .planCode)
        subscribeID = try fields.decodeIfPresent(Int64.self, forKey: .subscribeID)
        prices = try fields.decodeIfPresent([Money].self, forKey: .prices) ?? []
        appleProductIDs = try fields.decodeIfPresent([String].self, forKey: .appleProductIDs) ?? []
        offers = try fields.decodeIfPresent([PromotionalOffer].self, forKey: .offers) ?? []
        options = try fields.decodeIfPresent([Option].self, forKey: .options) ?? []
        units = try fields.decodeIfPresent([String: Int64].self, forKey: .units) ?? [:]
        attributes = try fields.decodeIfPresent([String: JSONValue].self, forKey: .attributes) ?? [:]
        clientFallback = try fields.decodeIfPresent(Bool.self, forKey: .clientFallback) ?? false
        stacking =
            try fields.decodeIfPresent(Stacking.self, forKey: .stacking) ?? (kind == .nonRenewing ? .extend : .none)
        stackGroup = try fields.decodeIfPresent(String.self, forKey: .stackGroup) ?? (tier.isEmpty ? id : tier)
        onRefund = try fields.decodeIfPresent(OnRefund.self, forKey: .onRefund) ?? .revoke
        renewal = try Self.renewal(in: fields)
        period = try fields.decodeIfPresent(BillingPeriod.self, forKey: .period)
        trialDays = try fields.decodeIfPresent(Int64.self, forKey: .trialDays) ?? 0
        graceDays = try fields.decodeIfPresent(Int64.self, forKey: .graceDays) ?? Self.usualGraceDays
        consumption = try fields.decodeIfPresent(Consumption.self, forKey: .consumption) ?? .ignore
        once = try fields.decodeIfPresent(Once.self, forKey: .once) ?? .ever
        taxCategory = try fields.decodeIfPresent(String.self, forKey: .taxCategory)
        physical = try fields.decodeIfPresent(Bool.self, forKey: .physical) ?? false
        active = try fields.decodeIfPresent(Bool.self, forKey: .active) ?? true
        localizations = try fields.decodeIfPresent([String: Localization].self, forKey: .localizations) ?? [:]
    }

    /// Reads `renewal`, or the older `one_period_elsewhere` that says the same of two of its words.
    private static func renewal(in fields: KeyedDecodingContainer<CodingKeys>) throws -> Renewal {
        let renewal = try fields.decodeIfPresent(Renewal.self, forKey: .renewal)
        let isElsewhere = try fields.decodeIfPresent(Bool.self, forKey: .onePeriodElsewhere)
        guard let renewal else { return isElsewhere == true ? .onePeriod : .storeOnly }
        guard isElsewhere == nil || isElsewhere == (renewal == .onePeriod) else {
            throw DecodingError.dataCorruptedError(
                forKey: .renewal, in: fields,
                debugDescription: "one_period_elsewhere says something else; leave one of the two out")
        }
        return renewal
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(number, forKey: .number)
        try fields.encode(name, forKey: .name)
        try fields.encode(description, forKey: .description)
        try fields.encode(kind, forKey: .kind)
        try fields.encode(tier, forKey: .tier)
        try fields.encode(rank, forKey: .rank)
        try fields.encodeIfPresent(durationDays, forKey: .durationDays)
        try fields.encodeIfPresent(planCode, forKey: .planCode)
        try fields.encodeIfPresent(subscribeID, forKey: .subscribeID)
        try fields.encode(prices, forKey: .prices)
        try fields.encode(appleProductIDs, forKey: .appleProductIDs)
        try fields.encode(offers, forKey: .offers)
        try fields.encode(options, forKey: .options)
        try fields.encode(units, forKey: .units)
        try fields.encode(attributes, forKey: .attributes)
        try fields.encode(clientFallback, forKey: .clientFallback)
        try fields.encode(stacking, forKey: .stacking)
        try fields.encode(stackGroup, forKey: .stackGroup)
        try fields.encode(onRefund, forKey: .onRefund)
        try fields.encode(renewal, forKey: .renewal)
        try fields.encode(renewal == .onePeriod, forKey: .onePeriodElsewhere)
        try fields.encodeIfPresent(period, forKey: .period)
        try fields.encode(trialDays, forKey: .trialDays)
        try fields.encode(graceDays, forKey: .graceDays)
        try fields.encode(consumption, forKey: .consumption)
        try fields.encode(once, forKey: .once)
        try fields.encodeIfPresent(taxCategory, forKey: .taxCategory)
        try fields.encode(physical, forKey: .physical)
        try fields.encode(active, forKey: .active)
        try fields.encode(localizations, forKey: .localizations)
    }
}

extension SKU {
    package var code: SKUCode? { SKUCode(id) }
    package var appleProducts: [AppleProduct] { appleProductIDs.compactMap(AppleProduct.init) }
    /// Every price that a checkout may ask: the options', or else the SKU's own.
    package var offeredPrices: [Money] { options.isEmpty ? prices : options.flatMap(\.prices) }
    /// The currencies in which this SKU has a price, in the order of its prices.
    package var currencies: [Currency] {
        offeredPrices.reduce(into: []) { found, price in
            if !found.contains(price.currency) { found.append(price.currency) }
        }
    }
    package var pattern: AppleProduct? { appleProducts.first(where: \.isPattern) }

    /// The name and description in the first of the caller's languages that has a localization (exact tag, else primary
    /// language), else the SKU's own.
    package func localized(for languages: [String]) -> Localization {
        for language in languages {
            let primary = language.split(separator: "-").first.map(String.init) ?? language
            let match =
                localizations[language]
                ?? localizations.sorted { $0.key < $1.key }.first {
                    $0.key == primary || $0.key.hasPrefix(primary + "-")
                }?.value
            if let match {
                return Localization(name: match.name, description: match.description ?? description)
            }
        }
        return Localization(name: name, description: description)
    }
}
