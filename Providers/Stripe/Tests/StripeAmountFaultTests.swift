import Domain
import ProviderKit
import Testing

@testable import StripeProvider

struct StripeAmountFaultTests {
    @Test(
        arguments: [
            ("OMR", 2_345, .lastDigit), ("JOD", 7_130, nil), ("MGA", 20_050, .fraction), ("MGA", 20_000, nil),
            ("EUR", 12, .tooSmall), ("EUR", 50, nil), ("HUF", 17_400, .tooSmall), ("JPY", 49, .tooSmall),
            ("ISK", 5, nil),
            ("USD", 99_999_999, nil), ("USD", 100_000_000, .tooLarge), ("IDR", 100_000_000, nil),
            ("UGX", 100, .currency),
            ("USD", 0, .notPositive),
        ] as [(String, Int64, AmountFault?)])
    func `what Stripe can never charge is known before`(code: String, value: Int64, fault: AmountFault?) throws {
        let amount = Money(value: value, currency: try #require(Currency(code)))
        #expect(StripeAmount.chargeFault(amount) == fault)
    }
}
