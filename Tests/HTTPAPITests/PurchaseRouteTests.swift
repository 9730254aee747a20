import Domain
import Gateway
import TestSupport
import Testing

@Suite("Purchases over HTTP")
struct PurchaseRouteTests {
    @Test(arguments: TestEngine.allCases)
    func `attach, restore and status have the fields of the contract`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let token = try await counter.token()
            let none = try await counter.get(PurchasePath.status, token).data
            let fields: Set = [
                "active", "expires_at", "tier", "tier_expires_at", "perpetual", "status", "will_renew",
                "app_account_token",
            ]
            #expect(none.names == fields && none.text("status") == "none" && none.int("expires_at") == 0)
            let sale = apple.sale()
            let reply = try await counter.post(PurchasePath.attach, token, sale.body())
            let data = try reply.data
            #expect(
                data.names == [
                    "expires_at", "tier", "active", "perpetual", "sku", "order_id", "transaction_id",
                    "original_transaction_id", "environment", "credited", "status",
                ])
            #expect(reply.status == 200 && data["active"] == .bool(true) && data["credited"] == .object([:]))
            #expect(data.int("expires_at") == apple.now.adding(days: 30).rawValue)
            let again = try await counter.post(PurchasePath.attach, token, sale.body())
            #expect(try again.data == data)
            let status = try await counter.get(PurchasePath.status, token).data
            #expect(status.names == fields && status.text("tier") == "VIP" && status["will_renew"] == .bool(false))
            #expect(status.text("app_account_token") == none.text("app_account_token"))
            let other = apple.sale("merchant.example.day7")
            let restored = try await counter.post(
                PurchasePath.restore, token, #"{"transactions":["\#(sale.jws)","\#(other.jws)","x"]}"#
            ).data
            #expect(restored["success"] == .bool(false) && restored.int("restored") == 2)
            #expect(
                restored["results"].elements.map { $0.text("status") } == ["already_attached", "attached", "rejected"])
            #expect(restored["results"].elements.map { $0.int("index") } == [0, 1, 2])
            #expect(restored["results"][0].names == ["index", "status"])
            #expect(restored["results"][2].text("error") == "invalid_transaction")
            #expect(restored["results"][2].text("reason") == "malformed")
            let nothing = try await counter.post(PurchasePath.restore, token, #"{"transactions":[]}"#).data
            #expect(nothing == .object(["success": .bool(true), "restored": .integer(0), "results": .array([])]))
        }
    }

    /// A body, and how it is refused.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var path = PurchasePath.attach
        let body: @Sendable (AppStoreGatewayFixture) -> String
        let status: Int
        let error: String
        var reason: String?
        var field: String?
    }

    static let refusals = [
        Refusal(
            testDescription: "nothing", body: { _ in "{}" }, status: 400, error: "invalid_request",
            field: "signed_transaction_jws"),
        Refusal(
            testDescription: "a number", body: { _ in #"{"signed_transaction_jws":1}"# }, status: 400,
            error: "invalid_request", field: "signed_transaction_jws"),
        Refusal(
            testDescription: "days in words", body: { $0.sale().body(#","duration_days":"30","subscribe_id":1001"#) },
            status: 400, error: "invalid_request", field: "duration_days"),
        Refusal(
            testDescription: "no JWS", body: { _ in #"{"signed_transaction_jws":""}"# }, status: 400,
            error: "invalid_transaction", reason: "malformed"),
        Refusal(
            testDescription: "a forged signature",
            body: { #"{"signed_transaction_jws":"\#(AppleTestCertificates.sign($0.sale().payload, by: .forger))"}"# },
            status: 400,
            error: "invalid_transaction", reason: "bad_signature"),
        Refusal(
            testDescription: "another app", body: { $0.sale { $0.bundle = "com.other" }.body() }, status: 400,
            error: "invalid_transaction", reason: "wrong_app"),
        Refusal(
            testDescription: "an unknown product", body: { $0.sale("com.example.unknown").body() }, status: 404,
            error: "unknown_product"),
        Refusal(
            testDescription: "a revoked purchase", body: { $0.sale { $0.revoked = $0.purchased }.body() }, status: 409,
            error: "purchase_revoked"),
        Refusal(
            testDescription: "another user's", body: { $0.sale { $0.id = "taken" }.body() }, status: 409,
            error: "purchase_belongs_to_another_user"),
        Refusal(
            testDescription: "a body that is too long",
            body: { _ in #"{"signed_transaction_jws":"\#(String(repeating: "x", count: 300_000))"}"# }, status: 413,
            error: "payload_too_large"),
        Refusal(
            testDescription: "201 transactions", path: PurchasePath.restore,
            body: { _ in #"{"transactions":[\#([String](repeating: #""x""#, count: 201).joined(separator: ","))]}"# },
            status: 400, error: "invalid_request", field: "transactions"),
        Refusal(
            testDescription: "transactions that are no texts", path: PurchasePath.restore,
            body: { _ in #"{"transactions":[1]}"# }, status: 400, error: "invalid_request", field: "transactions[0]"),
    ]

    @Test(arguments: TestEngine.allCases)
    func `every refusal has its error and its reason`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            try await apple.attach(apple.sale { $0.id = "taken" }, user: "bob")
            let token = try await counter.token()
            for refusal in Self.refusals {
                let reply = try await counter.post(refusal.path, token, refusal.body(apple))
                #expect(
                    reply.status == refusal.status && reply.error == refusal.error,
                    "\(refusal.testDescription) \(reply)")
                let reason = try reply.json["details"].text("reason")
                if let expected = refusal.reason { #expect(reason == expected, "\(refusal.testDescription)") }
                if let field = refusal.field { #expect(reply.field == field, "\(refusal.testDescription) \(reply)") }
            }
            for language in ["en", "zh-Hans"] {
                let unknown = try await counter.post(
                    PurchasePath.attach, token, apple.sale("com.example.unknown").body(),
                    headers: ["Accept-Language": language])
                #expect(try unknown.json.text("msg").lowercased().contains("unknown product"))
            }
            #expect(try await counter.get(PurchasePath.status, token).data["active"] == .bool(false))
            for reply in [
                try await counter.post(PurchasePath.attach, nil, apple.sale().body()),
                try await counter.post(PurchasePath.restore, counter.adminKey, #"{"transactions":[]}"#),
                try await counter.get(PurchasePath.status),
            ] { #expect(reply.status == 401 && reply.error == "unauthenticated") }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an attach under a key has one answer`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let token = try await counter.token()
            let key = ["Idempotency-Key": "one"]
            let body = apple.sale().body()
            let first = try await counter.post(PurchasePath.attach, token, body, headers: key)
            let again = try await counter.post(PurchasePath.attach, token, body, headers: key)
            #expect(first.status == 200 && first.header("Idempotency-Replayed") == nil)
            #expect(again.status == 200 && again.header("Idempotency-Replayed") == "true")
            #expect(try first.data == again.data)
            let other = try await counter.post(PurchasePath.attach, token, apple.sale().body(), headers: key)
            #expect(other.status == 422 && other.error == "idempotency_key_reused")
            let unknown = apple.sale("com.example.unknown").body()
            for replayed in [nil, "true"] {
                let reply = try await counter.post(
                    PurchasePath.attach, token, unknown, headers: ["Idempotency-Key": "two"])
                #expect(reply.status == 404 && reply.header("Idempotency-Replayed") == replayed)
            }
            let bob = try await counter.token("bob")
            let his = try await counter.post(PurchasePath.attach, bob, body, headers: key)
            #expect(his.status == 409 && his.error == "purchase_belongs_to_another_user")
            #expect(try await counter.desk.count("orders") == 1)
        }
    }
}
