import Domain
import ProviderKit

/// An amount in PayPal's form: a decimal text, without decimals for a few currencies that have them elsewhere.
///
/// Source: developer.paypal.com/reference/currency-codes. Amounts are converted exactly or refused, never rounded.
enum PayPalAmount {
    /// - Throws: `rejected` for an amount that PayPal cannot charge exactly.
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

    /// Returns whether PayPal accepts no decimals for a currency that has two.
    private static func isWhole(_ currency: Currency) -> Bool {
        wholeOnly.contains(currency.code) && currency.minorDigits == 2
    }

    /// - Returns: nil where it is no positive amount of a currency, or has no exact value.
    static func money(_ object: PayPalObject.Amount?) -> Money? {
        guard let object, let code = object.currency_code, let currency = Currency(code), let value = object.value,
            let money = Money(decimal: value, currency: currency), money.value > 0
        else { return nil }
        return money
    }

    private static let wholeOnly: Set<String> = ["HUF", "JPY", "TWD"]

    /// The currencies of every PayPal account; CNY, which only accounts in China have, is left out.
    static let currencies: [Currency] =
        "AUD BRL CAD CHF CZK DKK EUR GBP HKD HUF ILS JPY MXN MYR NOK NZD PHP PLN SEK SGD THB TWD USD"
        .split(separator: " ").compactMap { Currency(String($0)) }
}
