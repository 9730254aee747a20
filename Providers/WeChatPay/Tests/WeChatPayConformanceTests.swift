import ProviderKit
import ProviderTesting
import Testing

struct WeChatPayConformanceTests {
    @Test(
        arguments: [
            ("native, platform certificates", [:]), ("native, public key", WeChatPayFixture.publicKey),
            ("h5, platform certificates", WeChatPayFixture.h5), ("app", WeChatPayFixture.wallet("app")),
            ("jsapi", WeChatPayFixture.wallet("jsapi")), ("native, jsapi and app", WeChatPayFixture.wallets),
        ] as [(String, [String: SettingValue])])
    func `wechat pay conforms in each of its modes`(name: String, settings: [String: SettingValue]) async {
        let report = await ProviderConformance("wechat pay, \(name)") { WeChatPayRehearsal(settings) }.run()
        #expect(report.isGreen, "\(report)")
        #expect(report.results.count == ProviderConformance.checkNames.count)
        let hasOneMode = settings["modes"] == nil
        let isOfAnApp = settings["app_ids"] != nil
        #expect(
            report.notApplicable == (hasOneMode ? ["a client gets a contract type that it accepts"] : [])
                + (isOfAnApp
                    ? [] : ["a payer of another app, or without a needed openid, is refused before anything is asked"])
                + [
                    "a cancelled payment cannot be paid any more",
                    "cancelling a payment that was never opened closes it",
                    "cancelling is unsupported where the manifest has none",
                    "a partial refund is refused where the manifest has only full ones",
                    "refunds are refused where the manifest has none",
                    "notifications are unsupported where the manifest has none",
                    "another payment's reference gives none of its facts",
                    "the pay page shows the payment, and only its own form is understood",
                    "the pay page of an unknown payment does not exist",
                ] + ProviderConformance.mandateCheckNames,
            "\(report)")
    }
}
