public import Domain

/// The reason why an account can never charge an amount, whatever the payer does; known before any call.
public enum AmountFault: String, Sendable, CaseIterable {
    case currency = "currency_unsupported"
    case notPositive = "amount_not_positive"
    /// The account charges the currency in whole units only, and the amount has a fraction.
    case fraction = "amount_has_fraction"
    /// The last of three decimal digits must be 0.
    case lastDigit = "amount_last_digit_not_zero"
    case tooSmall = "amount_too_small"
    case tooLarge = "amount_too_large"
}

extension AmountFault {
    /// Returns the fault of an amount where an account charges one currency between two bounds in minor units.
    public static func of(_ amount: Money, in currency: String, _ range: ClosedRange<Int64>) -> AmountFault? {
        guard amount.currency.code == currency else { return .currency }
        guard amount.value > 0 else { return .notPositive }
        guard amount.value >= range.lowerBound else { return .tooSmall }
        return amount.value > range.upperBound ? .tooLarge : nil
    }
}
