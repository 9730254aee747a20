import AppleTrust
import Testing

@Suite("What is accepted and what is refused, each for its own reason")
struct RefusalTests {
    @Test(arguments: HeaderCases.all)
    func `segments and header`(_ example: MintCase) { expect(example) }

    @Test(arguments: ChainCases.all)
    func `the chain`(_ example: MintCase) {
        expect(example, MintVerifier.new(roots: [MintChain.root, ChainCases.expiredRoot]))
    }

    @Test(arguments: PayloadCases.all)
    func `signature and payload`(_ example: MintCase) { expect(example) }

    /// Twice, so that the second answer comes from the remembered chain where there is one.
    private func expect(_ example: MintCase, _ verifier: AppleVerifier = MintVerifier.new()) {
        #expect(MintVerifier.reason(example.text, verifier) == example.reason)
        #expect(MintVerifier.reason(example.text, verifier) == example.reason)
    }

    @Test func `nothing of ours is trusted without a configured root`() throws {
        #expect(MintVerifier.reason(MintJWS().text, MintVerifier.new(roots: [])) == .untrustedChain)
    }

    @Test func `of several faults the first in the contract's order is told`() {
        let foreign = MintChain(root: MintChain.rootRecipe.issue(by: nil))
        let claims: [String: String?] = ["bundleId": "\"com.other\"", "environment": "\"Xcode\""]
        var jws = MintJWS(chain: foreign, payload: MintJWS.transaction.with(claims), signer: .new(.p256))
        #expect(MintVerifier.reason(jws.text) == .untrustedChain)
        jws.header = ["alg": "\"none\""]
        #expect(MintVerifier.reason(jws.text) == .unsupportedAlgorithm)
        jws.chain = MintChain(leaf: { $0.days = -9...(-1) })
        jws.header = [:]
        #expect(MintVerifier.reason(jws.text) == .certificateExpired)
        jws.chain = .sound
        #expect(MintVerifier.reason(jws.text) == .badSignature)
        jws.signer = nil
        #expect(MintVerifier.reason(jws.text) == .wrongApp)
    }

    @Test func `a detail is one short printable line without the payload's content`() {
        let hostile = "\"com.\\u001b[31m\\n" + String(repeating: "x", count: 5_000) + "\""
        let texts = [
            MintJWS(payload: MintJWS.transaction.with(["bundleId": hostile])).text,
            MintJWS(header: ["alg": hostile]).text,
            MintJWS(payload: MintJWS.transaction.with(["purchaseDate": "\"secret\""])).text,
        ]
        for text in texts {
            #expect {
                _ = try MintVerifier.new().transaction(text)
            } throws: { error in
                let detail = (error as? AppleRefusal)?.detail ?? "\n"
                return detail.count < 250 && !detail.contains { $0.isNewline || $0 == "\u{1B}" }
                    && !detail.contains("secret")
            }
        }
    }
}
