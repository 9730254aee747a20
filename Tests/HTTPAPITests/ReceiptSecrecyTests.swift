import Domain
import Foundation
import Gateway
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Secrets of receipts")
struct ReceiptSecrecyTests {
    @Test(arguments: TestEngine.allCases)
    func `a shared secret and a receipt appear in no log, no refusal and not in the file`(
        _ engine: TestEngine
    ) async throws {
        let (capture, store) = (LogCapture(), FakeAppStore())
        let secret = "5d41402abc4b2a76b9719d911017c592"
        var setup = AppStoreGatewayFixtureSetup {
            $0.trustsReceipts = true
            $0.sharedSecret = secret
            $0.appStore = store
            $0.verifyReceiptURL = "apple"
        }
        setup.desk.logger = capture.logger()
        try await withPurchaseCounter(on: engine, setup) { (counter, apple) async throws in
            let receipt = AppleReceipt([apple.sale()], at: apple.now).base64
            let forged = AppleReceipt([apple.sale()], at: apple.now) { $0.forged = apple.sale() }.base64
            let inside = String(receipt.dropFirst(200).prefix(60))
            var refused: [Reply] = []
            for answer in [#"{"status":21004}"#, "garbage", "{}"] {
                store.script(answer)
                let body = #"{"receipt-data":"\#(receipt)","password":"\#(secret)"}"#
                let reply = try await counter.post("/validate-receipt", nil, body)
                // Whoever sent it gets it back, and nobody gets the secret.
                #expect(try reply.json.int("status") == 0 && !reply.text.contains(secret))
            }
            for (text, password) in [(forged, secret), (receipt, secret + "x"), (secret, secret)] {
                let body = #"{"receipt-data":"\#(text)","password":"\#(password)"}"#
                refused.append(try await counter.post("/validate-receipt", nil, body))
            }
            #expect(try refused.map { try $0.json.int("status") } == [21_003, 21_004, 21_002])
            let log = capture.text
            #expect(log.contains("a receipt was not confirmed") && log.contains("a receipt was refused"))
            for text in [secret, inside] {
                #expect(!log.contains(text))
                for reply in refused { #expect(!reply.text.contains(text), "\(reply)") }
            }
            guard case .sqlite(let path) = apple.desk.database.url else { return }
            for file in [path, path + "-wal"] where FileManager.default.fileExists(atPath: file) {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                for text in [secret, inside] { #expect(bytes.range(of: Data(text.utf8)) == nil, "\(file)") }
            }
        }
    }
}
