import Domain
import ProviderKit

/// An amount in Stripe's own minor units, which differ from ISO 4217's for a few currencies.
///
/// Source: docs.stripe.com/currencies. Amounts are scaled exactly or refused, never rounded.
struct StripeAmount: Sendable, Equatable {
    let value: Int64
    /// The currency in lower case, Stripe's form.
    let currency: String

    /// - Throws: `rejected` for an amount that Stripe cannot charge exactly.
    init(_ money: Money) throws(ProviderError) {
        if let fault = Self.fault(money) { throw .rejected(reason: fault.rawValue) }
        value =
            switch Self.form(money.currency) {
            case .same, .wholeTens: money.value
            case .hundredfold: money.value * 100
            case .hundredth: money.value / 100
            }
        currency = money.currency.code.lowercased()
    }

    /// Returns the reason why Stripe cannot charge or refund exactly this amount.
    static func fault(_ money: Money) -> AmountFault? {
        guard currencies.contains(money.currency) else { return .currency }
        guard money.value > 0 else { return .notPositive }
        switch form(money.currency) {
        case .same: return nil
        case .wholeTens: return money.value % 10 == 0 ? nil : .lastDigit
        case .hundredfold: return money.value > Int64.max / 100 ? .tooLarge : nil
        case .hundredth: return money.value % 100 == 0 ? nil : .fraction
        }
    }

    /// Returns the reason why Stripe can never charge exactly this amount; refunds may be below the minimum.
    ///
    /// Source: docs.stripe.com/currencies, "Minimum and maximum charge amounts". Where it has no minimum for a
    /// currency, that of the account's settlement currency applies after a conversion that is unknown here.
    static func chargeFault(_ money: Money) -> AmountFault? {
        if let fault = fault(money) { return fault }
        guard let amount = try? StripeAmount(money) else { return .fraction }
        if amount.value < minima[money.currency.code] ?? 1 { return .tooSmall }
        return amount.value > limit(money.currency.code) ? .tooLarge : nil
    }

    /// The minimum charges, in Stripe's units.
    private static let minima: [String: Int64] = [
        "AED": 200, "AUD": 50, "BRL": 50, "CAD": 50, "CHF": 50, "CZK": 1_500, "DKK": 250, "EUR": 50, "GBP": 30,
        "HKD": 400, "HUF": 17_500, "INR": 50, "JPY": 50, "MXN": 1_000, "MYR": 200, "NOK": 300, "NZD": 50, "PLN": 200,
        "RON": 200, "SEK": 300, "SGD": 50, "THB": 1_000, "USD": 50,
    ]

    /// Returns the maximum: eight digits, and more for currencies of low value.
    private static func limit(_ code: String) -> Int64 {
        switch code {
        case "IDR", "LBP": 999_999_999_999
        case "COP", "HUF", "JPY": 9_999_999_999
        case "INR": 999_999_999
        default: 99_999_999
        }
    }

    /// Converts an amount of Stripe's.
    ///
    /// - Returns: nil where it is no amount of a currency, or has no exact value in the currency's minor units.
    static func money(_ value: Int64?, _ currency: String?) -> Money? {
        guard let value, value >= 0, let currency = currency.flatMap({ Currency($0.uppercased()) }) else { return nil }
        switch form(currency) {
        case .same, .wholeTens: return Money(value: value, currency: currency)
        case .hundredfold: return value % 100 == 0 ? Money(value: value / 100, currency: currency) : nil
        case .hundredth:
            let (product, overflow) = value.multipliedReportingOverflow(by: 100)
            return overflow ? nil : Money(value: product, currency: currency)
        }
    }

    private enum Form { case same, wholeTens, hundredfold, hundredth }

    /// Returns the form of Stripe's number for a currency.
    private static func form(_ currency: Currency) -> Form {
        switch currency.code {
        // Three decimals, of which the last must be 0.
        case "BHD", "JOD", "KWD", "OMR", "TND": .wholeTens
        // Without decimals since 2023, but still written with two zeros.
        case "ISK": .hundredfold
        // Without decimals at Stripe, with two in ISO 4217.
        case "MGA": .hundredth
        default: .same
        }
    }

    /// The currencies in which Stripe can charge payers.
    ///
    /// UGX is left out although Stripe supports it: its documentation lists it as a currency without decimals and
    /// elsewhere requires two, and one of the readings would charge a hundred times too much.
    static let currencies: [Currency] =
        """
        AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY \
        COP CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR \
        ISK JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK \
        MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD \
        SHP SLE SOS SRD STN SZL THB TJS TND TOP TRY TTD TWD TZS UAH USD UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER \
        ZAR ZMW
        """.split(separator: " ").compactMap { Currency(String($0)) }
}
