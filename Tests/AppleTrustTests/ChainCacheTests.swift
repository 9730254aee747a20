import Crypto
import Testing

@testable import AppleTrust

@Suite("What the verifier remembers of chains")
struct ChainCacheTests {
    private static let expired = MintChain(leaf: { $0.days = -700...(-1) })

    private func signed(_ time: Int64, _ chain: MintChain = expired) -> String {
        MintJWS(chain: chain, payload: MintJWS.transaction.with(["signedDate": "\(time)"])).text
    }

    private func count(_ verifier: AppleVerifier) -> Int { verifier.authenticator.chains.cache.count }

    @Test func `an old payload under an expired leaf verifies and a new one does not, in any order`() {
        let old = signed(MintTime.now - 2 * MintTime.day)
        let new = signed(MintTime.now)
        for order in [[old, new, old, new], [new, old, new, old]] {
            let verifier = MintVerifier.new()
            for text in order {
                #expect(MintVerifier.reason(text, verifier) == (text == old ? nil : .certificateExpired))
                #expect(count(verifier) == 1)
            }
        }
    }

    @Test func `a remembered chain does not spare the signature and the claims`() {
        let verifier = MintVerifier.new()
        #expect(MintVerifier.reason(MintJWS().text, verifier) == nil)
        #expect(MintVerifier.reason(MintJWS(signer: .new(.p256)).text, verifier) == .badSignature)
        let other = MintJWS(payload: MintJWS.transaction.with(["bundleId": "\"com.other\""]))
        #expect(MintVerifier.reason(other.text, verifier) == .wrongApp)
    }

    @Test func `refused chains are not remembered`() {
        let verifier = MintVerifier.new()
        let refused = ChainCases.all.filter { [.untrustedChain, .wrongPurpose, .malformed].contains($0.reason) }
        #expect(refused.count > 10)
        for example in refused { _ = MintVerifier.reason(example.text, verifier) }
        #expect(count(verifier) == 0)
    }

    @Test func `it never holds more than its capacity, and the longest unused goes first`() {
        let verifier = MintVerifier.new(cachedChains: 2)
        let chains = (0..<4).map { _ in MintChain() }
        let texts = chains.map { MintJWS(chain: $0).text }
        for text in texts {
            #expect(MintVerifier.reason(text, verifier) == nil)
            #expect(count(verifier) <= 2)
        }
        for text in texts { #expect(MintVerifier.reason(text, verifier) == nil) }
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
        var recipe = MintChain.rootRecipe
        recipe.days = -3_650...(-10)
        let older = recipe.issue(by: nil, key: MintChain.root.key)
        let (now, then) = (signed(MintTime.now, .sound), signed(MintTime.now - 20 * MintTime.day, .sound))
        for roots in [[older, MintChain.root], [MintChain.root, older]] {
            let verifier = MintVerifier.new(roots: roots)
            for text in [then, now, then, now] { #expect(MintVerifier.reason(text, verifier) == nil) }
        }
        #expect(MintVerifier.reason(now, MintVerifier.new(roots: [older])) == .certificateExpired)
    }

    @Test func `with one root alone a remembered chain answers for every time`() throws {
        let anchor = try #require(TrustAnchor(der: MintChain.root.der))
        let validator = ChainValidator<StoreJWSProfile>(anchors: [anchor], cache: ChainCache(capacity: 4))
        let peer = PeerCertificates(leaf: Self.expired.leaf.der, intermediate: Self.expired.intermediate.der)
        let old = MintTime.now - 2 * MintTime.day
        for time in [MintTime.now, old, MintTime.now, 1, old] {
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
        let verifier = MintVerifier.new(cachedChains: 1)
        let texts = [MintJWS().text, signed(MintTime.now), MintJWS(signer: .new(.p256)).text]
        let expected: [AppleRefusal.Reason?] = [nil, .certificateExpired, .badSignature]
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<120 {
                group.addTask { MintVerifier.reason(texts[index % 3], verifier) == expected[index % 3] }
            }
            for await agreed in group { #expect(agreed) }
        }
    }
}
