import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Notifications, webhooks, events and audit for admins")
struct AdminInboxTests {
    @Test(arguments: TestEngine.allCases)
    func `a notification shows how it was verified, and its text to admins alone`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let contract = try await counter.checkout(try await counter.token())
            let reader = try await counter.key("admin:read").key
            func account(_ key: String) async throws -> JSONValue {
                let items = try await counter.get("/v1/admin/accounts", key).data["items"].elements
                return try #require(items.first { $0.text("id") == "box-url" })
            }
            #expect(try await account(counter.adminKey)["last_notification_at"] == .null)
            _ = try await counter.notify("payment.succeeded", contract)
            counter.desk.clock.tick()
            _ = try await counter.notify("payment.succeeded", contract, secret: "guessed")
            let box = try await account(counter.adminKey)
            #expect(box.text("notify_url") == "https://pay.example/v1/notify/notify-token-of-box-url")
            #expect(box.int("last_notification_at") == counter.desk.clock.now.rawValue)
            #expect(try await account(reader)["notify_url"] == .null)

            func list(_ query: String) async throws -> [JSONValue] {
                try await counter.get("/v1/admin/notifications?\(query)", counter.adminKey).data["items"].elements
            }
            let all = try await list("account=box-url")
            #expect(all.map { $0.text("status") } == ["rejected", "processed"])
            #expect(try await list("account=box-url&limit=1") == [all[0]])
            #expect(try await list("account=box-url&status=processed") == [all[1]])
            #expect(try await list("account=box-qr").isEmpty)
            func read(_ item: JSONValue, _ key: String) async throws -> JSONValue {
                try await counter.get("/v1/admin/notifications/\(item.text("id"))", key).data
            }
            let good = try await read(all[1], counter.adminKey)
            for (name, value) in all[1].members { #expect(good[name] == value, "\(name)") }
            let steps = good["steps"].elements.map { $0["ok"] }
            #expect(!steps.isEmpty && steps.allSatisfy { $0 == .bool(true) })
            #expect(good["facts"][0].text("type") == "payment.succeeded")
            #expect(good["facts"][0]["subject"] == contract["payment_id"])
            #expect(good.text("body").contains(contract.text("payment_id")) && good["body_encoding"] == .null)
            #expect(good["headers"].names.contains("x-sandbox-signature"))
            let hidden = try await read(all[1], reader)
            #expect(hidden["headers"] == .null && hidden["body"] == .null && hidden["steps"] == good["steps"])
            let bad = try await read(all[0], counter.adminKey)
            #expect(bad.text("reason") == "signature" && bad["facts"] == .array([]))
            let badSteps = bad["steps"].elements.map { $0["ok"] }
            #expect(badSteps.filter { $0 == .bool(false) }.count == 1)
            #expect(badSteps.last == .bool(false))
            let none = try await counter.get("/v1/admin/notifications/ntf_nothing", counter.adminKey)
            #expect(none.error == "not_found")
        }
    }

    private static func delivery(_ id: String, _ counter: Counter) async throws -> JSONValue {
        let reply = try await counter.get("/v1/admin/deliveries/\(id)", counter.adminKey)
        return try reply.data
    }

    @Test(arguments: TestEngine.allCases)
    func `staff see every partner's endpoint, its deliveries and each attempt`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let url = "https://hooks.example/a"
            counter.desk.endpoints.answer(url) {
                $0.repetition == 0 ? .replied(status: 500, body: "not today") : .replied(status: 200)
            }
            let key = try await counter.key("webhooks:write", "orders:read", partner: "acme").key
            let made = try await counter.post(
                "/v1/partner/webhooks", key, #"{"url":"\#(url)","types":["order.opened"]}"#)
            let (hook, secret) = (try made.data.text("id"), try made.data.text("secret"))
            _ = try await counter.checkout(try await counter.token())
            try await counter.desk.work()
            let listed = try await counter.get("/v1/admin/webhooks", try await counter.key("admin:read").key)
            #expect(try listed.data["items"][0].text("partner") == "acme" && !listed.text.contains(secret))
            let path = "/v1/admin/webhooks/\(hook)"
            let deliveries = try await counter.get("\(path)/deliveries", counter.adminKey).data["items"].elements
            let id = try #require(deliveries.first).text("id")
            let first = try await Self.delivery(id, counter)
            #expect(first.int("attempts") == 1 && first["history"].elements.count == 1)
            #expect(
                first["history"][0]
                    == .object([
                        "at": .integer(counter.desk.clock.now.rawValue), "status": .integer(500),
                        "error": .string("status"), "body": .string("not today"),
                    ]))
            let again = try await counter.post("/v1/admin/deliveries/\(id)/redeliver", counter.adminKey)
            #expect(again.status == 200, "\(again)")
            try await counter.desk.work()
            let second = try await Self.delivery(id, counter)
            #expect(second["history"].elements.map { $0.int("status") } == [500, 200])
            #expect(second["history"][1]["body"] == .null && second["history"][1]["error"] == .null)

            let off = try await counter.send(.patch, path, counter.adminKey, body: #"{"status":"disabled"}"#)
            #expect(try off.data.text("status") == "disabled" && off.data.text("partner") == "acme")
            #expect(try await counter.get("/v1/partner/webhooks/\(hook)", key).data.text("status") == "disabled")
            let odd = try await counter.send(.patch, path, counter.adminKey, body: #"{"url":"https://x.example/"}"#)
            #expect(odd.status == 400 && odd.field == "url")
            let rotated = try await counter.post("\(path)/rotate-secret", counter.adminKey)
            #expect(try rotated.data.text("secret").hasPrefix("whsec_") && rotated.data.text("secret") != secret)
            let acts = try await counter.get("/v1/admin/audit?subject=\(hook)", counter.adminKey).data["items"].elements
            let admin = try await counter.desk.gateway.keys.authenticate(key: counter.adminKey).actor.label
            #expect(
                acts.filter { $0.text("actor") == admin }.map { $0.text("action") } == [
                    "webhook.secret_rotated", "webhook.disabled", "delivery.redelivered",
                ])
            for (method, place) in [
                (HTTPRequest.Method.get, "webhooks/whk_x/deliveries"), (.get, "deliveries/dlv_x"),
                (.patch, "webhooks/whk_x"), (.post, "webhooks/whk_x/rotate-secret"),
                (.post, "deliveries/dlv_x/redeliver"),
            ] {
                let body = method == .get ? nil : method == .patch ? #"{"status":"enabled"}"# : "{}"
                let reply = try await counter.send(method, "/v1/admin/\(place)", counter.adminKey, body: body)
                #expect(reply.status == 404 && reply.error == "not_found", "\(place)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `events and the audit are narrowed down`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let contract = try await counter.checkout(try await counter.token())
            _ = try await counter.notify("payment.succeeded", contract)
            _ = try await counter.checkout(try await counter.token("bob"))
            try await counter.desk.work()
            let order = contract.text("order_id")
            let reader = try await counter.key("admin:read").key
            let found = try await counter.get("/v1/admin/events?subject=\(order)", reader).data["items"].elements
            #expect(found.map { $0.text("type") } == ["order.opened", "order.paid"])
            let rest = try await counter.get(
                "/v1/admin/events?subject=\(order)&after=\(found[0].int("seq"))&limit=1", reader
            ).data
            #expect(rest["items"] == .array([found[1]]) && rest["next_cursor"] == .null)
            let all = try await counter.get("/v1/admin/events?limit=2", reader).data
            #expect(all["items"].elements.count == 2 && all.int("next_cursor") == all["items"][1].int("seq"))

            let (one, two) = (try await counter.key("admin"), try await counter.key("admin"))
            for key in [one, two] {
                counter.desk.clock.advance(seconds: 10)
                let body = #"{"sku":"vip_month","duration_days":1,"reason":"\#(key.id)"}"#
                #expect(try await counter.post("/v1/admin/users/alice/grants", key.key, body).status == 200)
            }
            let now = counter.desk.clock.now.rawValue
            func reasons(_ query: String) async throws -> [String] {
                let items = try await counter.get("/v1/admin/audit?\(query)", reader).data["items"].elements
                return items.filter { $0.text("action") == "grant.created" }.map { $0.text("reason") }
            }
            let (a, b) = (one.id.rawValue, two.id.rawValue)
            #expect(try await reasons("subject=alice") == [b, a])
            #expect(try await reasons("subject=alice&actor=\(a)") == [a])
            #expect(try await reasons("actor=partner:test/\(b)") == [b])
            #expect(try await reasons("subject=alice&from=\(now)") == [b])
            #expect(try await reasons("actor=\(a)&to=\(now)") == [a])
            #expect(try await reasons("from=\(now - 10)&to=\(now)") == [a])
            #expect(try await reasons("subject=nobody") == [])
            let keys = try await counter.get("/v1/admin/api-keys", reader).data["items"].elements
            let shown = try #require(keys.first { $0.text("id") == a })
            #expect(shown["expires_at"] == .null && shown.int("last_used_at") > 0)
        }
    }
}
