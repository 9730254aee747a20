import Testing

@testable import AppleTrust

@Suite("What the verifier remembers of headers")
struct HeaderMemoryTests {
    private func count(_ verifier: AppleVerifier) -> Int { verifier.authenticator.headers.count }

    @Test func `a header that is known verifies as one that is not`() {
        let verifier = TestVerifier.new()
        let examples: [(text: String, reason: AppleRefusal.Reason?)] = [
            (TestJWS().text, nil),
            (TestJWS(signer: .new(.p256)).text, .badSignature),
            (TestJWS(payload: TestJWS.transaction.with(["signedDate": "1"])).text, .certificateExpired),
            (TestJWS(payload: TestJWS.transaction.with(["bundleId": "\"com.other\""])).text, .wrongApp),
            (TestJWS().text + ".", .malformed), (TestJWS().text + "=", .malformed),
        ]
        for _ in 0..<2 {
            for (text, reason) in examples {
                #expect(TestVerifier.reason(text, verifier) == reason)
                #expect(TestVerifier.reason(text, TestVerifier.new()) == reason)
            }
        }
        #expect(count(verifier) == 1)
    }

    @Test func `headers of refused chains are not remembered`() {
        let verifier = TestVerifier.new()
        let refused = ChainCases.all.filter { [.untrustedChain, .wrongPurpose, .malformed].contains($0.reason) }
        #expect(refused.count > 10)
        for example in refused { _ = TestVerifier.reason(example.text, verifier) }
        #expect(count(verifier) == 0)
    }

    @Test func `a few are remembered, the newest`() throws {
        let memory = HeaderMemory()
        let peer = PeerCertificates(leaf: [], intermediate: [])
        let headers = (UInt8(0)..<20).map { KnownHeader(text: [7, $0], bytes: [], certificates: [], peer: peer) }
        for header in headers {
            memory.insert(header)
            memory.insert(header)
            #expect(memory.header(header.text) != nil && memory.count <= 8)
        }
        #expect(headers.map { memory.header($0.text) != nil } == (0..<20).map { $0 >= 12 })
        #expect(memory.header([7]) == nil && memory.header([]) == nil && memory.header([0, 7, 19][1...]) != nil)
    }
}
