import ApplePayProvider
import Domain
import ProviderKit
import ProviderTesting
import TestSupport
import Testing

struct ApplePayRehearsal: Rehearsal {
    var secrets: [String] { [ApplePayTestTokens.processingEC.keyPEM, ApplePayTestTokens.identity.keyPEM] }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        try ApplePayProvider(
            account: ProviderAccount(
                id: try .test("apple-pay"), settings: ProviderSettings(ApplePayGatewayFixtureSetup().settings),
                isDevelopment: true),
            context: context)
    }

    /// Returns false: payments are made at the processor, not at Apple Pay.
    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool { false }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        UpstreamEffects(payments: try await context.book.value(payment.rawValue) == nil ? 0 : 1)
    }
}

struct ApplePayConformanceTests {
    @Test func `Apple Pay conforms in everything that its manifest says`() async {
        let report = await ProviderConformance("apple_pay") { ApplePayRehearsal() }.run()
        #expect(report.isGreen, "\(report)")
        for name in [
            "opening gives an instruction of the account's contract types",
            "one payment id opens one payment, however often", "an unpaid payment is not reported as paid",
            "no secret is shown by any description or error",
        ] { #expect(report[name] == .passed, "\(name): \(report)") }
    }
}
