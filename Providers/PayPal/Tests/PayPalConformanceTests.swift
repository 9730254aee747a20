import ProviderKit
import ProviderTesting
import Testing

struct PayPalConformanceTests {
    @Test(
        arguments: [
            ("offline", [:], "payer-action"), ("by the API", PayPalFixture.byAPI, "approve"),
        ] as [(String, [String: SettingValue], String)])
    func `paypal conforms with either verification`(
        name: String, settings: [String: SettingValue], rel: String
    ) async {
        let report = await ProviderConformance("paypal, \(name)") { PayPalRehearsal(settings, rel: rel) }.run()
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
                "a notification from the future is refused",
                "a lost reply to a cancel is an unknown outcome",
                "the pay page shows the payment, and only its own form is understood",
                "the pay page of an unknown payment does not exist",
            ] + ProviderConformance.mandateCheckNames, "\(report)")
    }
}
