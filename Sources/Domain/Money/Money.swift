import Encodings

/// An amount in integer minor units of one currency.
///
/// `3990 CNY` is 39.90 yuan. Arithmetic is checked: it throws instead of wrapping or mixing currencies.
public struct Money: Hashable, Sendable, Codable {
    /// Minor units: fen, cents, yen.
    public let value: Int64
    public let currency: Currency

    public init(value: Int64, currency: Currency) {
        self.value = value
        self.currency = currency
    }
}

/// A failure of checked arithmetic with amounts.
public enum MoneyError: Error, Sendable, Equatable {
    case overflow
    case currencyMismatch
}

extension Money {
    /// - Throws: ``MoneyError/currencyMismatch`` or ``MoneyError/overflow``.
    public func adding(_ other: Money) throws(MoneyError) -> Money {
        try combined(other) { $0.addingReportingOverflow($1) }
    }

    /// - Throws: ``MoneyError/currencyMismatch`` or ``MoneyError/overflow``.
    public func subtracting(_ other: Money) throws(MoneyError) -> Money {
        try combined(other) { $0.subtractingReportingOverflow($1) }
    }

    /// - Throws: ``MoneyError/overflow``.
    public func multiplied(by factor: Int64) throws(MoneyError) -> Money {
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw .overflow }
        return Money(value: product, currency: currency)
    }

    public var isZero: Bool { value == 0 }

    /// Major units as exact text, `39.90`; the number of digits is the currency's.
    public var decimal: String {
        let digits = currency.minorDigits
        let sign = value < 0 ? "-" : ""
        let magnitude = String(value.magnitude)
        guard digits > 0 else { return sign + magnitude }
        let padded = String(repeating: "0", count: max(0, digits + 1 - magnitude.count)) + magnitude
        return sign + padded.dropLast(digits) + "." + padded.suffix(digits)
    }

    /// Reads major units as exact text; "10", "10.0" and "10.00" are one amount.
    ///
    /// - Returns: nil for anything but `-?[0-9]+(\.[0-9]+)?`, for digits beyond the currency's that are not zero, and on overflow.
    public init?(decimal text: String, currency: Currency) {
        let negative = text.first == "-"
        let parts = (negative ? text.dropFirst() : text[...]).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = parts.first, !whole.isEmpty else { return nil }
        let fraction = parts.count == 2 ? parts[1] : "0"
        let digits = currency.minorDigits
        guard !fraction.isEmpty, (whole + fraction).utf8.allSatisfy(\.isDigit),
            fraction.dropFirst(digits).allSatisfy({ $0 == "0" })
        else { return nil }
        let minor = fraction.prefix(digits) + String(repeating: "0", count: max(0, digits - fraction.count))
        guard let value = Int64((negative ? "-" : "") + whole + minor) else { return nil }
        self.init(value: value, currency: currency)
    }

    private func combined(
        _ other: Money, _ operation: (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
    ) throws(MoneyError) -> Money {
        guard currency == other.currency else { throw .currencyMismatch }
        let (result, overflow) = operation(value, other.value)
        guard !overflow else { throw .overflow }
        return Money(value: result, currency: currency)
    }
}

extension Money: CustomStringConvertible {
    public var description: String { "\(decimal) \(currency.code)" }
}
