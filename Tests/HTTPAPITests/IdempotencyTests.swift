import Domain
import Foundation
import Gateway
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Idempotency keys")
struct IdempotencyTests {
    @Test(arguments: TestEngine.allCases)
    func `the same key gives the stored answer again, another body does not`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let key = ["Idempotency-Key": "k-1"]
            let first = try await counter.post("/v1/public/checkout", token, Counter.ask(), headers: key)
            #expect(first.status == 200 && first.header("Idempotency-Replayed") == nil)
            let again = try await counter.post("/v1/public/checkout", token, Counter.ask(), headers: key)
            #expect(again.header("Idempotency-Replayed") == "true")
            #expect(try again.data == first.data)
            let other = try await counter.post(
                "/v1/public/checkout", token, Counter.ask(sku: "vip_year"), headers: key)
            #expect(other.status == 422 && other.error == "idempotency_key_reused")
            let elsewhere = try await counter.post(
                "/v1/public/usage/messages/consume", token, Counter.ask(), headers: key)
            #expect(elsewhere.status == 422)
            let bob = try await counter.post(
                "/v1/public/checkout", try await counter.token("bob"), Counter.ask(), headers: key)
            #expect(bob.header("Idempotency-Replayed") == nil)
            #expect(try bob.data["order_id"] != first.data["order_id"])
            #expect(try await counter.desk.count("orders") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `64 clients with one key make one order`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        try await counter.post(
                            "/v1/public/checkout", token, Counter.ask(), headers: ["Idempotency-Key": "one"])
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let good = replies.filter { $0.status == 200 }
            #expect(!good.isEmpty)
            #expect(Set(try good.map { try $0.data.text("order_id") }).count == 1)
            #expect(replies.allSatisfy { $0.status == 200 || $0.error == "request_in_progress" })
            #expect(good.count { $0.header("Idempotency-Replayed") == nil } == 1)
            #expect(try await counter.desk.count("orders") == 1)
            #expect(try await counter.desk.count("payments") == 1)
            #expect(counter.desk.line.count(.open) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what another try can change is not kept`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let key = ["Idempotency-Key": "retry"]
            counter.desk.line.set(.open, .unavailable)
            let failed = try await counter.post("/v1/public/checkout", token, Counter.ask(), headers: key)
            #expect(failed.status == 502 && failed.error == "provider_unavailable")
            counter.desk.line.set(.open, nil)
            let good = try await counter.post("/v1/public/checkout", token, Counter.ask(), headers: key)
            #expect(good.status == 200 && good.header("Idempotency-Replayed") == nil)
            #expect(try await counter.desk.count("orders") == 1)

            let wish = ["Idempotency-Key": "wish"]
            let ask = Counter.ask(#","provider":"box-url""#)
            _ = try await counter.desk.gateway.accounts.change("box-url", AccountChange(enabled: false), context: .test)
            let none = try await counter.post("/v1/public/checkout", token, ask, headers: wish)
            #expect(none.error == "no_provider_available")
            _ = try await counter.desk.gateway.accounts.change("box-url", AccountChange(reset: true), context: .test)
            #expect(try await counter.post("/v1/public/checkout", token, ask, headers: wish).status == 200)

            let use = ["Idempotency-Key": "use"]
            let consume = "/v1/public/usage/messages/consume"
            _ = try await counter.post(consume, token, #"{"amount":5}"#)
            let refused = try await counter.post(consume, token, #"{"amount":6}"#, headers: use)
            #expect(refused.status == 429 && refused.error == "usage_limit_reached")
            let wait = try #require(refused.header("Retry-After").flatMap(Int64.init))
            #expect((1...86_400).contains(wait))
            counter.desk.clock.advance(seconds: wait)
            let tomorrow = try await counter.post(
                consume, try await counter.token(), #"{"amount":6}"#, headers: use)
            #expect(tomorrow.status == 200 && tomorrow.header("Idempotency-Replayed") == nil)

            let unsigned = ["Idempotency-Key": "unsigned"]
            #expect(try await counter.post("/v1/public/checkout", nil, Counter.ask(), headers: unsigned).status == 401)
            let plain = unsigned.merging(["Content-Type": "text/plain"]) { $1 }
            let fresh = try await counter.token()
            #expect(try await counter.post("/v1/public/checkout", fresh, Counter.ask(), headers: plain).status == 415)
            let signed = try await counter.post("/v1/public/checkout", fresh, Counter.ask(), headers: unsigned)
            #expect(signed.status == 200 && signed.header("Idempotency-Replayed") == nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refusal is replayed in the caller's language`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let body = Counter.ask(sku: "nothing")
            let first = try await counter.post(
                "/v1/public/checkout", token, body, headers: ["Idempotency-Key": "k", "Accept-Language": "en"])
            let again = try await counter.post(
                "/v1/public/checkout", token, body, headers: ["Idempotency-Key": "k", "Accept-Language": "zh-Hans"])
            #expect(first.status == 404 && again.status == 404)
            #expect(again.error == "sku_not_found" && again.header("Idempotency-Replayed") == "true")
            #expect(try first.json.text("msg") == "SKU nothing does not exist.")
            #expect(try again.json.text("msg") == "商品 nothing 不存在。")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a secret is shown once, and the key belongs to the partner`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let body = #"{"name":"ops","scopes":["orders:read"]}"#
            let key = ["Idempotency-Key": "secret"]
            let first = try await counter.post("/v1/admin/api-keys", counter.adminKey, body, headers: key)
            #expect(first.status == 200)
            let secret = try first.data.text("key")
            #expect(secret.hasPrefix("pdk_"))
            let again = try await counter.post("/v1/admin/api-keys", counter.adminKey, body, headers: key)
            #expect(again.status == 409 && again.error == "conflict")
            #expect(try again.json["details"].text("resource") == first.data.text("id"))
            #expect(!again.text.contains(secret))
            let colleague = try await counter.key("admin", partner: "admin")
            let theirs = try await counter.post("/v1/admin/api-keys", colleague.key, body, headers: key)
            #expect(theirs.status == 409)
            #expect(try await counter.desk.count("api_keys") == 3)
        }
    }

    @Test(arguments: ["", "with space", String(repeating: "k", count: 256), "\u{e9}"])
    func `a key that is none is refused`(_ key: String) async throws {
        try await withCounter { counter in
            let reply = try await counter.post(
                "/v1/public/checkout", try await counter.token(), Counter.ask(), headers: ["Idempotency-Key": key])
            #expect(reply.status == 400 && reply.field == "Idempotency-Key", "\(reply)")
            let orders = try await counter.desk.count("orders")
            #expect(orders == 0)
        }
    }
}
