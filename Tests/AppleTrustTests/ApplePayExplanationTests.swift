import AppleTrust
import Foundation
import TestSupport
import Testing

@Suite("Payment tokens are explained check by check")
struct ApplePayExplanationTests {
    private func explain(
        _ json: [UInt8], at now: Int64 = ApplePayTokenFixture.now
    ) -> (ApplePayExplanation, [String: ApplePayCheck.Outcome]) {
        let explanation = ApplePayTokenFixture.verifier.explain(String(decoding: json, as: UTF8.self), at: now)
        return (
            explanation, Dictionary(uniqueKeysWithValues: explanation.checks.map { ($0.name.rawValue, $0.outcome) })
        )
    }

    @Test(arguments: ApplePayRecipe.Version.allCases)
    func `a sound one passes all that can be judged without its order`(_ version: ApplePayRecipe.Version) {
        let (explanation, outcomes) = explain(ApplePayTokenFixture.token(version))
        #expect(explanation.refusal == nil)
        for (name, outcome) in outcomes where name != "applicationData" { #expect(outcome == .passed, "\(name)") }
        #expect(
            outcomes["applicationData"] == .notReached("only the order knows what the token has to be bound to"))
        let facts = Dictionary(uniqueKeysWithValues: explanation.token.map { ($0.name, $0.value) })
        #expect(facts["version"] == version.rawValue && facts["signed at"] == "2026-09-21T14:13:20Z")
        #expect(facts["judged at"] == "2026-09-21T14:13:20Z" && facts["network, unsigned"] == "Visa")
        #expect(facts["application data"]?.hasPrefix("bound to SHA-256 ") == true)
        #expect(explanation.certificates.count == 2)
    }

    @Test(arguments: [
        (ApplePayVariant.foreignRoot, ["chain"]), (.leafMarkerMissing, ["purpose"]), (.leafExpired, ["validity"]),
        (.signatureTampered, ["signature"]), (.signingTimeStale, ["signingTime"]),
        (.transactionIdentifierOther, ["transactionIdentifier"]), (.contentAttached, ["message"]),
        (.pointOffCurve, ["form"]), (.thirdCertificate, ["chain"]), (.dataTampered, ["signature"]),
        (.simulatorObject, ["form"]), (.leafOfOtherVersion, ["chain"]),
    ])
    func `a fault fails its own check only`(_ variant: ApplePayVariant, _ failing: [String]) {
        let (explanation, outcomes) = explain(ApplePayTokenFixture.token(.ec, variant))
        let failed = outcomes.filter { if case .failed = $0.value { true } else { false } }.keys.sorted()
        #expect(failed == failing)
        #expect(explanation.refusal?.reason.rawValue == variant.reason)
    }

    @Test func `an old token is one whose time is over`() {
        let (explanation, outcomes) = explain(ApplePayTokenFixture.token(), at: ApplePayTokenFixture.now + 86_400_000)
        #expect(explanation.refusal?.reason == .signingTimeOutOfWindow)
        #expect(explanation.refusal?.detail == "signed 86400 s ago, more than 300 s")
        #expect(outcomes["signature"] == .passed && outcomes["chain"] == .passed)
    }

    @Test func `any text is taken`() {
        let nested = String(repeating: "30800680", count: 1 << 17)
        let texts = [
            "", "{", nested, "{\"paymentData\":\"\(nested)\"}", String(repeating: "{\"paymentData\":", count: 70_000),
            "{\"paymentData\":{\"signature\":\"\(Data(repeating: 0x30, count: 20_000).base64EncodedString())\"}}",
        ]
        for text in texts {
            let (explanation, _) = explain(Array(text.utf8))
            #expect(explanation.refusal?.reason == .malformed)
        }
        for json in [
            ApplePayTokenFixture.token { $0.form = .text }, ApplePayTokenFixture.token { $0.form = .bare },
            ApplePayTokenFixture.token(),
        ] {
            #expect(ApplePayVerifier.isToken("\n " + String(decoding: json, as: UTF8.self)))
        }
        for text in ["", "{}", "MIIB", "eyJ.e30.AA", "{\"signedPayload\":\"a\"}", "[\"paymentData\"]"] {
            #expect(!ApplePayVerifier.isToken(text))
        }
    }
}
