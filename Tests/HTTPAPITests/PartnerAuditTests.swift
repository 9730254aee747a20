import Domain
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Gateway
@testable import HTTPAPI

@Suite("Audit of partner writes")
struct PartnerAuditTests {
    /// A partner's write, and the expected audit entry.
    struct Act: Sendable {
        let endpoint: String
        let action: String
        let body: String
        /// The text that `before` of the entry must contain; "" for an empty one.
        let before: String
        let after: String
        var reason = ""
        let path: @Sendable (Scene) -> String
    }

    /// The objects on which the acts are performed.
    struct Scene: Sendable {
        let webhook: String
        let delivery: String
        let open: String
        let paid: String
        let session: String
    }

    private static let webhooks = "/v1/partner/webhooks"

    static let acts = [
        Act(
            endpoint: "POST /v1/partner/users/{user_id}/balances/{unit}/debit", action: "balance.debited",
            body: #"{"amount":10,"reason":"a game"}"#, before: "coins 100", after: "coins 90 dbt_", reason: "a game"
        ) { _ in "/v1/partner/users/alice/balances/coins/debit" },
        Act(
            endpoint: "POST /v1/partner/users/{user_id}/balances/{unit}/credit", action: "balance.credited",
            body: #"{"amount":5,"reason":"sorry"}"#, before: "coins 90", after: "coins 95 crd_", reason: "sorry"
        ) { _ in "/v1/partner/users/alice/balances/coins/credit" },
        Act(
            endpoint: "POST /v1/partner/orders/{id}/cancel", action: "order.closed", body: "{}", before: "open",
            after: "closed: cancelled by the partner"
        ) { "/v1/partner/orders/\($0.open)/cancel" },
        Act(
            endpoint: "POST /v1/partner/orders/{id}/refunds", action: "refund.created",
            body: #"{"amount":{"value":100,"currency":"CNY"},"reason":"broken"}"#, before: "", after: "1.00 CNY",
            reason: "broken"
        ) { "/v1/partner/orders/\($0.paid)/refunds" },
        Act(
            endpoint: "POST /v1/partner/users/{user_id}/grants", action: "grant.created",
            body: #"{"sku":"vip_month","duration_days":3,"reason":"sorry"}"#, before: "", after: "vip_month",
            reason: "sorry"
        ) { _ in "/v1/partner/users/alice/grants" },
        Act(
            endpoint: "POST /v1/partner/checkout", action: "order.opened",
            body: #"{"user_id":"alice","sku":"vip_month","platform":"web","currency":"CNY"}"#, before: "",
            after: "vip_month"
        ) { _ in "/v1/partner/checkout" },
        Act(
            endpoint: "POST /v1/partner/sessions", action: "session.created",
            body: #"{"user_id":"alice","purpose":"portal"}"#, before: "", after: "portal"
        ) { _ in "/v1/partner/sessions" },
        Act(
            endpoint: "DELETE /v1/partner/sessions/{id}", action: "session.ended", body: "{}", before: "running",
            after: "ended"
        ) { "/v1/partner/sessions/\($0.session)" },
        Act(
            endpoint: "POST \(webhooks)", action: "webhook.created",
            body: #"{"url":"https://hooks.example/b","types":[]}"#,
            before: "", after: "https://hooks.example/b all"
        ) { _ in webhooks },
        Act(
            endpoint: "PATCH \(webhooks)/{id}", action: "webhook.changed", body: #"{"url":"https://hooks.example/c"}"#,
            before: "https://hooks.example/a all", after: "https://hooks.example/c all"
        ) { "\(webhooks)/\($0.webhook)" },
        Act(
            endpoint: "POST \(webhooks)/{id}/rotate-secret", action: "webhook.secret_rotated", body: "{}",
            before: "sha256:", after: "sha256:"
        ) { "\(webhooks)/\($0.webhook)/rotate-secret" },
        Act(
            endpoint: "POST /v1/partner/deliveries/{id}/redeliver", action: "delivery.redelivered", body: "{}",
            before: "pending", after: "dlv_"
        ) { "/v1/partner/deliveries/\($0.delivery)/redeliver" },
        Act(
            endpoint: "DELETE \(webhooks)/{id}", action: "webhook.deleted", body: "{}",
            before: "https://hooks.example/c all", after: ""
        ) { "\(webhooks)/\($0.webhook)" },
    ]

    private static func scene(_ counter: Counter, _ key: String) async throws -> Scene {
        let made = try await counter.post(webhooks, key, #"{"url":"https://hooks.example/a","types":[]}"#)
        let webhook = try made.data.text("id")
        try await counter.desk.buyForReal("coins")
        let paid = try await counter.desk.buy("vip_month", user: "bob").order
        let open = try await counter.desk.checkout(user: "bob").order
        _ = try await counter.desk.gateway.events.dispatch()
        let session = try await counter.post(
            "/v1/partner/sessions", key, #"{"user_id":"bob","purpose":"portal"}"#)
        let listed = try await counter.get("\(webhooks)/\(webhook)/deliveries", key)
        return Scene(
            webhook: webhook, delivery: try #require(try listed.data["items"].elements.first).text("id"),
            open: open.rawValue, paid: paid.rawValue, session: try session.data.text("id"))
    }

    @Test(arguments: TestEngine.allCases)
    func `every partner write says which key did what under which request, before and after`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine) { counter in
            let writes = counter.api.routes.filter {
                // The use of a meter is counted and never audited; a test message changes nothing.
                $0.path.hasPrefix("/v1/partner/") && $0.method != .get && !$0.path.hasSuffix("/consume")
                    && !$0.path.hasSuffix("/test")
            }.map { "\($0.method) \($0.path)" }
            #expect(Set(writes) == Set(Self.acts.map(\.endpoint)))
            let key = try await counter.key(
                "entitlements:write", "entitlements:read", "orders:read", "checkout:write", "events:read",
                "webhooks:write", "refunds:write", partner: "acme"
            ).key
            let scene = try await Self.scene(counter, key)
            let actor = try await counter.desk.gateway.keys.authenticate(key: key).actor.label
            #expect(actor.hasPrefix("partner:acme/key_"))
            for (number, act) in Self.acts.enumerated() {
                counter.desk.clock.advance(seconds: 1)
                let method = try #require(HTTPRequest.Method(String(act.endpoint.prefix { $0 != " " })))
                let reply = try await counter.send(
                    method, act.path(scene), key, body: act.body, headers: ["X-Request-Id": "act-\(number)"])
                #expect(reply.status == 200, "\(act.endpoint): \(reply)")
                let audit = try await counter.get("/v1/admin/audit?limit=200", counter.adminKey)
                let digest = Digests.audited("act-\(number)")
                let entry = try #require(
                    try audit.data["items"].elements.first {
                        $0.text("request_id") == digest && $0.text("action") == act.action
                    }, "\(act.endpoint)")
                #expect(entry.text("actor") == actor)
                #expect(act.before.isEmpty ? entry.text("before") == "" : entry.text("before").hasPrefix(act.before))
                #expect(act.after.isEmpty ? entry.text("after") == "" : entry.text("after").contains(act.after))
                #expect(entry.text("before") != entry.text("after") && entry.text("reason") == act.reason, "\(entry)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a request id of the caller's is kept in the answer and nowhere in the database`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine) { counter in
            let name = "zoe-e7f1.people"
            let token = try await counter.token()
            let headers = ["X-Request-Id": name, "Idempotency-Key": "\(name)@key"]
            let reply = try await counter.post("/v1/public/checkout", token, Counter.ask(), headers: headers)
            #expect(reply.status == 200 && reply.header("X-Request-Id") == name)
            #expect(try reply.json.text("request_id") == name)
            #expect(try await counter.desk.places(of: name) == [])
            #expect(try await counter.desk.count("audit WHERE request_id = ?", Digests.audited(name)) > 0)
            // Paydesk's own request id is stored unchanged.
            let ours = try await counter.post("/v1/public/checkout", token, Counter.ask(sku: "vip_year"))
            #expect(try await counter.desk.count("audit WHERE request_id = ?", ours.json.text("request_id")) > 0)
        }
    }
}
