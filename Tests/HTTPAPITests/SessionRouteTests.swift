import Domain
import Foundation
import HTTPTypes
import Store
import TestSupport
import Testing

@testable import Gateway
@testable import HTTPAPI

@Suite("Making and ending a session")
struct SessionRouteTests {
    @Test(arguments: TestEngine.allCases)
    func `a session is made, shown and ended`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            let made = try await counter.session(
                user, "vip_month", more: #","return_url":"https://app.example/done","metadata":{"inner":"hush-hush"}"#)
            let now = counter.desk.clock.now.rawValue
            #expect(made.names == ["id", "purpose", "url", "token", "expires_at", "readable_until"])
            #expect(made.text("url") == "https://pay.example/pay/" + made.text("token"))
            #expect(SessionToken(made.text("token")) != nil && ID<Session>(made.text("id")) != nil)
            #expect(made.int("expires_at") == now + 1_800 && made.int("readable_until") == now + 1_800)
            let shown = try await counter.shown(made)
            #expect(shown["chosen"]["sku"] == .string("vip_month") && shown["order"] == .null)
            #expect(shown.text("state") == "methods" && shown.text("currency") == "CNY")
            #expect(shown["accept"].elements.count == 5 && shown["branding"].text("name") == "pay.example")
            let portal = try await counter.session(user, purpose: "portal")
            #expect(portal.text("url").hasPrefix("https://pay.example/portal/pds_"))
            #expect(portal.int("expires_at") == now + 900)
            #expect(try await counter.shown(portal)["state"] == .null)

            let path = "/v1/public/sessions/" + made.text("id")
            let other = try await counter.send(.delete, path, try await counter.token("bob"))
            #expect(other.status == 404 && other.error == "not_found")
            let ended = try await counter.send(.delete, path, user)
            #expect(ended.status == 200)
            #expect(try ended.data.names == ["id", "ended_at"])
            counter.desk.clock.tick()
            #expect(try await counter.send(.delete, path, user).data == ended.data)
            let gone = try await counter.get("/v1/public/session", made.text("token"))
            #expect(gone.status == 401 && gone.reason == "session_expired")
            let unknown = try await counter.get("/v1/public/session", "pds_" + String(repeating: "A", count: 43))
            #expect(unknown.status == 401 && unknown.reason == nil)
            #expect(try await counter.get("/v1/public/session", user).status == 403)
        }
    }

    /// A change of a good body, and the field that is refused.
    static let wrong: [(String, String)] = [
        (#""purpos":"checkout""#, "purpos"), (#""purpose":"both""#, "purpose"), (#""purpose":null"#, "purpose"),
        (#""currency":"YEN""#, "currency"), (#""currency":"EUR""#, "currency"), (#""platform":"fridge""#, "platform"),
        (#""skus":"vip_month""#, "skus"), (#""skus":["vip_month","vip_month"]"#, "skus[1]"),
        (#""quantity":0"#, "quantity"), (#""quantity":"two""#, "quantity"),
        (#""skus":["vip_month","vip_year"],"quantity":2"#, "quantity"),
        (#""skus":["walkie"],"currency":"USD","quantity":2"#, "quantity"),
        (#""skus":["vip_month","basic_days"],"days":7"#, "days"), (#""skus":["basic_days"],"days":8"#, "days"),
        (#""days":30"#, "days"), (#""provider":"nobody""#, "provider"), (#""provider":7"#, "provider"),
        (#""accept":"url""#, "accept"), (#""accept":["cash"]"#, "accept"), (#""accept":[]"#, "accept"),
        (#""return_url":"javascript:alert(1)""#, "return_url"), (#""return_url":"//evil.example/""#, "return_url"),
        (#""return_url":"https://pay.example/pay/s/ses_x""#, "return_url"),
        (#""cancel_url":"data:text/html,x""#, "cancel_url"), (#""expires_in":59"#, "expires_in"),
        (#""expires_in":86401"#, "expires_in"), (#""locale":"de""#, "locale"),
        (#""metadata":{"k":{"deep":1}}"#, "metadata"), (#""metadata":{"":"x"}"#, "metadata"),
        (#""external_purchase_token":"x""#, "external_purchase_token"), (#""storefront":"Germany""#, "storefront"),
        // The first of two faults is named.
        (#""currency":"YEN","platform":"fridge""#, "currency"), (#""platform":"fridge","quantity":"x""#, "platform"),
        (#""quantity":"x","accept":7"#, "quantity"), (#""return_url":"//x","cancel_url":"//x""#, "return_url"),
        (#""expires_in":1,"locale":"de""#, "expires_in"), (#""locale":"de","metadata":7"#, "locale"),
        (#""skus":["walkie"],"platform":"fridge""#, "currency"), (#""zz":1,"purpose":"both""#, "zz"),
    ]

    @Test(arguments: wrong)
    func `a wrong field is named and nothing is made`(_ change: String, _ field: String) async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            var members = [#""purpose":"checkout""#, #""skus":["vip_month"]"#]
            members.removeAll { member in change.contains(member.prefix { $0 != ":" } + ":") }
            let body = "{" + (members + [change]).joined(separator: ",") + "}"
            let reply = try await counter.post("/v1/public/sessions", try await counter.token(), body)
            #expect(reply.status == 400 && reply.error == "invalid_request" && reply.field == field, "\(reply)")
            #expect(try await counter.desk.count("sessions") == 0)
        }
    }

    @Test func `an unknown or archived SKU is not found`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let user = try await counter.token()
            func made(_ sku: String) async throws -> Reply {
                try await counter.post("/v1/public/sessions", user, #"{"purpose":"checkout","skus":["\#(sku)"]}"#)
            }
            #expect(try await made("nothing").error == "sku_not_found")
            #expect(try await made("../etc").error == "sku_not_found")
            _ = try await counter.desk.gateway.catalogue.archive("vip_kept", context: .test)
            #expect(try await made("vip_kept").error == "sku_not_found")
        }
    }

    @Test(arguments: [
        "currency", "platform", "skus", "quantity", "days", "provider", "accept", "cancel_url", "metadata",
    ])
    func `a portal takes only its own fields`(_ field: String) async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let user = try await counter.token()
            let none = try await counter.session(user, purpose: "portal", more: #","\#(field)":null,"locale":"en""#)
            #expect(none.text("purpose") == "portal")
            let reply = try await counter.post(
                "/v1/public/sessions", user, #"{"purpose":"portal","\#(field)":"web"}"#)
            #expect(reply.status == 400 && reply.field == field, "\(reply)")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `partners and admins make sessions for a user`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let seller = try await counter.key("checkout:write", partner: "acme").key
            let body = #"{"purpose":"checkout","skus":["vip_month"],"user_id":"alice"}"#
            let made = try await counter.post("/v1/partner/sessions", seller, body)
            #expect(made.status == 200, "\(made)")
            let missing = try await counter.post("/v1/partner/sessions", seller, #"{"purpose":"checkout"}"#)
            #expect(missing.status == 400 && missing.field == "user_id")
            let reader = try await counter.key("orders:read").key
            #expect(try await counter.post("/v1/partner/sessions", reader, body).status == 403)
            #expect(
                try await counter.post("/v1/admin/sessions", try await counter.key("admin:read").key, body).status
                    == 403)
            let link = try await counter.post("/v1/admin/sessions", counter.adminKey, body)
            let contract = try await counter.buy(try link.data)
            let order = try await counter.get(
                "/v1/public/orders/" + contract.text("order_id"), try await counter.token("alice"))
            #expect(order.status == 200)
            let sold = try await counter.buy(try made.data)
            let seen = try await counter.get(
                "/v1/partner/orders/" + sold.text("order_id"), try await counter.key("orders:read", partner: "acme").key
            )
            #expect(seen.status == 200)
            #expect(try seen.data.text("partner") == "acme")

            let path = "/v1/partner/sessions/" + (try made.data.text("id"))
            let stranger = try await counter.key("checkout:write", partner: "other").key
            #expect(try await counter.send(.delete, path, stranger).status == 404)
            #expect(try await counter.send(.delete, path, seller).status == 200)
            let all = "/v1/admin/sessions/" + (try link.data.text("id"))
            #expect(try await counter.send(.delete, all, counter.adminKey).status == 200)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a token is shown once and stored nowhere`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            let key = ["Idempotency-Key": "once"]
            let body = #"{"purpose":"checkout","skus":["vip_month"]}"#
            let first = try await counter.post("/v1/public/sessions", user, body, headers: key)
            let again = try await counter.post("/v1/public/sessions", user, body, headers: key)
            #expect(again.status == 409 && again.error == "conflict" && !again.text.contains("pds_"))
            #expect(try again.json["details"].text("resource") == first.data.text("id"))
            let token = try first.data.text("token")
            _ = try await counter.buy(try first.data)
            #expect(try await counter.desk.places(of: token).isEmpty)
            #expect(try await counter.desk.places(of: String(token.dropFirst(4))).isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a user has at most 20 sessions`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            var made: [JSONValue] = []
            for _ in 0..<20 { made.append(try await counter.session(user, "coins")) }
            _ = try await counter.buy(made[0])
            let newest = try await counter.session(user, "coins")
            let oldest = try await counter.get("/v1/public/session", made[1].text("token"))
            #expect(oldest.status == 401 && oldest.reason == "session_expired")
            _ = try await counter.shown(made[0])
            for session in made.dropFirst(2) + [newest] { _ = try await counter.buy(session) }
            let full = try await counter.post("/v1/public/sessions", user, #"{"purpose":"portal"}"#)
            #expect(full.status == 409 && full.error == "conflict")
            _ = try await counter.session(try await counter.token("bob"), purpose: "portal")
            counter.desk.clock.advance(seconds: 1_900)
            _ = try await counter.session(try await counter.token(), purpose: "portal")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an erasure ends a user's sessions and deletes what they say`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let made = try await counter.session(
                try await counter.token("carol"), "vip_month",
                more: #","metadata":{"note":"hush-hush"},"cancel_url":"https://app.example/carol""#)
            _ = try await counter.post(
                "/v1/public/checkout", made.text("token"), "{}", headers: ["Idempotency-Key": "k"])
            _ = try await counter.post("/v1/admin/users/carol/erase", counter.adminKey)
            let gone = try await counter.get("/v1/public/session", made.text("token"))
            #expect(gone.status == 401 && gone.reason == "session_expired")
            #expect(try await counter.desk.places(of: "hush-hush").isEmpty)
            #expect(try await counter.desk.places(of: "https://app.example/carol").isEmpty)
            #expect(try await counter.desk.count("idempotency_keys WHERE caller LIKE 'session/%'") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a session is deleted a month after its end`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let bought = try await counter.session(try await counter.token(), "vip_month")
            _ = try await counter.buy(bought)
            _ = try await counter.session(try await counter.token(), purpose: "portal")
            // The age counts by the database's clock, which a test cannot move on PostgreSQL.
            try await counter.desk.store.write { tx in
                _ = try tx.execute("UPDATE sessions SET expires_at = 1, readable_until = 2 WHERE purpose = 'checkout'")
            }
            _ = try await counter.desk.gateway.retention.apply()
            #expect(try await counter.desk.count("sessions") == 1)
            #expect(try await counter.desk.count("session_orders") == 0)
            #expect(try await counter.desk.count("orders") == 1)
            #expect(try await counter.get("/v1/public/session", bought.text("token")).reason == nil)
        }
    }

    @Test func `the branding is the operator's, and its logo is served under its digest`() async throws {
        var setup = CounterSetup.cny
        let logo = PageSettings.Logo(mediaType: "image/svg+xml", content: Data("<svg/>".utf8))
        setup.desk.pages = PageSettings(name: "Desk & Co", logo: logo, merchantLines: ["Main Street 1"])
        try await withCounter(on: .sqlite, setup) { counter in
            let made = try await counter.session(try await counter.token(), purpose: "portal")
            let branding = try await counter.shown(made)["branding"]
            #expect(branding.text("name") == "Desk & Co" && branding["support_url"] == .null)
            #expect(branding["merchant_lines"].elements == [.string("Main Street 1")])
            // The fixture has an account that is live.
            #expect(branding["test"] == .bool(false))
            let path = branding.text("logo_url")
            #expect(path.wholeMatch(of: /\/assets\/logo-[0-9a-f]{16}/) != nil)
            let image = try await counter.get(path)
            #expect(image.status == 200 && image.text == "<svg/>")
            #expect(image.header("Content-Security-Policy")?.hasSuffix("sandbox") == true)
            for account in ["apple-iap", "scripted"] {
                _ = try await counter.desk.gateway.accounts.change(
                    account, AccountChange(enabled: false), context: .test)
            }
            #expect(try await counter.shown(made)["branding"]["test"] == .bool(true))
        }
    }

    @Test func `a session's calls have a bucket of their own`() async throws {
        var setup = CounterSetup.cny
        setup.limits.userPerSecond = 1
        setup.limits.userBurst = 5
        try await withCounter(on: .sqlite, setup) { counter in
            let user = try await counter.token()
            let made = try await counter.session(user, "vip_month")
            var statuses: [Int] = []
            for _ in 0..<8 { statuses.append(try await counter.get("/v1/public/session", made.text("token")).status) }
            #expect(statuses.first == 200 && statuses.last == 429)
            #expect(try await counter.get("/v1/public/entitlements", user).status == 200)
            for _ in 0..<8 {
                statuses.append(
                    try await counter.post("/v1/public/sessions", user, #"{"purpose":"portal"}"#).status)
            }
            #expect(statuses.last == 429)
        }
    }
}
