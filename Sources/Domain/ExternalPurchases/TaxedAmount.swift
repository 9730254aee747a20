/// An amount with the tax that it includes, in milliunits of its currency, as Apple takes it.
package struct TaxedAmount: Hashable, Sendable {
    package let inclusive: Int64
    package let exclusive: Int64

    package var tax: Int64 { inclusive - exclusive }

    package init(inclusive: Int64, exclusive: Int64) {
        self.inclusive = inclusive
        self.exclusive = exclusive
    }
}

extension TaxedAmount {
    /// The largest rate of tax: 100 %, in hundredths of a percent.
    package static let rates: ClosedRange<Int64> = 0...10_000

    /// Splits a price that includes tax, the tax rounded so that the rest is rounded half up.
    ///
    /// - Parameter rate: in hundredths of a percent, 1900 for 19 %.
    package init(_ amount: Money, rate: Int64) {
        let inclusive = amount.milliunits
        self.init(inclusive: inclusive, exclusive: Self.exclusive(inclusive, rate))
    }

    private static func exclusive(_ inclusive: Int64, _ rate: Int64) -> Int64 {
        let whole = Int128(10_000 + rate)
        return Int64(clamping: (Int128(inclusive) * 20_000 + whole) / (2 * whole))
    }

    /// Returns a refund of this purchase.
    ///
    /// The refund that makes the purchase whole takes what is left, so that the sums agree. Small refunds before it are
    /// kept within what leaves no negative tax for those after them.
    ///
    /// - Parameters:
    ///   - amount: is at most what is left of the purchase.
    ///   - returned: the refunds before it.
    package func refund(of amount: Money, rate: Int64, after returned: [TaxedAmount]) -> TaxedAmount {
        let leftInclusive = inclusive - returned.reduce(0) { $0 + $1.inclusive }
        let leftExclusive = exclusive - returned.reduce(0) { $0 + $1.exclusive }
        let part = min(amount.milliunits, leftInclusive)
        let least = max(0, leftExclusive - (leftInclusive - part))
        let most = min(leftExclusive, part)
        return TaxedAmount(
            inclusive: part, exclusive: min(max(Self.exclusive(part, rate), least), max(most, least)))
    }
}

extension Order {
    /// The tax that the charge includes; nil where it is not known, which it is of external purchases alone.
    package var includedTax: Money? {
        external.flatMap { (charged ?? amount)?.includedTax(rate: $0.taxRate) }
    }
}

extension Money {
    /// The milliunits of the currency's unit: thousandths of a euro, of a yen.
    package var milliunits: Int64 {
        let factor: Int64 =
            switch currency.minorDigits {
            case 0: 1_000
            case 3: 1
            default: 10
            }
        return Int64(clamping: Int128(value) * Int128(factor))
    }

    /// Returns the tax that this amount includes, rounded half up to the minor unit of the currency.
    ///
    /// - Parameter rate: in hundredths of a percent.
    package func includedTax(rate: Int64) -> Money {
        let factor = Money(value: 1, currency: currency).milliunits
        return Money(value: (TaxedAmount(self, rate: rate).tax + factor / 2) / factor, currency: currency)
    }

    /// Reads milliunits of a currency, whose last digits are 0 where the currency has fewer.
    package init(milliunits: Int64, currency: Currency) {
        let factor = Money(value: 1, currency: currency).milliunits
        self.init(value: milliunits / factor, currency: currency)
    }
}
