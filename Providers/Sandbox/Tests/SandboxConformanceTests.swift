import ProviderTesting
import Testing

struct SandboxConformanceTests {
    @Test(arguments: ["stripe", "url", "qr", "none"])
    func `the sandbox conforms with each of its contracts`(contract: String) async {
        let report = await ProviderConformance("sandbox, \(contract)") { SandboxRehearsal(contract: contract) }.run()
        #expect(report.isGreen, "\(report)")
        #expect(report.results.count == ProviderConformance.checkNames.count)
    }

    @Test func `with a pay page only what the manifest excludes is not examined`() async {
        let report = await ProviderConformance("sandbox") { SandboxRehearsal(contract: "url") }.run()
        #expect(
            report.notApplicable == [
                "a client gets a contract type that it accepts",
                "a payer of another app, or without a needed openid, is refused before anything is asked",
                "cancelling by best effort ends well or says why not",
                "cancelling is unsupported where the manifest has none",
                "a partial refund is refused where the manifest has only full ones",
                "refunds are refused where the manifest has none",
                "notifications are unsupported where the manifest has none",
                // Its own account book plays the payment service, so no other answer can come from it.
                "a notification of another account's payment states nothing",
                "another payment's reference gives none of its facts", "unknown fields in an answer change nothing",
                "an unknown status that is asked for is neither a success nor an end",
                "garbage instead of an answer is never believed and never a refusal",
                "a server error is never taken for a refusal", "impossible numbers in an answer are never a refusal",
                "an answer that is too large ends in an unknown outcome",
                "an answer that never comes ends in an unknown outcome",
                "every call limits its time and the size of its answer",
            ], "\(report)")
    }
}
