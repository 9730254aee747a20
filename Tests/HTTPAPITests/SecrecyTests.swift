import Domain
import Foundation
import Gateway
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Secrets")
struct SecrecyTests {
    @Test(arguments: TestEngine.allCases)
    func `planted secrets appear in no log, no error and not in the file`(_ engine: TestEngine) async throws {
        let capture = LogCapture()
        var setup = CounterSetup()
        setup.desk.logger = capture.logger()
        try await withCounter(on: engine, setup) { counter in
            let token = try await counter.token()
            let contract = try await counter.checkout(token, #","provider":"box-stripe""#)
            let clientSecret = contract["stripe"].text("client_secret")
            try #require(clientSecret.contains("_secret_"))
            let made = try await counter.post(
                "/v1/admin/api-keys", counter.adminKey, #"{"name":"ops","scopes":["orders:read"]}"#,
                headers: ["Idempotency-Key": "k"])
            let issued = try made.data.text("key")
            let keySecret = String(issued.split(separator: "_", maxSplits: 2)[2])
            _ = try await counter.post(
                "/v1/public/checkout", token, Counter.ask(#","provider":"box-stripe""#),
                headers: ["Idempotency-Key": "k"])
            _ = try await counter.notify("payment.succeeded", contract)
            counter.desk.line.set(.open, .unavailable)
            let notify = "/v1/notify/\(GatewayFixture.notifyToken("box-url"))"
            var refused: [Reply] = [
                try await counter.notify("payment.failed", contract, secret: "guessed"),
                try await counter.post(notify, nil, "{}"), try await counter.get(notify),
                try await counter.post(notify + "x", nil, "{}"), try await counter.get("/v1/public/orders", issued),
                try await counter.get("/v1/admin/skus", issued), try await counter.get("/v1/admin/skus", token + "x"),
                try await counter.get("/v1/public/orders", token + "x"), try await counter.get("/nowhere", issued),
                try await counter.post("/v1/public/checkout", token, #"{"sku":"\#(clientSecret)"}"#),
            ]
            refused.append(try await counter.post("/v1/public/checkout", token, Counter.ask()))
            #expect(refused.allSatisfy { $0.status >= 400 })
            let secrets = [
                GatewayFixture.sandboxSecret, issued, keySecret, counter.adminKey, Counter.userSecret, clientSecret,
                token,
                GatewayFixture.notifyToken("box-url"), GatewayFixture.notifyToken("box-stripe"),
            ]
            let log = capture.text
            #expect(log.contains("a notification was refused"))
            for secret in secrets {
                #expect(!log.contains(secret), "\(secret) is logged")
                for reply in refused { #expect(!reply.text.contains(secret), "\(secret) is in \(reply)") }
            }
            guard case .sqlite(let path) = counter.desk.database.url else { return }
            for file in [path, path + "-wal"] where FileManager.default.fileExists(atPath: file) {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                for secret in [
                    issued, keySecret, clientSecret, GatewayFixture.sandboxSecret, Counter.userSecret, token,
                ] {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) is in \(file)")
                }
            }
        }
    }

    @Test
    func `a route is logged by its template`() async throws {
        let capture = LogCapture()
        var setup = CounterSetup()
        setup.desk.logger = capture.logger()
        try await withCounter(on: .sqlite, setup) { counter in
            _ = try await counter.get("/v1/public/orders/ord_x", try await counter.token())
            #expect(capture.text.contains("GET /v1/public/orders/{id}"))
            #expect(!capture.text.contains("ord_x"))
        }
    }
}
