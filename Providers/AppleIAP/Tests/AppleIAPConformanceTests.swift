import AppleIAPProvider
import Crypto
import Domain
import ProviderKit
import ProviderTesting
import Testing

struct AppleIAPRehearsal: Rehearsal {
    var secrets: [String] { ["the shared secret of the tests", AppStoreFixture.privateKey.pemRepresentation] }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        let settings = ProviderSettings([
            "apps": .list([
                .object(["bundle_id": .text("com.example.app"), "shared_secret": .text(secrets[0])])
            ]),
            "api": .object([
                "key_id": .text(AppStoreFixture.keyID), "issuer_id": .text(AppStoreFixture.issuer),
                "private_key": .text(secrets[1]),
            ]),
        ])
        return try AppleIAPProvider(
            account: ProviderAccount(id: AccountID("apple-iap")!, settings: settings, isDevelopment: false),
            context: context)
    }
}

struct AppleIAPConformanceTests {
    @Test func `apple IAP conforms in everything that its manifest says`() async {
        let report = await ProviderConformance("apple_iap") { AppleIAPRehearsal() }.run()
        #expect(report.isGreen, "\(report)")
    }

    @Test func `what the manifest says is examined`() async {
        let report = await ProviderConformance("apple_iap") { AppleIAPRehearsal() }.run()
        for name in [
            "opening gives an instruction of the account's contract types",
            "one payment id opens one payment, however often",
            "an unpaid payment is not reported as paid", "cancelling is unsupported where the manifest has none",
            "refunds are refused where the manifest has none",
            "no secret is shown by any description or error",
        ] { #expect(report[name] == .passed, "\(name): \(report)") }
    }
}
