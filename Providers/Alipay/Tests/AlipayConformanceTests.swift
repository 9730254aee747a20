import ProviderTesting
import Testing

struct AlipayConformanceTests {
    private static let always = [
        "a payer of another app, or without a needed openid, is refused before anything is asked",
        "a cancelled payment cannot be paid any more", "cancelling a payment that was never opened closes it",
        "cancelling is unsupported where the manifest has none",
        "a partial refund is refused where the manifest has only full ones",
        "refunds are refused where the manifest has none", "notifications are unsupported where the manifest has none",
        "a notification from the future is refused", "another payment's reference gives none of its facts",
        "impossible numbers in an answer are never a refusal",
        "the pay page shows the payment, and only its own form is understood",
        "the pay page of an unknown payment does not exist",
    ]
    /// A page's address is signed locally: its opening makes no call.
    private static let withoutCalls = [
        "unknown fields in an answer change nothing",
        "a lost reply to an opening is an unknown outcome with one effect",
        "an unavailable service changes nothing", "a slow service changes no result",
        "garbage instead of an answer is never believed and never a refusal",
        "a server error is never taken for a refusal", "an answer that is too large ends in an unknown outcome",
        "an answer that never comes ends in an unknown outcome",
        "every call limits its time and the size of its answer",
        "an opening that ended between any two steps is repeated with one effect",
    ]

    @Test(
        arguments: [
            ("precreate", false), ("precreate", true), ("web", false), ("app", false), ("app", true),
            ("precreate web app", false),
        ])
    func `alipay conforms in each of its modes`(mode: String, hasCertificates: Bool) async {
        let subject = "alipay, \(mode), \(hasCertificates ? "certificates" : "public key")"
        let report = await ProviderConformance(subject) {
            AlipayRehearsal(mode: mode, hasCertificates: hasCertificates)
        }.run()
        #expect(report.isGreen, "\(report)")
        #expect(report.results.count == ProviderConformance.checkNames.count)
        let expected =
            Self.always + ProviderConformance.mandateCheckNames
            + (mode.hasPrefix("precreate") ? [] : Self.withoutCalls)
            + (mode.contains(" ") ? [] : ["a client gets a contract type that it accepts"])
        #expect(Set(report.notApplicable) == Set(expected) && report.notApplicable.count == expected.count, "\(report)")
    }
}
