import Domain
import ProviderKit

/// An amount in Stripe's own minor units, which differ from ISO 4217's for a few currencies.
///
/// Source: docs.stripe.com/currencies. Amounts are scaled exactly or refused, never rounded.
struct StripeAmount: Sendable, Equatable {
    let value: Int64
    /// Lower-case, as Stripe writes it.
    let currency: String

    /// - Throws: `rejected` for what Stripe cannot charge exactly.
    init(_ money: Money) throws(ProviderError) {
        guard Self.currencies.contains(money.currency) else { throw .rejected(reason: "currency_unsupported") }
        guard money.value > 0 else { throw .rejected(reason: "amount_not_positive") }
        switch Self.form(money.currency) {
        case .same: value = money.value
        case .wholeTens:
            guard money.value % 10 == 0 else { throw .rejected(reason: "amount_last_digit_not_zero") }
            value = money.value
        case .hundredfold:
            let (product, overflow) = money.value.multipliedReportingOverflow(by: 100)
            guard !overflow else { throw .rejected(reason: "amount_too_large") }
            value = product
        case .hundredth:
            guard money.value % 100 == 0 else { throw .rejected(reason: "amount_has_fraction") }
            value = money.value / 100
        }
        currency = money.currency.code.lowercased()
    }

    /// An amount as Stripe states it.
    ///
    /// - Returns: nil where it is no amount of a currency, or cannot be said exactly in the currency's minor units.
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

    /// How Stripe's number follows from ours.
    private static func form(_ currency: Currency) -> Form {
        switch currency.code {
        // Three decimals, of which the last must be 0.
        case "BHD", "JOD", "KWD", "OMR", "TND": .wholeTens
        // Without decimals since 2023, and still given with two that are 00.
        case "ISK": .hundredfold
        // Without decimals at Stripe, with two in ISO 4217.
        case "MGA": .hundredth
        default: .same
        }
    }

    /// What Stripe can present to payers.
    ///
    /// UGX is left out although Stripe takes it: its documentation lists it as a currency without decimals and tells in
    /// another place to give two, and one of the readings would charge a hundred times too much.
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
