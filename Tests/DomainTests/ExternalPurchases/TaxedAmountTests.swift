import Testing

@testable import Domain

@Suite("Amounts with their tax, as Apple takes them")
struct TaxedAmountTests {
    private static func money(_ value: Int64, _ currency: String = "EUR") throws -> Money {
        Money(value: value, currency: try #require(Currency(currency)))
    }

    @Test(arguments: [
        (999 as Int64, "EUR", 1_900 as Int64, TaxedAmount(inclusive: 9_990, exclusive: 8_395)),
        (1_200, "JPY", 1_000, TaxedAmount(inclusive: 1_200_000, exclusive: 1_090_909)),
        // 62.5 is rounded up.
        (8, "EUR", 2_800, TaxedAmount(inclusive: 80, exclusive: 63)),
        (1, "EUR", 1_900, TaxedAmount(inclusive: 10, exclusive: 8)),
        (11_900, "EUR", 1_900, TaxedAmount(inclusive: 119_000, exclusive: 100_000)),
        (999, "EUR", 0, TaxedAmount(inclusive: 9_990, exclusive: 9_990)),
        (0, "EUR", 1_900, TaxedAmount(inclusive: 0, exclusive: 0)),
        (1_234, "KWD", 500, TaxedAmount(inclusive: 1_234, exclusive: 1_175)),
        (
            1_000_000_000_000, "JPY", 10_000,
            TaxedAmount(inclusive: 1_000_000_000_000_000, exclusive: 500_000_000_000_000)
        ),
    ])
    func `a price includes its tax`(_ value: Int64, _ currency: String, _ rate: Int64, _ wanted: TaxedAmount) throws {
        let amount = try Self.money(value, currency)
        #expect(TaxedAmount(amount, rate: rate) == wanted)
        #expect(Money(milliunits: wanted.inclusive, currency: amount.currency) == amount)
    }

    @Test(arguments: [
        (999 as Int64, "EUR", 1_900 as Int64, 160 as Int64), (8, "EUR", 2_800, 2), (1_200, "JPY", 1_000, 109),
        (1_234, "KWD", 500, 59), (999, "EUR", 0, 0), (.max, "EUR", 10_000, 461_168_601_842_738_790),
    ])
    func `a receipt shows the tax in minor units`(
        _ value: Int64, _ currency: String, _ rate: Int64, _ tax: Int64
    ) throws {
        #expect(try Self.money(value, currency).includedTax(rate: rate) == Self.money(tax, currency))
    }

    @Test
    func `refunds sum up to the purchase`() throws {
        let whole = TaxedAmount(try Self.money(999), rate: 1_900)
        let first = whole.refund(of: try Self.money(400), rate: 1_900, after: [])
        let rest = whole.refund(of: try Self.money(599), rate: 1_900, after: [first])
        #expect(first == TaxedAmount(inclusive: 4_000, exclusive: 3_361))
        #expect(rest == TaxedAmount(inclusive: 5_990, exclusive: 5_034))
        #expect(first.exclusive + rest.exclusive == whole.exclusive)
    }

    @Test(arguments: [0 as Int64, 500, 700, 1_900, 2_800, 10_000])
    func `many small refunds sum up, and none has a negative tax`(_ rate: Int64) throws {
        for value in [7 as Int64, 100, 101, 999] {
            let whole = TaxedAmount(try Self.money(value), rate: rate)
            var made: [TaxedAmount] = []
            for _ in 0..<value { made.append(whole.refund(of: try Self.money(1), rate: rate, after: made)) }
            #expect(made.reduce(0) { $0 + $1.exclusive } == whole.exclusive)
            #expect(made.allSatisfy { $0.tax >= 0 && $0.exclusive >= 0 })
        }
    }
}
