import Domain
import ProviderKit

/// An amount as PayPal writes it: a decimal text, whole for a few currencies that have cents elsewhere.
///
/// Source: developer.paypal.com/reference/currency-codes. Amounts are written exactly or refused, never rounded.
enum PayPalAmount {
    /// - Throws: `rejected` for what PayPal cannot charge exactly.
    static func text(_ money: Money) throws(ProviderError) -> String {
        guard currencies.contains(money.currency) else { throw .rejected(reason: "currency_unsupported") }
        guard money.value > 0 else { throw .rejected(reason: "amount_not_positive") }
        guard wholeOnly.contains(money.currency.code), money.currency.minorDigits == 2 else { return money.decimal }
        guard money.value % 100 == 0 else { throw .rejected(reason: "amount_has_fraction") }
        return String(money.value / 100)
    }

    /// - Returns: nil where it is no positive amount of a currency, or cannot be said exactly.
    static func money(_ object: PayPalObject.Amount?) -> Money? {
        guard let object, let code = object.currency_code, let currency = Currency(code), let value = object.value,
            let money = Money(decimal: value, currency: currency), money.value > 0
        else { return nil }
        return money
    }

    private static let wholeOnly: Set<String> = ["HUF", "JPY", "TWD"]

    /// Those that every PayPal account can take; CNY is for accounts in China alone and left out.
    static let currencies: [Currency] =
        "AUD BRL CAD CHF CZK DKK EUR GBP HKD HUF ILS JPY MXN MYR NOK NZD PHP PLN SEK SGD THB TWD USD"
        .split(separator: " ").compactMap { Currency(String($0)) }
}
