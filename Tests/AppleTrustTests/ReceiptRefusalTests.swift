import AppleTrust
import Testing

@Suite("Which receipts are accepted and which are refused, each for its own reason")
struct ReceiptRefusalTests {
    @Test(arguments: ReceiptSoundCases.all)
    func `sound`(_ example: ReceiptCase) { expect(example) }

    @Test(arguments: ReceiptFaultCases.all)
    func `chain, purpose and content`(_ example: ReceiptCase) { expect(example) }

    @Test(arguments: ReceiptMessageCases.all)
    func `the message`(_ example: ReceiptCase) { expect(example) }

    /// Twice, so that the second answer comes from the remembered chain where there is one.
    private func expect(_ example: ReceiptCase) {
        let verifier = TestVerifier.new(roots: TestReceiptChain.trusted)
        #expect(ReceiptCase.reason(example.text, verifier) == example.reason)
        #expect(ReceiptCase.reason(example.text, verifier) == example.reason)
    }

    @Test func `of several faults the first in the contract's order is told`() {
        var receipt = TestReceipt(chain: TestReceiptChain.new(root: TestReceiptChain.foreignRoot))
        receipt.fields[2] = TestDER.utf8("com.other")
        receipt.fields[0] = TestDER.utf8("Xcode")
        receipt.purchases = [TestPurchase(without: [1702])]
        receipt.digest = .sha384
        receipt.message = { $0.certificates.removeFirst() }
        #expect(ReceiptCase.reason(receipt.text) == .malformed)
        receipt.message = { _ in }
        receipt.signer = { $0.key = TestReceiptChain.strangeKey }
        #expect(ReceiptCase.reason(receipt.text) == .unsupportedAlgorithm)
        receipt.digest = .sha256
        #expect(ReceiptCase.reason(receipt.text) == .untrustedChain)
        receipt.chain = TestReceiptChain.new(leaf: {
            $0.markers = []
            $0.days = -9...(-1)
        })
        #expect(ReceiptCase.reason(receipt.text) == .wrongPurpose)
        receipt.chain = ReceiptSoundCases.ended
        #expect(ReceiptCase.reason(receipt.text) == .certificateExpired)
        receipt.chain = TestReceiptChain.sound
        #expect(ReceiptCase.reason(receipt.text) == .badSignature)
        receipt.signer = { _ in }
        #expect(ReceiptCase.reason(receipt.text) == .malformed)
        receipt.purchases = [TestPurchase()]
        #expect(ReceiptCase.reason(receipt.text) == .wrongApp)
        receipt.fields[2] = TestDER.utf8("com.example.app")
        #expect(ReceiptCase.reason(receipt.text) == .wrongEnvironment)
        receipt.fields[0] = nil
        #expect(ReceiptCase.reason(receipt.text) == nil)
    }

    @Test func `base64 may have line breaks, and nothing else besides`() {
        let text = TestReceipt().text
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text.dropFirst($0).prefix(64)) }
        for sound in [lines.joined(separator: "\n"), lines.joined(separator: "\r\n") + "\r\n", " \t" + text] {
            #expect(ReceiptCase.reason(sound) == nil)
        }
        let url = text.replacing("+", with: "-").replacing("/", with: "_")
        for unsound in [text + "=", text + "====", "=" + text, text.dropLast(5) + "é", "\u{FEFF}" + text, url + "-_-_"]
        {
            #expect(ReceiptCase.reason(String(unsound)) == .malformed)
        }
    }

    @Test(arguments: [
        "", " ", "M", "MA==", "MIAA", "not a receipt", "bm90IGEgcmVjZWlwdA==",
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgM=",
        "{\"purchase-info\" = \"ewp9\"; \"signature\" = \"AA\";}", "ewoJInB1cmNoYXNlLWluZm8iID0gImV3cDkiOwp9",
        "eyJlbnZpcm9ubWVudCI6Ilhjb2RlIn0=", "\u{0}", "🧾",
    ])
    func `what is no receipt at all is refused`(_ text: String) { expectMalformed(text) }

    @Test func `megabytes of text are refused`() {
        expectMalformed(String(repeating: "A", count: 2 << 20))
        expectMalformed(String(repeating: "M", count: (2 << 20) + 4))
        expectMalformed(String(repeating: "\n", count: 3 << 20))
    }

    private func expectMalformed(_ text: String) {
        #expect(ReceiptCase.reason(text) == .malformed)
        #expect(ReceiptCase.verifier.explain(text).refusal?.reason == .malformed)
    }

    @Test func `a JWS is no receipt, and a receipt no JWS`() {
        #expect(ReceiptCase.reason(TestJWS().text) == .malformed)
        #expect(TestVerifier.reason(TestReceipt().text) == .malformed)
    }

    @Test func `a detail is one short printable line`() {
        let hostile = "com.\u{1B}[31m\n" + String(repeating: "x", count: 200)
        var receipts = [TestReceipt().with { $0.fields[2] = TestDER.utf8(hostile) }]
        receipts.append(TestReceipt().with { $0.fields[0] = TestDER.utf8("Xcode\n") })
        receipts.append(TestReceipt().with { $0.digest = .sha384 })
        for receipt in receipts {
            let refusal = ReceiptCase.verifier.explain(receipt.text).refusal
            let detail = refusal?.detail ?? ""
            #expect(detail.count < 250 && !detail.contains { $0.isNewline || $0 == "\u{1B}" })
        }
    }
}
