import Domain
import ProviderKit
import ProviderTesting
import Testing

@testable import StripeProvider

struct StripeAmountTests {
    @Test(
        arguments: [
            (3990, "USD", 3990), (1, "CNY", 1), (500, "JPY", 500), (500, "KRW", 500), (5_120, "KWD", 5_120),
            (10, "BHD", 10), (5, "ISK", 500), (100, "MGA", 1), (12_300, "MGA", 123), (500, "HUF", 500),
            (500, "TWD", 500),
        ] as [(Int64, String, Int64)])
    func `amounts are scaled exactly, both ways`(value: Int64, code: String, stripe: Int64) throws {
        let amount = try StripeAmount(money(value, code))
        #expect(amount.value == stripe && amount.currency == code.lowercased())
        #expect(StripeAmount.money(stripe, code.lowercased()) == money(value, code))
    }

    @Test(
        arguments: [
            (5_124, "KWD", "amount_last_digit_not_zero"), (1, "TND", "amount_last_digit_not_zero"),
            (150, "MGA", "amount_has_fraction"), (.max, "ISK", "amount_too_large"), (0, "USD", "amount_not_positive"),
            (-1, "USD", "amount_not_positive"), (500, "UGX", "currency_unsupported"),
            (500, "IQD", "currency_unsupported"), (500, "LYD", "currency_unsupported"),
            (500, "KPW", "currency_unsupported"),
        ] as [(Int64, String, String)])
    func `what cannot be charged exactly is refused`(value: Int64, code: String, reason: String) async throws {
        #expect(throws: ProviderError.rejected(reason: reason)) { try StripeAmount(money(value, code)) }
        let fixture = StripeFixture()
        let provider = try fixture.provider()
        await #expect(throws: ProviderError.unfit(reason: reason)) {
            try await provider.open(fixture.attempt(money(value, code)))
        }
        #expect(fixture.calls.isEmpty)
    }

    @Test(
        arguments: [
            (nil, "usd"), (1, nil), (-1, "usd"), (1, ""), (1, "xxx"), (1, "us"), (150, "isk"), (.max, "mga"),
        ] as [(Int64?, String?)])
    func `what Stripe says and our units cannot is no amount`(value: Int64?, code: String?) {
        #expect(StripeAmount.money(value, code) == nil)
    }

    @Test func `the manifest names each currency once, and all that are special`() {
        let codes = StripeProvider.manifest.currencies.map(\.code)
        #expect(Set(codes).count == codes.count && codes.count > 125 && codes == codes.sorted())
        #expect(Set(codes).isSuperset(of: ["USD", "EUR", "CNY", "JPY", "KWD", "ISK", "MGA"]))
    }
}
