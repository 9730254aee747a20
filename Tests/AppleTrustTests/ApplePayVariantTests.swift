import AppleTrust
import TestSupport
import Testing

@Suite("Each variant of a payment token has its own reason")
struct ApplePayVariantTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let version: ApplePayRecipe.Version
        let variant: ApplePayVariant
        var testDescription: String { "\(version.rawValue) \(variant.rawValue)" }

        static let all = ApplePayVariant.allCases.flatMap { variant in
            variant.versions.map { Case(version: $0, variant: variant) }
        }
    }

    @Test(arguments: Case.all)
    func `with application data`(_ example: Case) {
        var bound: [UInt8]? = ApplePayTokenFixture.applicationData
        // What is added after signing was not asked for before.
        if example.variant == .applicationDataAdded { bound = nil }
        let json = ApplePayTestTokens.token(
            applicationData: bound, version: example.version, at: ApplePayTokenFixture.seconds, variant: example.variant
        )
        #expect(ApplePayTokenFixture.reason(json) == example.variant.reason)
    }

    @Test(arguments: Case.all)
    func `without a key, everything but the key itself`(_ example: Case) throws {
        guard !example.variant.needsKey else { return }
        let json = ApplePayTokenFixture.token(example.version, example.variant) {
            if example.variant == .applicationDataAdded { $0.applicationData = nil }
        }
        let refusal = ApplePayTokenFixture.refusal(json, ring: ApplePayKeyRing([]))
        #expect(refusal?.reason.rawValue == example.variant.reason ?? "unknown_merchant_key")
    }

    /// A chain that is remembered makes nothing sound that was not.
    @Test(arguments: Case.all)
    func `twice in turn with a sound one`(_ example: Case) throws {
        let verifier = try ApplePayVerifier(ApplePayVerifierConfiguration(extraRoots: [ApplePayTestTokens.root.der]))
        let sound = ApplePayTokenFixture.token(example.version)
        let json = ApplePayTokenFixture.token(example.version, example.variant) {
            if example.variant == .applicationDataAdded { $0.applicationData = nil }
        }
        for _ in 0..<2 {
            #expect(ApplePayTokenFixture.refusal(sound, verifier) == nil)
            #expect(ApplePayTokenFixture.refusal(json, verifier)?.reason.rawValue == example.variant.reason)
        }
    }

    @Test func `every reason is reached`() {
        let reached = Set(Case.all.compactMap(\.variant.reason)).union(["application_data_mismatch"])
        #expect(reached == Set(ApplePayRefusal.Reason.allCases.map(\.rawValue)))
    }

    @Test(arguments: [(ApplePayVariant.derEncoding, true), (.foreignRoot, false)])
    func `without the test's root nothing is trusted`(_ variant: ApplePayVariant, _: Bool) throws {
        let verifier = try ApplePayVerifier()
        #expect(
            ApplePayTokenFixture.refusal(ApplePayTokenFixture.token(.ec, variant), verifier)?.reason == .untrustedChain)
    }
}
