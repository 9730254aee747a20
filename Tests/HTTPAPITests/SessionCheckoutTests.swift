import Domain
import Gateway
import HTTPTypes
import ProviderKit
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The checkouts of a session")
struct SessionCheckoutTests {
    @Test(arguments: TestEngine.allCases)
    func `the same again is the running contract, and another method another attempt`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let made = try await counter.session(try await counter.token(), "vip_month")
            let first = try await counter.buy(made)
            for body in ["{}", #"{"provider":"box-url"}"#, #"{"provider":"sandbox"}"#, #"{"accept":["url"]}"#] {
                #expect(try await counter.buy(made, body) == first, "\(body)")
            }
            let other = try await counter.buy(made, #"{"provider":"box-qr"}"#)
            #expect(other.text("order_id") == first.text("order_id") && other.text("type") == "qr")
            #expect(other.text("payment_id") != first.text("payment_id"))
            #expect(try await counter.buy(made) == other)
            let shown = try await counter.shown(made)
            #expect(shown["contract"] == other)
            #expect(shown["order"]["payments"].elements.map { $0.text("status") } == ["cancelled", "pending"])
            let card = try await counter.buy(made, #"{"accept":["stripe"]}"#)
            #expect(card.text("type") == "stripe" && card.text("order_id") == first.text("order_id"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another SKU closes the first order`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            let made = try await counter.session(user, "vip_month", "vip_year")
            let first = try await counter.buy(made, #"{"sku":"vip_month"}"#)
            let second = try await counter.buy(made, #"{"sku":"vip_year"}"#)
            let closed = try await counter.get("/v1/public/orders/" + first.text("order_id"), user)
            #expect(try closed.data.text("status") == "closed")
            let shown = try await counter.shown(made)
            #expect(shown["order"].text("id") == second.text("order_id"))
            #expect(shown["chosen"].text("sku") == "vip_year")
            // The session still sees the order that it closed.
            let path = "/v1/public/orders/" + first.text("order_id")
            #expect(try await counter.refused(.get, path, made).status == 200)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another SKU is refused where the first order is paid, or may be`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let made = try await counter.session(try await counter.token(), "vip_month", "vip_year")
            let first = try await counter.buy(made, #"{"sku":"vip_month"}"#)
            counter.desk.line.set(.cancel, .unavailable)
            counter.desk.line.set(.query, .unavailable)
            let unknown = try await counter.refused(.post, "/v1/public/checkout", made, #"{"sku":"vip_year"}"#)
            #expect(unknown.status == 502 && unknown.error == "provider_unavailable", "\(unknown)")
            #expect(try await counter.desk.count("orders") == 1)
            counter.desk.line.set(.cancel, nil)
            counter.desk.line.set(.query, nil)
            _ = try await counter.notify("payment.succeeded", first)
            for body in [#"{"sku":"vip_year"}"#, #"{"sku":"vip_month"}"#] {
                let paid = try await counter.refused(.post, "/v1/public/checkout", made, body)
                #expect(paid.status == 409 && paid.error == "conflict", "\(paid)")
                #expect(try paid.json["details"].text("order_id") == first.text("order_id"))
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `after a closed order comes a new one, and what it gave is shown`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            let made = try await counter.session(user, "vip_month")
            let first = try await counter.buy(made)
            let cancelled = try await counter.refused(
                .post, "/v1/public/orders/\(first.text("order_id"))/cancel", made, "{}")
            #expect(cancelled.status == 200)
            let closed = try await counter.shown(made)
            #expect(closed.text("state") == "closed" && closed.text("reason") == "cancelled")
            #expect(closed["contract"] == .null && closed["granted"] == .null)
            let second = try await counter.buy(made)
            #expect(second.text("order_id") != first.text("order_id"))
            _ = try await counter.notify("payment.succeeded", second)
            let paid = try await counter.shown(made)
            let end = counter.desk.clock.now.rawValue + 30 * 86_400
            #expect(paid.text("state") == "paid" && paid["granted"]["perpetual"] == .bool(false))
            #expect(abs(paid["granted"].int("expires_at") - end) <= 1 && paid["granted"]["units"].names.isEmpty)
            let coins = try await counter.session(user, "coins", more: #","quantity":3"#)
            _ = try await counter.notify("payment.succeeded", try await counter.buy(coins))
            let granted = try await counter.shown(coins)["granted"]
            #expect(granted["expires_at"] == .null && granted["units"].int("coins") == 300)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `many at once make one order and one payment`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let made = try await counter.session(try await counter.token(), "vip_month")
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<16 {
                    group.addTask { try await counter.post("/v1/public/checkout", made.text("token")) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.allSatisfy { $0.status == 200 || $0.error == "request_in_progress" })
            #expect(Set(try replies.filter { $0.status == 200 }.map { try $0.data.text("payment_id") }).count == 1)
            #expect(try await counter.desk.count("orders") == 1)
            #expect(try await counter.desk.count("payments") == 1)
            #expect(try await counter.desk.count("sessions WHERE busy_until IS NOT NULL") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `two numbers of one session's order cannot both be taken`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let made = try await counter.session(try await counter.token(), "vip_month")
            let order = try await counter.buy(made).text("order_id")
            let other = try await counter.checkout(try await counter.token(), sku: "vip_year").text("order_id")
            let session = try #require(ID<Session>(made.text("id")))
            let (first, second) = (try #require(ID<Order>(order)), try #require(ID<Order>(other)))
            let plan = Session.Plan(sku: try #require(SKUCode("vip_year")), days: nil)
            let isMade = try await counter.desk.store.write { tx in
                try tx.sessions.insertOrder(second, 1, of: session, plan: plan, readableUntil: Timestamp(1))
            }
            #expect(!isMade)
            let newest = try await counter.desk.store.read { db in try db.sessions.findOrder(of: session)?.order }
            #expect(newest == first)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a repetition under a key continues with the order and the attempt`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let made = try await counter.session(try await counter.token(), "vip_month")
            func send(_ key: String, _ body: String = "{}") async throws -> Reply {
                try await counter.post(
                    "/v1/public/checkout", made.text("token"), body, headers: ["Idempotency-Key": key])
            }
            counter.desk.line.set(.open, .unavailable)
            let lost = try await send("first")
            #expect(lost.status == 502 && lost.error == "provider_unavailable", "\(lost)")
            counter.desk.line.set(.open, nil)
            let first = try await send("first")
            #expect(first.status == 200, "\(first)")
            counter.desk.line.set(.open, .unavailable)
            let again = try await send("second", #"{"provider":"box-qr"}"#)
            #expect(again.status == 502, "\(again)")
            counter.desk.line.set(.open, nil)
            let second = try await send("second", #"{"provider":"box-qr"}"#)
            #expect(try second.status == 200 && second.data.text("type") == "qr", "\(second)")
            #expect(try second.data.text("order_id") == first.data.text("order_id"))
            #expect(try await counter.desk.count("orders") == 1)
            #expect(try await counter.shown(made).text("state") == "qr")
        }
    }

    @Test func `a checkout that was cut short blocks the next for a minute`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let made = try await counter.session(try await counter.token(), "vip_month")
            let session = try #require(ID<Session>(made.text("id")))
            let now = counter.desk.clock.now
            _ = try await counter.desk.store.write { tx in try tx.sessions.claim(session, at: now, lease: 60) }
            let blocked = try await counter.refused(.post, "/v1/public/checkout", made, "{}")
            #expect(blocked.status == 409 && blocked.error == "request_in_progress")
            counter.desk.clock.advance(seconds: 60)
            _ = try await counter.buy(made)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the state is that of the cashier`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            func state(_ session: JSONValue) async throws -> [String] {
                let shown = try await counter.shown(session)
                return [shown.text("state"), shown.text("reason")].filter { !$0.isEmpty }
            }
            let made = try await counter.session(user, "vip_month", "vip_year")
            #expect(try await state(made) == ["plans"])
            for (account, expected) in [("box-url", "redirect"), ("box-qr", "qr"), ("box-stripe", "stripe")] {
                _ = try await counter.buy(made, #"{"sku":"vip_month","provider":"\#(account)"}"#)
                #expect(try await state(made) == [expected])
            }
            _ = try await counter.notify("payment.failed", try await counter.shown(made)["contract"])
            #expect(try await state(made) == ["methods"])
            #expect(try await counter.shown(made)["order"].text("next_action") == "retry")
            for (language, words) in [("zh-CN,en", "付款失败"), ("en", "The payment failed"), ("fr", "The payment failed")]
            {
                let paths = [
                    "/v1/public/session", "/v1/public/orders/" + (try await counter.shown(made)["order"].text("id")),
                ]
                for path in paths {
                    let reply = try await counter.get(
                        path, made.text("token"), headers: ["Accept-Language": language])
                    #expect(reply.text.contains(words), "\(path) in \(language)")
                }
                let visitor = Visitor(counter: counter, session: made)
                let page = try await visitor.get(headers: ["Accept-Language": language])
                #expect(page.text.contains("<b>\(words)"), "\(language)")
            }

            let nothing = try await counter.session(user, more: #","currency":"EUR""#)
            #expect(try await state(nothing) == ["unavailable", "currency"])
            let nobody = try await counter.session(user, "vip_month", more: #","platform":"ios","accept":["url"]"#)
            #expect(try await state(nobody) == ["unavailable", "no_account"])
            let device = try await counter.session(user, "walkie", more: #","currency":"USD""#)
            _ = try await counter.notify("payment.succeeded", try await counter.buy(device))
            let another = try await counter.session(user, "walkie", more: #","currency":"USD","provider":"sandbox""#)
            #expect(try await state(another) == ["owned"])
            let free = try await counter.session(user, "trial")
            _ = try await counter.buy(free)
            #expect(try await state(free) == ["paid"])
            #expect(try await state(try await counter.session(user, "trial")) == ["unavailable", "once"])
            let days = try await counter.session(user, "basic_days")
            #expect(try await state(days) == ["plans"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is owned for real money is sold for no money, what test money bought is sold for real money`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine, .cny) { counter in
            func state(_ user: String, _ provider: String) async throws -> String {
                let made = try await counter.session(
                    user, "walkie", more: #","currency":"USD","provider":"\#(provider)""#)
                let state = try await counter.shown(made).text("state")
                let checkout = try await counter.refused(.post, "/v1/public/checkout", made, "{}")
                #expect((checkout.error == "already_owned") == (state == "owned"), "\(provider): \(checkout)")
                return state
            }
            let given = try await counter.token("bob")
            let gift = #"{"sku":"walkie","reason":"a gift"}"#
            #expect(try await counter.post("/v1/admin/users/bob/grants", counter.adminKey, gift).status == 200)
            for provider in ["sandbox", "scripted"] { #expect(try await state(given, provider) == "owned") }

            let tester = try await counter.token("carol")
            let made = try await counter.session(tester, "walkie", more: #","currency":"USD","provider":"sandbox""#)
            _ = try await counter.notify("payment.succeeded", try await counter.buy(made))
            #expect(try await state(tester, "sandbox") == "owned")
            #expect(try await state(tester, "scripted") == "methods")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `money that came too often or in another amount needs attention`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            func state(_ session: JSONValue) async throws -> String {
                let shown = try await counter.shown(session)
                return shown.text("state") + " " + shown.text("reason")
            }
            let wrong = try await counter.session(user, "vip_month")
            _ = try await counter.notify("payment.succeeded", try await counter.buy(wrong), value: 1)
            #expect(try await state(wrong) == "attention amount_mismatch")

            let twice = try await counter.session(user, "vip_year")
            let first = try await counter.buy(twice)
            let second = try await counter.buy(twice, #"{"provider":"box-qr"}"#)
            counter.desk.line.set(.refund, .unavailable)
            _ = try await counter.notify("payment.succeeded", second)
            _ = try await counter.notify("payment.succeeded", first)
            #expect(try await state(twice) == "attention duplicate_payment")

            let back = try await counter.session(user, "vip_kept")
            let paid = try await counter.buy(back)
            _ = try await counter.notify("payment.succeeded", paid)
            counter.desk.line.set(.refund, nil)
            let path = "/v1/admin/orders/\(paid.text("order_id"))/refunds"
            _ = try await counter.post(path, counter.adminKey, #"{"reason":"a test"}"#)
            _ = try await counter.notify("refund.succeeded", paid)
            #expect(try await state(back) == "attention refunded")
        }
    }

    @Test func `a page finds its session, and keeps a plan and a language`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let gateway = counter.desk.gateway
            let user = try await counter.token()
            let made = try await counter.session(user, "vip_month", "basic_days")
            let other = try await counter.session(user, "vip_year")
            let (id, token) = (made.text("id"), made.text("token"))
            guard case .open(let caller) = try await gateway.sessions.find(id, token: token, purpose: .checkout) else {
                Issue.record("the session is not found by its id and token")
                return
            }
            for (token, purpose) in [
                (other.text("token"), Session.Purpose.checkout), ("x", .checkout), (token, .portal),
            ] {
                guard case .unknown = try await gateway.sessions.find(id, token: token, purpose: purpose) else {
                    Issue.record("\(token) opens \(purpose)")
                    return
                }
            }
            try await gateway.sessionCheckout.choose("basic_days", days: 7, in: caller)
            try await gateway.sessions.setLanguage("zh-Hans", in: caller)
            let shown = try await counter.shown(made)
            #expect(shown["chosen"] == .object(["sku": .string("basic_days"), "days": .integer(7)]))
            #expect(shown.text("locale") == "zh-Hans" && shown.text("state") == "methods")
            #expect(try await counter.buy(made)["amount"].int("value") == 800)
            for (sku, days) in [("vip_year", nil), ("basic_days", 8), ("basic_days", nil), ("vip_month", 7)]
                as [(String, Int64?)]
            {
                await #expect(throws: GatewayError.self, "\(sku)") {
                    try await gateway.sessionCheckout.choose(sku, days: days, in: caller)
                }
            }
            await #expect(throws: GatewayError.self) { try await gateway.sessions.setLanguage("de", in: caller) }
        }
    }
}
