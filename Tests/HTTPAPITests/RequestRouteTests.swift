import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The last calls of a node")
struct RequestRouteTests {
    private static func list(_ counter: Counter, _ query: String = "") async throws -> [JSONValue] {
        let reply = try await counter.get("/v1/admin/requests\(query)", counter.adminKey)
        try #require(reply.status == 200, "\(reply)")
        #expect(try reply.data.text("node") == "node")
        return try reply.data["items"].elements
    }

    @Test
    func `a call is shown with its refusal and its user, and without its body and its token`() async throws {
        try await withCounter { counter in
            let token = try await counter.token("bob")
            let body = Counter.ask(#","metadata":{"k":"keep this out"}"#, sku: "no_such_sku")
            let headers = ["X-Request-Id": "acc-1"]
            _ = try await counter.post("/v1/public/checkout", token, body, headers: headers)
            let items = try await Self.list(counter)
            let item = try #require(items.first { $0.text("request_id") == "acc-1" })
            #expect(item.text("method") == "POST" && item.text("route") == "/v1/public/checkout")
            #expect(item.int("status") == 404 && item.text("error") == "sku_not_found")
            #expect(item.text("user_id") == "bob" && item.text("caller") == "user")
            #expect(item.int("at") == counter.desk.clock.now.rawValue && item.int("duration_ms") >= 0)
            let all = try await counter.get("/v1/admin/requests", counter.adminKey).text
            for secret in ["keep this out", token, counter.adminKey] { #expect(!all.contains(secret)) }
        }
    }

    @Test
    func `callers are named, and a key's call names the user of its path`() async throws {
        try await withCounter { counter in
            let key = try await counter.key("entitlements:read", partner: "acme")
            let path = "/v1/partner/users/alice/entitlements"
            _ = try await counter.get(path, key.key)
            _ = try await counter.get(path, "pdk_wrong")
            _ = try await counter.get("/v1/nowhere")
            _ = try await counter.get("/readyz")
            let items = try await Self.list(counter)
            #expect(items.map { $0.int("status") } == [404, 401, 200])
            #expect(items.map { $0.text("error") } == ["not_found", "unauthenticated", ""])
            #expect(items.map { $0.text("caller") } == ["", "", "partner:acme/\(key.id)"])
            #expect(items.map { $0.text("user_id") } == ["", "", "alice"])
            #expect(items[0]["route"] == .null && items[2].text("route") == "/v1/partner/users/{user_id}/entitlements")
        }
    }

    @Test
    func `a repeated refusal under an idempotency key has its id, too`() async throws {
        try await withCounter { counter in
            let (token, headers) = (try await counter.token(), ["Idempotency-Key": "k"])
            let body = Counter.ask(sku: "no_such_sku")
            for _ in 0..<2 { _ = try await counter.post("/v1/public/checkout", token, body, headers: headers) }
            #expect(try await Self.list(counter).map { $0.text("error") } == ["sku_not_found", "sku_not_found"])
        }
    }

    @Test
    func `calls are found by route, status, user and time`() async throws {
        try await withCounter { counter in
            let (alice, bob) = (try await counter.token(), try await counter.token("bob"))
            _ = try await counter.get("/v1/public/entitlements", alice)
            _ = try await counter.get("/v1/public/entitlements", bob)
            counter.desk.clock.advance(seconds: 100)
            let order = "/v1/public/orders/ord_00000000000000000000000000"
            _ = try await counter.get(order, alice)
            let now = counter.desk.clock.now.rawValue
            let cases: [(query: String, statuses: [Int64])] = [
                ("?user=alice", [404, 200]), ("?user=alice&status=200", [200]), ("?user=nobody", []),
                ("?route=/v1/public/orders/%7Bid%7D", [404]), ("?route=\(order)", []),
                ("?user=bob&route=/v1/public/entitlements", [200]), ("?user=alice&since=\(now)", [404]),
                ("?user=alice&since=\(now + 1)", []),
            ]
            for (query, statuses) in cases {
                #expect(try await Self.list(counter, query).map { $0.int("status") } == statuses, "\(query)")
            }
            for (query, field) in [
                ("status=many", "status"), ("status=99", "status"), ("since=soon", "since"), ("user=", "user"),
                ("limit=5", "limit"),
            ] {
                let reply = try await counter.get("/v1/admin/requests?\(query)", counter.adminKey)
                #expect(reply.status == 400 && reply.field == field, "\(query): \(reply)")
            }
        }
    }

    @Test
    func `readers do not see who calls`() async throws {
        try await withCounter { counter in
            let reader = try await counter.key("admin:read").key
            #expect(try await counter.get("/v1/admin/requests", reader).status == 403)
            #expect(try await counter.get("/v1/admin/requests").status == 401)
        }
    }

    @Test
    func `the oldest calls make room for new ones`() {
        let log = RequestLog()
        for number in 0..<(RequestLog.capacity + 3) {
            log.add(
                RequestLog.Entry(
                    at: Timestamp(Int64(number)), method: "GET", route: "/", status: 200, error: nil, milliseconds: 0,
                    actor: nil, user: nil, requestID: "\(number)"))
        }
        let kept = log.list { _ in true }
        #expect(kept.count == RequestLog.capacity)
        #expect(kept.first?.requestID == "1002" && kept.last?.requestID == "3")
        #expect(kept.map(\.at) == kept.map(\.at).sorted(by: >))
    }
}
