import ProviderTesting
import Testing

struct StripeConformanceTests {
    @Test(arguments: ["payment_intent", "checkout_session"])
    func `stripe conforms in each of its modes`(mode: String) async {
        let report = await ProviderConformance("stripe, \(mode)") { StripeRehearsal(mode: mode) }.run()
        #expect(report.isGreen, "\(report)")
        #expect(report.results.count == ProviderConformance.checkNames.count)
        #expect(
            report.notApplicable == [
                "a client gets a contract type that it accepts",
                "a payer of another app, or without a needed openid, is refused before anything is asked",
                "cancelling by best effort ends well or says why not",
                "cancelling is unsupported where the manifest has none",
                "a partial refund is refused where the manifest has only full ones",
                "refunds are refused where the manifest has none",
                "notifications are unsupported where the manifest has none",
                "the pay page shows the payment, and only its own form is understood",
                "the pay page of an unknown payment does not exist",
            ], "\(report)")
    }
}
