import Foundation

extension Money {
    /// Writes the amount as payers do: ¥39.90 for CNY in every language, others as the language has it.
    ///
    /// - Parameter language: `en` or `zh-Hans`.
    package func written(in language: String) -> String {
        let digits = currency.minorDigits
        let style = Decimal.FormatStyle.Currency(
            code: currency.code, locale: Locale(identifier: language == "zh-Hans" ? "zh_Hans_CN" : "en_US"))
        return (Decimal(value) / pow(10, digits)).formatted(
            style.presentation(currency == .cny ? .narrow : .standard).precision(.fractionLength(digits)))
    }
}
