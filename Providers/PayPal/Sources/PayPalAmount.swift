import Domain
import ProviderKit

/// An amount as PayPal writes it: a decimal text, whole for a few currencies that have cents elsewhere.
///
/// Source: developer.paypal.com/reference/currency-codes. Amounts are written exactly or refused, never rounded.
enum PayPalAmount {
    /// - Throws: `rejected` for what PayPal cannot charge exactly.
    static func text(_ money: Money) throws(ProviderError) -> String {
        if let fault = fault(money) { throw .rejected(reason: fault.rawValue) }
        return isWhole(money.currency) ? String(money.value / 100) : money.decimal
    }

    /// Returns the reason why PayPal cannot move exactly this amount.
    static func fault(_ money: Money) -> AmountFault? {
        guard currencies.contains(money.currency) else { return .currency }
        guard money.value > 0 else { return .notPositive }
        return isWhole(money.currency) && money.value % 100 != 0 ? .fraction : nil
    }

    /// Returns whether PayPal takes no decimals of a currency that has two.
    private static func isWhole(_ currency: Currency) -> Bool {
        wholeOnly.contains(currency.code) && currency.minorDigits == 2
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
