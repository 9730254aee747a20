import ProviderKit
import ProviderTesting
import Testing

struct WeChatPayConformanceTests {
    @Test(
        arguments: [
            ("native, platform certificates", [:]), ("native, public key", WeChatPayFixture.publicKey),
            ("h5, platform certificates", WeChatPayFixture.h5),
        ] as [(String, [String: SettingValue])])
    func `wechat pay conforms in each of its modes`(name: String, settings: [String: SettingValue]) async {
        let report = await ProviderConformance("wechat pay, \(name)") { WeChatPayRehearsal(settings) }.run()
        #expect(report.isGreen, "\(report)")
        #expect(report.results.count == ProviderConformance.checkNames.count)
        #expect(
            report.notApplicable == [
                "a cancelled payment cannot be paid any more",
                "cancelling a payment that was never opened closes it",
                "cancelling is unsupported where the manifest has none",
                "a partial refund is refused where the manifest has only full ones",
                "refunds are refused where the manifest has none",
                "notifications are unsupported where the manifest has none",
                "another payment's reference gives none of its facts",
                "the pay page shows the payment, and only its own form is understood",
                "the pay page of an unknown payment does not exist",
            ] + ProviderConformance.mandateCheckNames, "\(report)")
    }
}
