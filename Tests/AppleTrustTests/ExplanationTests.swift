import AppleTrust
import Testing

@Suite("Explaining a JWS")
struct ExplanationTests {
    private let verifier = TestVerifier.new()

    private func outcomes(_ explanation: AppleExplanation) -> [AppleCheck.Name: AppleCheck.Outcome] {
        Dictionary(uniqueKeysWithValues: explanation.checks.map { ($0.name, $0.outcome) })
    }

    @Test func `a sound transaction passes every check and is described`() throws {
        let explanation = verifier.explain(TestJWS().text)
        #expect(explanation.kind == .transaction && explanation.refusal == nil)
        #expect(explanation.checks.map(\.name) == AppleCheck.Name.common)
        #expect(explanation.checks.allSatisfy { $0.outcome == .passed })
        #expect(explanation.header.first { $0.name == "alg" }?.value == "ES256")
        #expect(explanation.header.first { $0.name == "x5c" }?.value == "list of 3")
        #expect(explanation.payload.first { $0.name == "productId" }?.value == "com.example.vip.month")
        let leaf = try #require(explanation.certificates.first)
        #expect(leaf.subject.contains(TestChain.leafName) && leaf.issuer.contains("WWDR") && !leaf.isAuthority)
        #expect(leaf.extensions.contains("1.2.840.113635.100.6.11.1") && leaf.fingerprint.count == 64)
        #expect(leaf.validFrom == TestTime.now - 700 * TestTime.day)
        #expect(leaf.validUntil == TestTime.now + 700 * TestTime.day + 999)
        #expect(explanation.certificates.count == 2 && explanation.certificates[1].isAuthority)
    }

    @Test func `checks go on after one that failed`() {
        var jws = TestJWS(chain: TestChain(leaf: { $0.days = -9...(-1) }), signer: .new(.p256))
        jws.payload["bundleId"] = "\"com.other\""
        jws.payload["environment"] = "\"Xcode\""
        jws.header["alg"] = "\"none\""
        let explanation = verifier.explain(jws.text)
        let failed = explanation.checks.compactMap { check -> AppleRefusal.Reason? in
            if case .failed(let refusal) = check.outcome { refusal.reason } else { nil }
        }
        #expect(
            failed == [.unsupportedAlgorithm, .certificateExpired, .badSignature, .wrongApp, .wrongEnvironment])
        #expect(explanation.refusal?.reason == .unsupportedAlgorithm)
        #expect(outcomes(explanation)[.chain] == .passed && outcomes(explanation)[.purpose] == .passed)
        #expect(outcomes(explanation)[.fields] == .notReached("nothing vouches for the payload"))
    }

    @Test func `garbage fails the first check and reaches no other`() {
        for text in ["", "x", "a.b.c.d", String(repeating: "é.", count: 100_000)] {
            let explanation = verifier.explain(text)
            #expect(explanation.kind == .unknown && explanation.refusal?.reason == .malformed)
            #expect(explanation.payload.isEmpty && explanation.header.isEmpty && explanation.certificates.isEmpty)
        }
    }

    @Test func `what Xcode signs is explained as such`() {
        let refused = verifier.explain(TestJWS.xcode().text)
        #expect(refused.refusal?.reason == .wrongEnvironment && refused.certificates.count == 1)
        let open = TestVerifier.new(environments: [.xcode]).explain(TestJWS.xcode().text)
        #expect(open.refusal == nil)
        #expect(outcomes(open)[.signature] == .notReached("Xcode's signature is not checked without its certificate"))
        let pinned = TestVerifier.new(environments: [.xcode], xcode: [TestJWS.xcodeSigner])
        #expect(outcomes(pinned.explain(TestJWS.xcode().text))[.signature] == .passed)
    }

    @Test(arguments: [
        ("{\"bundleId\":\"com.example.app\",\"environment\":\"Sandbox\"}", nil),
        ("{\"bundleId\":\"com.other\",\"environment\":\"Sandbox\"}", AppleRefusal.Reason.wrongApp),
        ("{\"bundleId\":\"com.example.app\",\"environment\":\"Xcode\"}", .wrongEnvironment),
    ])
    func `a notification's app and environment are found in its data`(_ data: String, _ reason: AppleRefusal.Reason?) {
        let payload: RawJSON = [
            "notificationType": "\"TEST\"", "notificationUUID": "\"n1\"", "signedDate": "\(TestTime.now)", "data": data,
        ]
        let explanation = verifier.explain(TestJWS(payload: payload).text)
        #expect(explanation.kind == .notification && explanation.refusal?.reason == reason)
        #expect(explanation.payload.first { $0.name == "data" }?.value == "object with 2 members")
    }

    @Test func `renewal information is for no app, whatever it says`() throws {
        let text = TestJWS(payload: TestJWS.renewalInfo.with(["bundleId": "\"com.other\""])).text
        _ = try verifier.renewalInfo(text)
        let explanation = verifier.explain(text)
        #expect(explanation.kind == .renewalInfo && explanation.refusal == nil)
        #expect(outcomes(explanation)[.app] == .notReached("the payload names no app"))
    }

    @Test func `what is shown is printable and short`() {
        var jws = TestJWS()
        jws.payload["note"] = "\"\\u001b[2J\\u202e" + String(repeating: "y", count: 9_000) + "\""
        let note = verifier.explain(jws.text).payload.first { $0.name == "note" }?.value ?? ""
        #expect(note.unicodeScalars.count == 201 && note.hasPrefix("\u{FFFD}[2J\u{FFFD}yy") && note.hasSuffix("y…"))
    }
}
