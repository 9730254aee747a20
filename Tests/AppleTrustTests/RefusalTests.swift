import AppleTrust
import Testing

@Suite("What is accepted and what is refused, each for its own reason")
struct RefusalTests {
    @Test(arguments: HeaderCases.all)
    func `segments and header`(_ example: SignedTextCase) { expect(example) }

    @Test(arguments: ChainCases.all)
    func `the chain`(_ example: SignedTextCase) {
        expect(example, TestVerifier.new(roots: [TestChain.root, ChainCases.expiredRoot]))
    }

    @Test(arguments: PayloadCases.all)
    func `signature and payload`(_ example: SignedTextCase) { expect(example) }

    /// Twice, so that the second answer comes from the remembered chain where there is one.
    private func expect(_ example: SignedTextCase, _ verifier: AppleVerifier = TestVerifier.new()) {
        #expect(TestVerifier.reason(example.text, verifier) == example.reason)
        #expect(TestVerifier.reason(example.text, verifier) == example.reason)
    }

    @Test func `nothing of ours is trusted without a configured root`() throws {
        #expect(TestVerifier.reason(TestJWS().text, TestVerifier.new(roots: [])) == .untrustedChain)
    }

    @Test func `of several faults the first in the contract's order is told`() {
        let foreign = TestChain(root: TestChain.rootRecipe.issue(by: nil))
        let claims: [String: String?] = ["bundleId": "\"com.other\"", "environment": "\"Xcode\""]
        var jws = TestJWS(chain: foreign, payload: TestJWS.transaction.with(claims), signer: .new(.p256))
        #expect(TestVerifier.reason(jws.text) == .untrustedChain)
        jws.header = ["alg": "\"none\""]
        #expect(TestVerifier.reason(jws.text) == .unsupportedAlgorithm)
        jws.chain = TestChain(leaf: { $0.days = -9...(-1) })
        jws.header = [:]
        #expect(TestVerifier.reason(jws.text) == .certificateExpired)
        jws.chain = .sound
        #expect(TestVerifier.reason(jws.text) == .badSignature)
        jws.signer = nil
        #expect(TestVerifier.reason(jws.text) == .wrongApp)
    }

    @Test func `a detail is one short printable line without the payload's content`() {
        let hostile = "\"com.\\u001b[31m\\n" + String(repeating: "x", count: 5_000) + "\""
        let texts = [
            TestJWS(payload: TestJWS.transaction.with(["bundleId": hostile])).text,
            TestJWS(header: ["alg": hostile]).text,
            TestJWS(payload: TestJWS.transaction.with(["purchaseDate": "\"secret\""])).text,
        ]
        for text in texts {
            #expect {
                _ = try TestVerifier.new().transaction(text)
            } throws: { error in
                let detail = (error as? AppleRefusal)?.detail ?? "\n"
                return detail.count < 250 && !detail.contains { $0.isNewline || $0 == "\u{1B}" }
                    && !detail.contains("secret")
            }
        }
    }
}
