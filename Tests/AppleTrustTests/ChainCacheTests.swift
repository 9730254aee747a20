import Crypto
import Testing

@testable import AppleTrust

@Suite("What the verifier remembers of chains")
struct ChainCacheTests {
    private static let expired = TestChain(leaf: { $0.days = -700...(-1) })

    private func signed(_ time: Int64, _ chain: TestChain = expired) -> String {
        TestJWS(chain: chain, payload: TestJWS.transaction.with(["signedDate": "\(time)"])).text
    }

    private func count(_ verifier: AppleVerifier) -> Int { verifier.authenticator.chains.cache.count }

    @Test func `an old payload under an expired leaf verifies and a new one does not, in any order`() {
        let old = signed(TestTime.now - 2 * TestTime.day)
        let new = signed(TestTime.now)
        for order in [[old, new, old, new], [new, old, new, old]] {
            let verifier = TestVerifier.new()
            for text in order {
                #expect(TestVerifier.reason(text, verifier) == (text == old ? nil : .certificateExpired))
                #expect(count(verifier) == 1)
            }
        }
    }

    @Test func `a remembered chain does not spare the signature and the claims`() {
        let verifier = TestVerifier.new()
        #expect(TestVerifier.reason(TestJWS().text, verifier) == nil)
        #expect(TestVerifier.reason(TestJWS(signer: .new(.p256)).text, verifier) == .badSignature)
        let other = TestJWS(payload: TestJWS.transaction.with(["bundleId": "\"com.other\""]))
        #expect(TestVerifier.reason(other.text, verifier) == .wrongApp)
    }

    @Test func `refused chains are not remembered`() {
        let verifier = TestVerifier.new()
        let refused = ChainCases.all.filter { [.untrustedChain, .wrongPurpose, .malformed].contains($0.reason) }
        #expect(refused.count > 10)
        for example in refused { _ = TestVerifier.reason(example.text, verifier) }
        #expect(count(verifier) == 0)
    }

    @Test func `it never holds more than its capacity, and the longest unused goes first`() {
        let verifier = TestVerifier.new(cachedChains: 2)
        let chains = (0..<4).map { _ in TestChain() }
        let texts = chains.map { TestJWS(chain: $0).text }
        for text in texts {
            #expect(TestVerifier.reason(text, verifier) == nil)
            #expect(count(verifier) <= 2)
        }
        for text in texts { #expect(TestVerifier.reason(text, verifier) == nil) }
        #expect(count(verifier) == 2)
    }

    @Test func `a chain that is used again stays`() throws {
        let cache = ChainCache<StoreJWSProfile>(capacity: 2)
        let chain = ValidChain<StoreJWSProfile>(
            leafKey: P256.Signing.PrivateKey().publicKey, interval: ValidityInterval(first: 0, last: 9),
            anchor: SHA256.hash(data: []))
        let keys = (0..<3).map { index in
            let digest = SHA256.hash(data: [UInt8(index)])
            return ChainName(leaf: digest, intermediate: digest, anchor: digest)
        }
        cache.insert(chain, for: keys[0])
        cache.insert(chain, for: keys[1])
        #expect(cache.chain(for: keys[0]) != nil)
        cache.insert(chain, for: keys[2])
        #expect(cache.chain(for: keys[0]) != nil && cache.chain(for: keys[1]) == nil)
        #expect(cache.chain(for: keys[2]) != nil && cache.count == 2)
        #expect(ChainCache<StoreJWSProfile>(capacity: -5).count == 0)
    }

    @Test func `of two certificates of one root key the one valid at the signing time counts`() {
        var recipe = TestChain.rootRecipe
        recipe.days = -3_650...(-10)
        let older = recipe.issue(by: nil, key: TestChain.root.key)
        let (now, then) = (signed(TestTime.now, .sound), signed(TestTime.now - 20 * TestTime.day, .sound))
        for roots in [[older, TestChain.root], [TestChain.root, older]] {
            let verifier = TestVerifier.new(roots: roots)
            for text in [then, now, then, now] { #expect(TestVerifier.reason(text, verifier) == nil) }
        }
        #expect(TestVerifier.reason(now, TestVerifier.new(roots: [older])) == .certificateExpired)
    }

    @Test func `with one root alone a remembered chain answers for every time`() throws {
        let anchor = try #require(TrustAnchor(der: TestChain.root.der))
        let validator = ChainValidator<StoreJWSProfile>(anchors: [anchor], cache: ChainCache(capacity: 4))
        let peer = PeerCertificates(leaf: Self.expired.leaf.der, intermediate: Self.expired.intermediate.der)
        let old = TestTime.now - 2 * TestTime.day
        for time in [TestTime.now, old, TestTime.now, 1, old] {
            if time == old {
                #expect(try validator.chain(of: peer, at: time).interval.contains(time))
            } else {
                #expect {
                    _ = try validator.chain(of: peer, at: time)
                } throws: {
                    ($0 as? AppleRefusal)?.reason == .certificateExpired
                }
            }
            #expect(validator.cache.count == 1)
        }
    }

    @Test func `many tasks may verify at once`() async {
        let verifier = TestVerifier.new(cachedChains: 1)
        let texts = [TestJWS().text, signed(TestTime.now), TestJWS(signer: .new(.p256)).text]
        let expected: [AppleRefusal.Reason?] = [nil, .certificateExpired, .badSignature]
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<120 {
                group.addTask { TestVerifier.reason(texts[index % 3], verifier) == expected[index % 3] }
            }
            for await agreed in group { #expect(agreed) }
        }
    }
}
