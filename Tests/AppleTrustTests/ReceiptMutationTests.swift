import AppleTrust
import Testing

@Suite("Nothing changed in a receipt is ever believed, and nothing at all can trap")
struct ReceiptMutationTests {
    private let verifier = TestVerifier.new(roots: [TestReceiptChain.root])

    /// All that it says; nil where it is refused.
    private func contents(_ bytes: [UInt8]) -> String? {
        (try? verifier.receipt(bytes.base64)).map { "\($0)" }
    }

    private static let receipts = [
        TestReceipt().with { $0.message = { $0.certificates.removeLast() } },
        TestReceipt().with {
            $0.digest = .sha1
            $0.signer = { $0.attributes = TestSigner.sound }
            $0.message = { $0.encoding = .segmented }
        },
    ]

    /// Every byte of the first, of the other every fifth: its certificates are as long again.
    @Test(arguments: [(0, 1), (1, 5)])
    func `one flipped bit anywhere is refused or says the same`(_ index: Int, _ step: Int) throws {
        let receipt = Self.receipts[index]
        let sound = receipt.bytes
        let expected = try #require(contents(sound))
        var same = 0
        for index in stride(from: 0, to: sound.count, by: step) {
            var flipped = sound
            flipped[index] ^= 1 << UInt8(index % 8)
            guard let read = contents(flipped) else { continue }
            same += 1
            #expect(read == expected, "byte \(index)")
        }
        // What nobody signed: versions and the list of digests, and the root, which configuration has as well.
        #expect(same < 40 + (step == 1 ? 0 : receipt.chain.root.der.count / step), "\(same)")
    }

    @Test func `what is cut off is refused`() {
        for sound in [TestReceipt().bytes, TestReceipt().with { $0.message = { $0.encoding = .nested } }.bytes] {
            for count in stride(from: 0, to: sound.count, by: 3) {
                #expect(contents(Array(sound.prefix(count))) == nil)
            }
        }
    }

    @Test func `explaining agrees with verifying on whatever comes`() {
        var random = MutationTests.Sequence(state: 5)
        let seeds =
            (ReceiptSoundCases.messages + ReceiptSoundCases.encodings + ReceiptFaultCases.purposes
            + ReceiptMessageCases.all).map(\.bytes).filter { $0.count < 10_000 }
        for round in 0..<500 {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...3, using: &random) { Self.mutate(&bytes, &random) }
            expectAgreement(bytes)
        }
    }

    @Test func `mutated contents, signed again, are explained as they are verified`() {
        var random = MutationTests.Sequence(state: 7)
        let content = TestReceipt().content
        var accepted = 0
        for round in 0..<400 {
            var bytes = content
            for _ in 0..<(round % 4) { Self.mutate(&bytes, &random) }
            let mutated = bytes
            if expectAgreement(TestReceipt().with { $0.arrange = { _ in mutated } }.bytes) == nil { accepted += 1 }
        }
        #expect(accepted >= 100 && accepted < 400)
    }

    @discardableResult
    private func expectAgreement(_ bytes: [UInt8]) -> AppleRefusal? {
        let text = bytes.base64
        var refusal: AppleRefusal?
        do throws(AppleRefusal) { _ = try verifier.receipt(text) } catch { refusal = error }
        let explanation = verifier.explain(text)
        guard explanation.kind == .receipt else {
            #expect(explanation.refusal?.reason == .malformed && refusal?.reason == .malformed)
            return refusal
        }
        #expect(explanation.refusal == refusal)
        for fact in explanation.header + explanation.payload {
            #expect(fact.name.count <= 201 && fact.value.count <= 201)
        }
        #expect(explanation.payload.count <= 31 && explanation.certificates.count <= 8)
        return refusal
    }

    private static func mutate(_ bytes: inout [UInt8], _ random: inout MutationTests.Sequence) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(index..<min(index + 30, bytes.count))
        case 2: bytes.insert(contentsOf: bytes[index..<min(index + 30, bytes.count)], at: index)
        case 3:
            bytes[index] = [0x00, 0x04, 0x24, 0x30, 0x31, 0x80, 0x84, 0xA0, 0xFF].randomElement(using: &random) ?? 0
        default: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
    }
}
