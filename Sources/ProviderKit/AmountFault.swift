public import Domain

/// The reason why an account can never charge an amount, whatever the payer does; known before anything is asked.
public enum AmountFault: String, Sendable, CaseIterable {
    case currency = "currency_unsupported"
    case notPositive = "amount_not_positive"
    /// The currency is charged in whole units there, and the amount has a fraction.
    case fraction = "amount_has_fraction"
    /// The last of three decimal digits must be 0 there.
    case lastDigit = "amount_last_digit_not_zero"
    case tooSmall = "amount_too_small"
    case tooLarge = "amount_too_large"
}

extension AmountFault {
    /// The fault of an account that charges one currency between two bounds, in minor units.
    public static func of(_ amount: Money, in currency: String, _ range: ClosedRange<Int64>) -> AmountFault? {
        guard amount.currency.code == currency else { return .currency }
        guard amount.value > 0 else { return .notPositive }
        guard amount.value >= range.lowerBound else { return .tooSmall }
        return amount.value > range.upperBound ? .tooLarge : nil
    }
}
