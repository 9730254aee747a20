/// A storefront in which is sold outside of the App Store, from a day on, with its rates of tax.
public struct ExternalRegion: Hashable, Sendable {
    /// ISO 3166 alpha-3.
    public let storefront: String
    public let from: Timestamp
    /// Hundredths of a percent by a SKU's `tax_category`.
    public let rates: [String: Int64]

    public init(storefront: String, from: Timestamp, rates: [String: Int64]) {
        self.storefront = storefront
        self.from = from
        self.rates = rates
    }
}

/// The storefronts in which an operator sells outside of the App Store.
///
/// They are the operator's settings; no opinion on the law is in the code.
public struct ExternalRegions: Hashable, Sendable {
    /// The reason why something cannot be sold so.
    public enum Refusal: Error, Sendable, Equatable {
        case storefront, taxCategory, taxRate, currency
    }

    public let all: [ExternalRegion]

    public init(_ all: [ExternalRegion] = []) { self.all = all }

    /// Returns the rate of tax of a sale.
    ///
    /// The entry that began last counts among several of one storefront.
    ///
    /// - Throws: the first reason that prevents the sale.
    public func rate(
        in storefront: String, of category: String?, currency: Currency, at time: Timestamp
    ) throws(Refusal) -> Int64 {
        let begun = all.filter { $0.storefront == storefront && $0.from <= time }
        guard let region = begun.max(by: { $0.from < $1.from }) else { throw .storefront }
        guard let category else { throw .taxCategory }
        guard let rate = region.rates[category] else { throw .taxRate }
        guard Self.currencies.contains(currency.code) else { throw .currency }
        return rate
    }

    /// The currencies in which Apple takes reports.
    ///
    /// An amount in another one would have to be converted by an exchange rate, which Paydesk does not know. Source:
    /// Apple, External Purchase Server API, `reportingCurrency`.
    public static let currencies: Set<String> = Set(
        """
        CLP EUR QAR COP VND EGP THB HKD NOK BRL GBP AUD SEK INR BGN ZAR KZT NGN TWD MXN CHF PEN DKK AED ILS KRW PHP TZS \
        PKR HUF IDR CNY MYR RUB RON SGD TRY CZK SAR USD NZD PLN JPY CAD
        """.split(separator: " ").map(String.init))

    /// Returns whether a text is three capitals, the form of ISO 3166-1 alpha-3.
    public static func isStorefront(_ text: String) -> Bool {
        text.hasBytes(3...3) { (0x41...0x5A).contains($0) }
    }
}
