import AppleTrust
import Testing

@Suite("Nothing changed is ever accepted, and nothing at all can trap")
struct MutationTests {
    /// A generator that makes the same mutations in every run.
    struct Sequence: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test func `one flipped bit anywhere is refused`() {
        let verifier = TestVerifier.new()
        let sound = Array(TestJWS().text.utf8)
        #expect(TestVerifier.reason(String(decoding: sound, as: UTF8.self), verifier) == nil)
        for index in sound.indices {
            var flipped = sound
            flipped[index] ^= 1 << UInt8(index % 7)
            #expect(
                TestVerifier.reason(String(decoding: flipped, as: UTF8.self), verifier) != nil, "byte \(index)")
        }
    }

    @Test func `a certificate has one spelling only`() {
        let verifier = TestVerifier.new()
        // About half of all signatures end in a clear bit, which an unused one has to be.
        for chain in (0..<8).map({ _ in TestChain() }) {
            for (position, der) in [chain.leaf.der, chain.intermediate.der].enumerated() {
                guard
                    let index = der.indices.dropLast(3).last(where: {
                        Array(der[$0...($0 + 3)]) == [0, 0x30, der[$0 + 2], 2]
                    })
                else { continue }
                var respelled = der
                respelled[index] = 1
                var x5c = chain.x5c
                x5c[position] = respelled.base64
                #expect(TestVerifier.reason(TestJWS(chain: chain, x5c: x5c).text, verifier) == .malformed)
            }
        }
    }

    @Test func `one flipped bit in a certificate, signed again, is refused`() {
        let verifier = TestVerifier.new()
        let chain = TestChain.sound
        for (position, der) in [chain.leaf.der, chain.intermediate.der].enumerated() {
            for index in der.indices {
                var flipped = der
                flipped[index] ^= 1 << UInt8(index % 8)
                var x5c = chain.x5c
                x5c[position] = flipped.base64
                let reason = TestVerifier.reason(TestJWS(x5c: x5c).text, verifier)
                #expect(
                    reason == .malformed || reason == .untrustedChain, "byte \(index): \(String(describing: reason))")
            }
        }
    }

    @Test func `explaining agrees with verifying on whatever comes`() {
        let verifier = TestVerifier.new()
        let open = TestVerifier.new(environments: [.xcode], xcode: [TestJWS.xcodeSigner])
        var random = Sequence(state: 3)
        let seeds = (HeaderCases.all + ChainCases.all + PayloadCases.all).map(\.text) + [TestJWS.xcode().text]
        for round in 0..<600 {
            var bytes = Array((seeds[round % seeds.count]).utf8)
            for _ in 0..<(round < seeds.count ? 0 : Int.random(in: 1...3, using: &random)) where !bytes.isEmpty {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(index..<min(index + 40, bytes.count))
                case 2: bytes.insert(contentsOf: bytes[index..<min(index + 40, bytes.count)], at: index)
                default: bytes[index] = Array("ABZaz09-_.=\"{}[],".utf8).randomElement(using: &random) ?? 0
                }
            }
            expectAgreement(String(decoding: bytes, as: UTF8.self), round % 4 == 0 ? open : verifier)
        }
    }

    @Test func `mutated payloads and headers, signed again, are explained as they are verified`() {
        let verifier = TestVerifier.new(environments: [.production, .sandbox, .xcode])
        var random = Sequence(state: 9)
        let words = ["null", "1", "-1", "\"\"", "\"Xcode\"", "{}", "[]", "true", "1e99", "\"com.other\"", "nil"]
        let names = TestJWS.transaction.keys.sorted() + ["notificationType", "data", "autoRenewStatus", "offerType"]
        for round in 0..<300 {
            var jws = round % 3 == 0 ? TestJWS.xcode() : TestJWS()
            if round % 5 == 0 { jws.payload = TestJWS.renewalInfo }
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                jws.payload[names.randomElement(using: &random) ?? ""] = words.randomElement(using: &random)
            }
            if round % 7 == 0 { jws.header["x5c"] = words.randomElement(using: &random) }
            expectAgreement(jws.text, verifier)
        }
    }

    private func expectAgreement(_ text: String, _ verifier: AppleVerifier) {
        let explanation = verifier.explain(text)
        let expected: AppleRefusal? =
            switch explanation.kind {
            case .receipt: refusal { () throws(AppleRefusal) in _ = try verifier.receipt(text) }
            case .transaction: refusal { () throws(AppleRefusal) in _ = try verifier.transaction(text) }
            case .renewalInfo: refusal { () throws(AppleRefusal) in _ = try verifier.renewalInfo(text) }
            default: refusal { () throws(AppleRefusal) in _ = try verifier.payload(text) }
            }
        if explanation.kind == .notification, expected == nil { return }
        if explanation.kind == .unknown || explanation.kind == .appTransaction, expected == nil { return }
        #expect(explanation.refusal?.reason == expected?.reason)
        #expect(explanation.kind == .receipt || explanation.checks.map(\.name).starts(with: AppleCheck.Name.common))
        #expect(explanation.header.count <= 64 && explanation.payload.count <= 64)
        for fact in explanation.header + explanation.payload {
            #expect(fact.name.count <= 201 && fact.value.count <= 201)
        }
    }

    private func refusal(_ body: () throws(AppleRefusal) -> Void) -> AppleRefusal? {
        do throws(AppleRefusal) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
