import AppleTrust
import Testing

@Suite("Xcode's own transactions")
struct XcodeTests {
    private let open = TestVerifier.new(environments: [.production, .sandbox, .xcode])
    private let pinned = TestVerifier.new(environments: [.xcode], xcode: [TestJWS.xcodeSigner])
    private let stranger = TestCertificate(name: "StoreKit Testing", days: -1...364, curve: .p256).issue(by: nil)

    @Test func `they are refused where the Xcode environment is not accepted`() {
        #expect(TestVerifier.reason(TestJWS.xcode().text) == .wrongEnvironment)
        #expect(
            TestVerifier.reason(TestJWS.xcode().text, TestVerifier.new(xcode: [TestJWS.xcodeSigner]))
                == .wrongEnvironment)
    }

    @Test(arguments: ["Xcode", "LocalTesting"])
    func `they are believed unchecked where it is and no certificate is configured`(_ environment: String) throws {
        for signer in [TestJWS.xcodeSigner, stranger] {
            let jws = TestJWS.xcode(["environment": "\"\(environment)\""], signer: signer)
            let transaction = try open.transaction(jws.text)
            #expect(transaction.environment == .xcode && transaction.signer == .xcodeUnchecked)
            #expect(transaction.transactionID == "0" && transaction.purchaseDate == TestTime.now)
            // About the year 1, which is no time of a purchase.
            #expect(transaction.originalPurchaseDate == nil)
        }
    }

    @Test(arguments: ["\"Production\"", "\"Sandbox\"", "\"Moon\"", "1", nil])
    func `nothing else passes with one certificate`(_ environment: String?) {
        for verifier in [open, pinned] {
            #expect(TestVerifier.reason(TestJWS.xcode(["environment": environment]).text, verifier) == .malformed)
        }
    }

    @Test func `a configured certificate is checked`() throws {
        #expect(try pinned.transaction(TestJWS.xcode().text).signer == .xcodeCertificate)
        #expect(TestVerifier.reason(TestJWS.xcode(signer: stranger).text, pinned) == .untrustedChain)
        var forged = TestJWS.xcode()
        forged.signer = stranger.key
        #expect(TestVerifier.reason(forged.text, pinned) == .badSignature)
        forged.signature = { _ in [] }
        #expect(TestVerifier.reason(forged.text, pinned) == .badSignature)
    }

    @Test func `app and algorithm count for them as well`() {
        #expect(TestVerifier.reason(TestJWS.xcode(["bundleId": "\"com.other\""]).text, open) == .wrongApp)
        var jws = TestJWS.xcode()
        jws.header["alg"] = "\"none\""
        #expect(TestVerifier.reason(jws.text, open) == .unsupportedAlgorithm)
    }

    @Test func `the certificate chain is still needed where there are three`() {
        let foreign = TestChain(root: TestChain.rootRecipe.issue(by: nil))
        let jws = TestJWS(chain: foreign, payload: TestJWS.transaction.with(["environment": "\"Xcode\""]))
        #expect(TestVerifier.reason(jws.text, open) == .untrustedChain)
    }

    @Test func `no other payload of Xcode's is taken`() {
        #expect {
            _ = try open.payload(TestJWS.xcode().text)
        } throws: {
            ($0 as? AppleRefusal)?.reason == .wrongEnvironment
        }
    }
}
