import AppleTrust
import Foundation
import TestSupport
import Testing

/// Tokens of a generator in Python, which shares nothing with ours, verify and decrypt.
@Suite("Tokens minted elsewhere")
struct ApplePayInteropTests {
    private struct Document: Decodable {
        struct Merchant: Decodable {
            let certificate: String
            let key: String
        }

        struct Token: Decodable {
            let token: String
            let application_data: Data?
            let amount: Int64
            let transaction_id: String
        }

        let root: Data
        let merchant: String
        let merchants: [Merchant]
        let tokens: [Token]
    }

    @Test func `verify and decrypt`() async throws {
        let minted = try await InteropPython(peer: "cryptography").run(
            "ApplePay/mint.py", ["12", "\(ApplePayTokenFixture.seconds)"])
        let decoder = JSONDecoder()
        decoder.dataDecodingStrategy = .base64
        let document = try decoder.decode(Document.self, from: Data(minted.utf8))
        let verifier = try ApplePayVerifier(ApplePayVerifierConfiguration(extraRoots: [Array(document.root)]))
        let ring = ApplePayKeyRing(
            try document.merchants.map {
                try ApplePayMerchantKey(
                    certificate: Array($0.certificate.utf8), privateKey: Array($0.key.utf8),
                    merchantIdentifier: document.merchant)
            })
        for minted in document.tokens {
            let verified = try verifier.verify(
                try ApplePayToken(Array(minted.token.utf8)), applicationData: minted.application_data.map(Array.init),
                at: ApplePayTokenFixture.now)
            #expect(verified.transactionID == minted.transaction_id)
            let payment = try ring.decrypt(verified)
            #expect(payment.amountMinor == minted.amount && payment.currencyNumeric == "840")
            payment.withCard { card in
                #expect(card.accountNumber.elementsEqual("4000000000000002".utf8) && card.cryptogram?.count == 20)
            }
            #expect(throws: ApplePayRefusal.self) {
                try verifier.verify(
                    try ApplePayToken(Array(minted.token.utf8)), applicationData: [0], at: ApplePayTokenFixture.now)
            }
        }
        print("interop: \(document.tokens.count) payment tokens minted in Python verify and decrypt")
        #expect(document.tokens.count == 24)
    }
}
