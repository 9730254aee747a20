import ProviderKit
import ProviderTesting
import Testing

struct EPayConformanceTests {
    private static let always = [
        "a client gets a contract type that it accepts",
        "a payer of another app, or without a needed openid, is refused before anything is asked",
        "a cancelled payment cannot be paid any more", "cancelling a payment that was never opened closes it",
        "cancelling a paid payment reports that it is paid", "cancelling by best effort ends well or says why not",
        "a lost reply to a cancel is an unknown outcome",
        "a cancel that ended between any two steps is repeated to its end",
        "a failed payment is not reported as paid or waiting", "partial refunds add up to the amount and no further",
        "refunds are refused where the manifest has none", "notifications are unsupported where the manifest has none",
        "a notification from the future is refused",
        "the pay page shows the payment, and only its own form is understood",
        "the pay page of an unknown payment does not exist",
    ]
    /// A page's address is signed locally: its opening makes no call and returns no reference.
    private static let withoutCalls = [
        "unknown fields in an answer change nothing",
        "a lost reply to an opening is an unknown outcome with one effect",
        "an unavailable service changes nothing", "a slow service changes no result",
        "garbage instead of an answer is never believed and never a refusal",
        "a server error is never taken for a refusal", "impossible numbers in an answer are never a refusal",
        "an answer that is too large ends in an unknown outcome",
        "an answer that never comes ends in an unknown outcome",
        "every call limits its time and the size of its answer",
        "an opening that ended between any two steps is repeated with one effect",
        "another payment's reference gives none of its facts",
    ]

    @Test(
        arguments: [("submit", .get), ("mapi_qr", .post), ("mapi_url", .get)]
            as [(String, ProviderManifest.NotificationMethod)])
    func `epay conforms in each of its modes`(mode: String, method: ProviderManifest.NotificationMethod) async {
        let report = await ProviderConformance("epay, \(mode), \(method)") {
            EPayRehearsal(mode: mode, method: method)
        }.run()
        #expect(report.isGreen, "\(report)")
        #expect(report.results.count == ProviderConformance.checkNames.count)
        let expected = Self.always + ProviderConformance.mandateCheckNames + (mode == "submit" ? Self.withoutCalls : [])
        #expect(Set(report.notApplicable) == Set(expected) && report.notApplicable.count == expected.count, "\(report)")
    }
}
