import AppleTrust
import Foundation
import Testing

/// Tokens of a generator in Python, which shares nothing with ours, verify and decrypt.
///
/// Set `APPLE_PAY_INTEROP_PYTHON` to an interpreter that has `Interop/ApplePay/requirements.txt`; otherwise `python3` is
/// tried.
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

    @Test func `verify and decrypt`() throws {
        guard let document = try Self.mint() else {
            print("SKIPPED: payment tokens of the generator in Python: no python3 that has cryptography")
            return
        }
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
                at: ApplePayBench.now)
            #expect(verified.transactionID == minted.transaction_id)
            let payment = try ring.decrypt(verified)
            #expect(payment.amountMinor == minted.amount && payment.currencyNumeric == "840")
            payment.withCard { card in
                #expect(card.accountNumber.elementsEqual("4000000000000002".utf8) && card.cryptogram?.count == 20)
            }
            #expect(throws: ApplePayRefusal.self) {
                try verifier.verify(
                    try ApplePayToken(Array(minted.token.utf8)), applicationData: [0], at: ApplePayBench.now)
            }
        }
        print("interop: \(document.tokens.count) payment tokens minted in Python verify and decrypt")
        #expect(document.tokens.count == 24)
    }

    /// - Returns: nil where no interpreter has the package.
    private static func mint() throws -> Document? {
        let output = FileManager.default.temporaryDirectory.appending(path: "apple-pay-\(UUID().uuidString).json")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Interop/ApplePay/mint.py")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            ProcessInfo.processInfo.environment["APPLE_PAY_INTEROP_PYTHON"] ?? "python3", script.path, "12",
            "\(ApplePayBench.seconds)",
        ]
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            // 3: no package; 127: no interpreter. Anything else is a failure of the script.
            #expect([3, 127].contains(process.terminationStatus))
            return nil
        }
        return try {
            let decoder = JSONDecoder()
            decoder.dataDecodingStrategy = .base64
            return try decoder.decode(Document.self, from: try Data(contentsOf: output))
        }()
    }
}
