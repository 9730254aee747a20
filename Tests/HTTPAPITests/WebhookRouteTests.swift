import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Webhooks over HTTP")
struct WebhookRouteTests {
    private static let path = "/v1/partner/webhooks"

    private static func ask(_ types: [String] = [], url: String = "https://hooks.example/a") -> String {
        #"{"url":"\#(url)","types":[\#(types.map { "\"\($0)\"" }.joined(separator: ","))]}"#
    }

    @Test(arguments: TestEngine.allCases)
    func `a webhook is made, read, changed, rotated and deleted`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let key = try await counter.key("webhooks:write", "orders:read", partner: "acme").key
            let made = try await counter.post(Self.path, key, Self.ask(["order.paid", "order.opened", "order.paid"]))
            #expect(made.status == 200, "\(made)")
            let id = try made.data.text("id")
            let secret = try made.data.text("secret")
            #expect(id.hasPrefix("whk_") && secret.hasPrefix("whsec_"))
            #expect(try made.data["types"].elements == [.string("order.opened"), .string("order.paid")])
            #expect(try made.data.text("status") == "enabled")

            let read = try await counter.get("\(Self.path)/\(id)", key)
            #expect(read.status == 200 && !read.text.contains("secret"))
            let listed = try await counter.get(Self.path, key)
            #expect(try listed.data["items"][0].text("id") == id && !listed.text.contains("whsec_"))

            let patched = try await counter.send(
                .patch, "\(Self.path)/\(id)", key, body: #"{"url":"https://hooks.example/b","status":"disabled"}"#)
            #expect(try patched.data.text("url") == "https://hooks.example/b")
            #expect(try patched.data.text("status") == "disabled")
            #expect(try patched.data.text("disabled_reason") == "partner")
            let enabled = try await counter.send(.patch, "\(Self.path)/\(id)", key, body: #"{"status":"enabled"}"#)
            #expect(try enabled.data.text("status") == "enabled" && !enabled.text.contains("disabled_reason"))

            let rotated = try await counter.post("\(Self.path)/\(id)/rotate-secret", key)
            let new = try rotated.data.text("secret")
            #expect(new.hasPrefix("whsec_") && new != secret)

            let deleted = try await counter.send(.delete, "\(Self.path)/\(id)", key)
            #expect(deleted.status == 200)
            #expect(try await counter.get("\(Self.path)/\(id)", key).status == 404)
            let actions = try await counter.get("/v1/admin/audit?subject=\(id)", counter.adminKey)
            for action in ["created", "changed", "disabled", "enabled", "secret_rotated", "deleted"] {
                #expect(actions.text.contains("webhook.\(action)"), "\(action)")
            }
            #expect(!actions.text.contains("whsec_"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is wrong is named and changes nothing`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let orders = try await counter.key("webhooks:write", "orders:read", partner: "acme").key
            let narrow = try await counter.key("webhooks:write", partner: "acme").key
            let cases: [(String, String, Int, String, String)] = [
                (orders, Self.ask(url: "https://127.0.0.1/"), 400, "invalid_request", "url"),
                (orders, Self.ask(url: "http://hooks.example/"), 400, "invalid_request", "url"),
                (orders, Self.ask(url: "https://[::ffff:10.0.0.1]/"), 400, "invalid_request", "url"),
                (orders, Self.ask(url: ""), 400, "invalid_request", "url"),
                (orders, "{}", 400, "invalid_request", "url"),
                (orders, #"{"url":7}"#, 400, "invalid_request", "url"),
                (orders, #"{"url":"https://hooks.example/","types":"order.paid"}"#, 400, "invalid_request", "types"),
                (orders, Self.ask(["order.payed"]), 400, "invalid_request", "types"),
                (orders, Self.ask(["order.paid", "entitlements.changed"]), 403, "forbidden", ""),
                (narrow, Self.ask(["order.paid"]), 403, "forbidden", ""),
            ]
            for (key, body, status, error, field) in cases {
                let reply = try await counter.post(Self.path, key, body)
                #expect(reply.status == status && reply.error == error, "\(body): \(reply)")
                if !field.isEmpty { #expect(reply.text.contains("\"field\":\"\(field)\""), "\(body): \(reply)") }
            }
            #expect(try await counter.desk.count("webhooks") == 0)
            #expect(try await counter.post(Self.path, narrow, Self.ask()).status == 200)
            // A narrower key must not direct the events of a wider key's webhook to itself.
            let wide = try await counter.post(Self.path, orders, Self.ask(["order.paid"]))
            let place = "\(Self.path)/\(try wide.data.text("id"))"
            for body in [#"{"url":"https://elsewhere.example/"}"#, #"{"types":[]}"#] {
                let reply = try await counter.send(.patch, place, narrow, body: body)
                #expect(reply.status == 403 && reply.error == "forbidden", "\(reply)")
            }

            let made = try await counter.post(Self.path, orders, Self.ask(["order.paid"]))
            let id = try made.data.text("id")
            let changes: [(String, Int)] = [
                (#"{"status":"gone"}"#, 400), (#"{"url":"https://10.0.0.1/"}"#, 400), (#"{"types":["x"]}"#, 400),
                (#"{"types":["entitlements.changed"]}"#, 403), (#"{"types":7}"#, 400),
            ]
            for (body, status) in changes {
                let reply = try await counter.send(.patch, "\(Self.path)/\(id)", orders, body: body)
                #expect(reply.status == status, "\(body): \(reply)")
            }
            // A wider key cannot extend the types beyond those of the webhook's own key.
            let reply = try await counter.send(
                .patch, "\(Self.path)/\(id)", try await counter.key("admin", partner: "acme").key,
                body: #"{"types":["entitlements.changed"]}"#)
            #expect(reply.status == 403)
            for path in ["whk_x", "whk_00000000000000000000000000", "x/deliveries", "x/rotate-secret"] {
                let get = try await counter.get("\(Self.path)/\(path)", orders)
                #expect(get.status == (path.hasSuffix("rotate-secret") ? 405 : 404), "\(path)")
            }
            for cursor in ["x", "ord_00000000000000000000000000"] {
                #expect(try await counter.get("\(Self.path)?cursor=\(cursor)", orders).status == 400)
                #expect(try await counter.get("\(Self.path)/\(id)/deliveries?cursor=\(cursor)", orders).status == 400)
            }
        }
    }

    @Test(arguments: TestEngine.allCases, [["webhooks:write"], ["webhooks:write", "entitlements:read"]])
    func `a key that may not read what a webhook shows does nothing with it`(
        _ engine: TestEngine, _ scopes: [String]
    ) async throws {
        try await withCounter(on: engine) { counter in
            let wide = try await counter.key("webhooks:write", "orders:read", partner: "acme").key
            let made = try await counter.post(Self.path, wide, Self.ask(["order.paid"]))
            let place = "\(Self.path)/\(try made.data.text("id"))"
            try await counter.desk.buy()
            try await counter.desk.work()
            let delivery = try await counter.get("\(place)/deliveries", wide).data["items"][0].text("id")
            let narrow = try await counter.desk.gateway.keys.create(
                name: "narrow", partner: "acme", scopes: scopes, context: .test
            ).key
            let before = try await counter.desk.count("audit")
            let acts: [(HTTPRequest.Method, String, String)] = [
                (.patch, place, #"{"status":"disabled"}"#), (.patch, place, #"{"url":"https://elsewhere.example/"}"#),
                (.patch, place, "{}"), (.delete, place, "{}"), (.post, "\(place)/rotate-secret", "{}"),
                (.post, "/v1/partner/deliveries/\(delivery)/redeliver", "{}"),
            ]
            for (method, path, body) in acts {
                let reply = try await counter.send(method, path, narrow, body: body)
                #expect(reply.status == 403 && reply.error == "forbidden", "\(method) \(path): \(reply)")
            }
            #expect(try await counter.desk.count("audit") == before)
            #expect(try await counter.desk.count("webhooks WHERE status = 'enabled' AND previous_secret IS NULL") == 1)
            for (method, path, body) in acts.reversed() {
                let reply = try await counter.send(method, path, wide, body: body)
                #expect(reply.status == (method == .patch ? 404 : 200), "\(method) \(path): \(reply)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another partner's webhooks and deliveries are not there`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let ours = try await counter.key("webhooks:write", "orders:read", partner: "acme").key
            let theirs = try await counter.key("webhooks:write", "orders:read", partner: "other").key
            let id = try await counter.post(Self.path, ours, Self.ask()).data.text("id")
            try await counter.desk.buy()
            try await counter.desk.work()
            let listed = try await counter.get("\(Self.path)/\(id)/deliveries?limit=1", ours)
            let delivery = try listed.data["items"][0]
            #expect(delivery.text("status") == "succeeded" && delivery.text("type") == "order.paid", "\(listed)")
            #expect(delivery.int("attempts") == 1 && delivery.int("last_status") == 204)
            let cursor = try listed.data.text("next_cursor")
            let older = try await counter.get("\(Self.path)/\(id)/deliveries?cursor=\(cursor)", ours)
            #expect(try older.data["items"].elements.map { $0.text("type") } == ["order.opened"])

            for (method, path) in [
                ("GET", "\(Self.path)/\(id)"), ("PATCH", "\(Self.path)/\(id)"), ("DELETE", "\(Self.path)/\(id)"),
                ("POST", "\(Self.path)/\(id)/rotate-secret"), ("GET", "\(Self.path)/\(id)/deliveries"),
                ("POST", "/v1/partner/deliveries/\(delivery.text("id"))/redeliver"),
            ] {
                let body = method == "GET" ? nil : "{}"
                let verb = try #require(HTTPRequest.Method(rawValue: method))
                let reply = try await counter.send(verb, path, theirs, body: body)
                #expect(reply.status == 404 && reply.error == "not_found", "\(method) \(path): \(reply)")
            }
            let again = try await counter.post("/v1/partner/deliveries/\(delivery.text("id"))/redeliver", ours)
            #expect(try again.data.text("status") == "pending")
            try await counter.desk.work()
            #expect(counter.desk.endpoints.received("https://hooks.example/a").count == 3)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a secret is shown once, whatever key is repeated`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let key = try await counter.key("webhooks:write", partner: "acme").key
            let headers = ["Idempotency-Key": "make"]
            let made = try await counter.post(Self.path, key, Self.ask(), headers: headers)
            let id = try made.data.text("id")
            let again = try await counter.post(Self.path, key, Self.ask(), headers: headers)
            #expect(again.status == 409 && again.error == "conflict" && again.text.contains(id), "\(again)")
            #expect(!again.text.contains("whsec_"))
            let rotate = ["Idempotency-Key": "rotate"]
            let rotated = try await counter.post("\(Self.path)/\(id)/rotate-secret", key, headers: rotate)
            #expect(rotated.status == 200)
            let twice = try await counter.post("\(Self.path)/\(id)/rotate-secret", key, headers: rotate)
            #expect(twice.status == 409 && twice.text.contains(id))
            #expect(try await counter.desk.count("webhooks") == 1)
        }
    }

    @Test func `a partner has at most fifty`() async throws {
        try await withCounter { counter in
            let key = try await counter.key("webhooks:write", partner: "acme").key
            for _ in 0..<50 { #expect(try await counter.post(Self.path, key, Self.ask()).status == 200) }
            let reply = try await counter.post(Self.path, key, Self.ask())
            #expect(reply.status == 409 && reply.error == "conflict")
            let other = try await counter.key("webhooks:write", partner: "other").key
            #expect(try await counter.post(Self.path, other, Self.ask()).status == 200)
            let page = try await counter.get("\(Self.path)?limit=30", key)
            let rest = try await counter.get("\(Self.path)?limit=30&cursor=\(page.data.text("next_cursor"))", key)
            #expect(try page.data["items"].elements.count == 30 && rest.data["items"].elements.count == 20)
        }
    }
}
