import AppleTrust
import Testing

@Suite("Xcode's own transactions")
struct XcodeTests {
    private let open = MintVerifier.new(environments: [.production, .sandbox, .xcode])
    private let pinned = MintVerifier.new(environments: [.xcode], xcode: [MintJWS.xcodeSigner])
    private let stranger = MintCertificate(name: "StoreKit Testing", days: -1...364, curve: .p256).issue(by: nil)

    @Test func `they are refused where the Xcode environment is not accepted`() {
        #expect(MintVerifier.reason(MintJWS.xcode().text) == .wrongEnvironment)
        #expect(
            MintVerifier.reason(MintJWS.xcode().text, MintVerifier.new(xcode: [MintJWS.xcodeSigner]))
                == .wrongEnvironment)
    }

    @Test(arguments: ["Xcode", "LocalTesting"])
    func `they are believed unchecked where it is and no certificate is configured`(_ environment: String) throws {
        for signer in [MintJWS.xcodeSigner, stranger] {
            let jws = MintJWS.xcode(["environment": "\"\(environment)\""], signer: signer)
            let transaction = try open.transaction(jws.text)
            #expect(transaction.environment == .xcode && transaction.signer == .xcodeUnchecked)
            #expect(transaction.transactionID == "0" && transaction.purchaseDate == MintTime.now)
            // About the year 1, which is no time of a purchase.
            #expect(transaction.originalPurchaseDate == nil)
        }
    }

    @Test(arguments: ["\"Production\"", "\"Sandbox\"", "\"Moon\"", "1", nil])
    func `nothing else passes with one certificate`(_ environment: String?) {
        for verifier in [open, pinned] {
            #expect(MintVerifier.reason(MintJWS.xcode(["environment": environment]).text, verifier) == .malformed)
        }
    }

    @Test func `a configured certificate is checked`() throws {
        #expect(try pinned.transaction(MintJWS.xcode().text).signer == .xcodeCertificate)
        #expect(MintVerifier.reason(MintJWS.xcode(signer: stranger).text, pinned) == .untrustedChain)
        var forged = MintJWS.xcode()
        forged.signer = stranger.key
        #expect(MintVerifier.reason(forged.text, pinned) == .badSignature)
        forged.signature = { _ in [] }
        #expect(MintVerifier.reason(forged.text, pinned) == .badSignature)
    }

    @Test func `app and algorithm count for them as well`() {
        #expect(MintVerifier.reason(MintJWS.xcode(["bundleId": "\"com.other\""]).text, open) == .wrongApp)
        var jws = MintJWS.xcode()
        jws.header["alg"] = "\"none\""
        #expect(MintVerifier.reason(jws.text, open) == .unsupportedAlgorithm)
    }

    @Test func `the certificate chain is still needed where there are three`() {
        let foreign = MintChain(root: MintChain.rootRecipe.issue(by: nil))
        let jws = MintJWS(chain: foreign, payload: MintJWS.transaction.with(["environment": "\"Xcode\""]))
        #expect(MintVerifier.reason(jws.text, open) == .untrustedChain)
    }

    @Test func `no other payload of Xcode's is taken`() {
        #expect {
            _ = try open.payload(MintJWS.xcode().text)
        } throws: {
            ($0 as? AppleRefusal)?.reason == .wrongEnvironment
        }
    }
}
