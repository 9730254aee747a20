import AppleTrust
import Testing

@Suite("Explaining a receipt")
struct ReceiptExplanationTests {
    private static let names: [AppleCheck.Name] = [
        .form, .payload, .signedDate, .certificates, .algorithm, .chain, .purpose, .validity, .signature, .fields, .app,
        .environment,
    ]

    private func explain(_ edit: (inout TestReceipt) -> Void) -> AppleExplanation {
        ReceiptCase.verifier.explain(TestReceipt().with(edit).text)
    }

    private func value(_ name: String, of facts: [AppleFact]) -> String? { facts.first { $0.name == name }?.value }

    @Test(arguments: ReceiptSoundCases.all + ReceiptFaultCases.all + ReceiptMessageCases.all)
    func `its answer is the verifier's`(_ example: ReceiptCase) {
        var refusal: AppleRefusal?
        do throws(AppleRefusal) { _ = try ReceiptCase.verifier.receipt(example.text) } catch { refusal = error }
        let explanation = ReceiptCase.verifier.explain(example.text)
        #expect(explanation.kind == .receipt && explanation.refusal == refusal)
        #expect(refusal?.reason == example.reason)
        #expect(explanation.checks.map(\.name) == Self.names)
        if example.reason == nil { #expect(explanation.checks.allSatisfy { $0.outcome == .passed }) }
    }

    @Test func `a sound receipt is described`() throws {
        let explanation = explain {
            $0.digest = .sha1
            $0.purchases = [TestPurchase(), TestPurchase([1708: TestReceipt.date(TestTime.now)])]
            $0.arrange = { TestDER.element(0x31, $0) }
        }
        #expect(explanation.refusal == nil)
        #expect(value("digest", of: explanation.header) == "SHA-1")
        #expect(value("signature", of: explanation.header) == "RSA")
        #expect(value("signed attributes", of: explanation.header) == "none")
        #expect(value("certificates", of: explanation.header) == "3")
        #expect(value("receipt_type", of: explanation.payload) == "Production")
        #expect(value("bundle_id", of: explanation.payload) == "com.example.app")
        #expect(value("receipt_creation_date", of: explanation.payload) == "2026-09-21T14:13:20Z")
        #expect(value("expiration_date", of: explanation.payload) == nil)
        #expect(value("in_app", of: explanation.payload) == "list of 2")
        #expect(
            value("in_app 2", of: explanation.payload) == """
                product_id com.example.coins, transaction_id 2000000000000001, \
                original_transaction_id 2000000000000001, quantity 1, purchase_date 2026-09-21T14:13:15Z, \
                expires_date 2026-09-21T14:13:20Z
                """)
        let leaf = try #require(explanation.certificates.first)
        #expect(leaf.subject.contains("Test Receipt Signing") && !leaf.isAuthority && leaf.key.contains("RSA2048"))
        #expect(leaf.extensions.contains("1.2.840.113635.100.6.11.1"))
        #expect(explanation.certificates.map(\.isAuthority) == [false, true, true])
    }

    @Test func `twenty purchases are shown and all are counted`() {
        let explanation = explain {
            $0.purchases = (0..<21).map { TestPurchase([1703: TestDER.utf8("\($0)")]) }
        }
        #expect(value("in_app", of: explanation.payload) == "list of 21")
        #expect(
            value("in_app 20", of: explanation.payload) != nil && value("in_app 21", of: explanation.payload) == nil)
    }

    @Test func `checks go on after one that failed`() {
        let explanation = explain {
            $0.chain = TestReceiptChain.new(leaf: {
                $0.markers = []
                $0.days = -9...(-1)
            })
            $0.fields[2] = TestDER.utf8("com.other")
            $0.fields[0] = TestDER.utf8("Xcode")
            $0.signer = { $0.key = TestReceiptChain.strangeKey }
        }
        let failed = explanation.checks.compactMap { check -> AppleRefusal.Reason? in
            if case .failed(let refusal) = check.outcome { refusal.reason } else { nil }
        }
        #expect(failed == [.wrongPurpose, .certificateExpired, .badSignature, .wrongApp, .wrongEnvironment])
        let fields = explanation.checks.first { $0.name == .fields }?.outcome
        #expect(fields == .notReached("nothing vouches for the receipt"))
    }

    @Test func `what is shown is printable and short`() {
        let hostile = "\u{1B}[2J\u{202E}" + String(repeating: "y", count: 230)
        let explanation = explain {
            $0.fields[3] = TestDER.utf8(hostile)
            $0.purchases = [TestPurchase([1702: TestDER.utf8(hostile)])]
        }
        for name in ["application_version", "in_app 1"] {
            let shown = value(name, of: explanation.payload) ?? ""
            #expect(
                shown.unicodeScalars.count == 201 && shown.contains("\u{FFFD}[2J\u{FFFD}yy") && shown.hasSuffix("…"))
        }
    }

    @Test func `what cannot be read is said to be so`() {
        let explanation = explain {
            $0.fields[3] = TestDER.integer(1)
            $0.more = [TestReceipt.attribute(17, [0xFF])]
            $0.purchases = []
        }
        #expect(value("application_version", of: explanation.payload) == "cannot be read")
        #expect(value("in_app 1", of: explanation.payload) == "cannot be read")
        #expect(explanation.refusal?.reason == .malformed)
        #expect(explanation.checks.first { $0.name == .signature }?.outcome == .passed)
    }
}
