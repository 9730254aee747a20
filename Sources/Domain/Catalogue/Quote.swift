/// The price and terms of a checkout of a SKU, before any provider is chosen.
package struct Quote: Sendable, Equatable {
    package let amount: Money
    package let terms: OrderTerms
    /// The chosen option's days; nil where the SKU has no options, or where Apple's product decides the length.
    package let days: Int64?

    package init(amount: Money, terms: OrderTerms, days: Int64?) {
        self.amount = amount
        self.terms = terms
        self.days = days
    }
}

/// The field of a checkout request that does not fit its SKU.
package enum QuoteFault: String, Error, Sendable {
    case quantity, days, currency
}

extension SKU {
    package static let quantityRange: ClosedRange<Int64> = 1...1_000

    /// Computes the price and the terms of a checkout.
    ///
    /// - Parameter appleOffersAll: the client can only buy through Apple, where a pattern without `days` offers every option.
    /// - Throws: the request's field that does not fit this SKU.
    package func quote(
        quantity: Int64, days: Int64?, currency: Currency, appleOffersAll: Bool
    ) throws(QuoteFault) -> Quote {
        guard Self.quantityRange.contains(quantity), quantity == 1 || kind == .consumable || kind == .nonRenewing else {
            throw .quantity
        }
        var priceList = prices
        var soldDays = durationDays
        if !options.isEmpty {
            let option =
                days.map { days in options.first { $0.days == days } } ?? (appleOffersAll ? options.first : nil)
            guard let option else { throw .days }
            priceList = option.prices
            soldDays = option.days
        } else if days != nil {
            throw .days
        }
        // A pass without a length would be paid and grant nothing; only Apple's product can still decide it.
        guard kind != .nonRenewing || soldDays != nil || appleOffersAll else { throw .days }
        guard let price = priceList.first(where: { $0.currency == currency }) else { throw .currency }
        guard let amount = try? price.multiplied(by: quantity) else { throw .quantity }
        // A free SKU is given one at a time.
        guard !amount.isZero || quantity == 1 else { throw .quantity }
        var length: Int64?
        if let soldDays, kind == .nonRenewing || kind == .subscription {
            let (days, overflow) = soldDays.multipliedReportingOverflow(by: quantity)
            let longest = AppleProduct.dayRange.upperBound * Self.quantityRange.upperBound
            guard !overflow, days <= longest else { throw .quantity }
            length = days
        }
        return Quote(amount: amount, terms: terms(days: length, quantity: quantity), days: options.isEmpty ? nil : days)
    }

    /// The snapshot of this SKU that an order stores, for a whole length in days and a quantity.
    package func terms(days: Int64?, quantity: Int64) -> OrderTerms {
        OrderTerms(
            name: name, kind: kind, tier: tier, rank: rank, days: days,
            stackGroup: kind == .nonRenewing && stacking == .extend ? stackGroup : nil,
            onRefund: onRefund, units: units.mapValues { $0.multipliedReportingOverflow(by: quantity).partialValue },
            attributes: attributes)
    }

    /// The Apple product ids that a checkout offers: literals, and the pattern's ids for the chosen or for all options.
    ///
    /// A literal of a pass is offered only where the SKU says how long it lasts.
    ///
    /// - Parameter bundles: the configured apps; an entry bound to another app is not offered.
    package func appleOffer(days: Int64?, bundles: Set<String>? = nil) -> [String] {
        let entries = appleProducts.filter { entry in
            guard let bundle = entry.bundle, let bundles else { return true }
            return bundles.contains(bundle)
        }
        return entries.flatMap { entry -> [String] in
            guard entry.isPattern else {
                return lasts(durationDays) && (days == nil || options.isEmpty) ? [entry.product] : []
            }
            if let days { return [entry.productID(days: days)] }
            if !options.isEmpty { return options.map { entry.productID(days: $0.days) } }
            return durationDays.map { [entry.productID(days: $0)] } ?? []
        }
    }
}
