import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Bad input")
struct BadInputTests {
    /// A body that is refused, with the expected error.
    struct Bad: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        var status = 400
        var error = "invalid_request"
        var field: String?

        init(
            _ name: String, _ body: String, _ status: Int = 400, _ error: String = "invalid_request",
            field: String? = nil
        ) {
            (testDescription, self.body, self.status, self.error, self.field) = (name, body, status, error, field)
        }
    }

    private static func nested(_ depth: Int) -> String {
        let inner = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
        return #"{"sku":"vip_month","platform":"web","currency":"CNY","more":\#(inner)}"#
    }

    static let checkouts = [
        Bad("no JSON", "sku=vip_month", field: ""), Bad("half of it", #"{"sku":"#, field: ""),
        Bad("a list", "[]", field: ""), Bad("a text", #""sku""#, field: ""), Bad("null", "null"),
        Bad("an empty object", "{}", field: "sku"), Bad("an empty body", "", field: "sku"),
        Bad("33 levels", nested(33), field: ""),
        Bad("a text with U+0000", Counter.ask(#","return_url":"\u0000https://app.example""#), field: ""),
        Bad("a number for the SKU", #"{"sku":1,"platform":"web","currency":"CNY"}"#, field: "sku"),
        Bad("a text for the quantity", Counter.ask(#","quantity":"two""#), field: "quantity"),
        Bad("half a piece", Counter.ask(#","quantity":1.5"#), field: "quantity"),
        Bad("no piece", Counter.ask(#","quantity":0"#, sku: "coins"), field: "quantity"),
        Bad("minus one piece", Counter.ask(#","quantity":-1"#, sku: "coins"), field: "quantity"),
        Bad("1,001 pieces", Counter.ask(#","quantity":1001"#, sku: "coins"), field: "quantity"),
        Bad("10^9 pieces", Counter.ask(#","quantity":1000000000"#, sku: "coins"), field: "quantity"),
        Bad("10^30 pieces", Counter.ask(#","quantity":1000000000000000000000000000000"#), field: "quantity"),
        Bad("an unknown SKU", Counter.ask(sku: "nothing"), 404, "sku_not_found"),
        Bad("an impossible SKU", Counter.ask(sku: "../../etc"), 404, "sku_not_found"),
        Bad("an unknown option", Counter.ask(#","days":8"#, sku: "basic_days"), field: "days"),
        Bad("a text for the option", Counter.ask(#","days":"7""#, sku: "basic_days"), field: "days"),
        Bad("a platform that is none", #"{"sku":"vip_month","platform":"fridge","currency":"CNY"}"#, field: "platform"),
        Bad("a currency that is none", #"{"sku":"vip_month","platform":"web","currency":"XXX"}"#, field: "currency"),
        Bad("a currency without a price", #"{"sku":"vip_month","platform":"web","currency":"JPY"}"#, field: "currency"),
        Bad("a currency in lower case", #"{"sku":"vip_month","platform":"web","currency":"cny"}"#, field: "currency"),
        Bad("an unknown provider", Counter.ask(#","provider":"nobody""#), 422, "no_provider_available"),
        Bad("types as a text", Counter.ask(#","accept":"url""#), field: "accept"),
        Bad("no known type", Counter.ask(#","accept":["carrier_pigeon"]"#), 422, "no_provider_available"),
        Bad("a type as a number", Counter.ask(#","accept":["url",1]"#), field: "accept[1]"),
        Bad("an app id as a number", Counter.ask(#","app_id":1"#), field: "app_id"),
        Bad("an app id that is none", Counter.ask(#","app_id":"wx bad""#), field: "app_id"),
        Bad("a payer as a text", Counter.ask(#","payer":"o""#), field: "payer"),
        Bad("an openid as a number", Counter.ask(#","payer":{"wechat_openid":1}"#), field: "payer.wechat_openid"),
        Bad("an openid that is none", Counter.ask(#","payer":{"wechat_openid":"o p"}"#), field: "payer.wechat_openid"),
        Bad("metadata of numbers", Counter.ask(#","metadata":{"k":1}"#), field: "metadata.k"),
        Bad(
            "too long metadata", Counter.ask(#","metadata":{"k":"\#(String(repeating: "x", count: 1_001))"}"#),
            field: "metadata"),
    ]

    @Test(arguments: TestEngine.allCases, checkouts)
    func `a bad checkout names its field and leaves nothing`(_ engine: TestEngine, _ bad: Bad) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let before = try await counter.traces()
            let reply = try await counter.post("/v1/public/checkout", token, bad.body)
            #expect(reply.status == bad.status && reply.error == bad.error, "\(reply)")
            if let field = bad.field { #expect(reply.field == field, "\(reply)") }
            #expect(try await counter.traces() == before)
            #expect(counter.desk.line.count(.open) == 0)
        }
    }

    /// Requests that have to name one of several values; `details.allowed` lists these.
    @Test(arguments: [
        (Counter.ask(#","days":8"#, sku: "basic_days"), JSONValue.array([.integer(7), .integer(30)])),
        (Counter.ask(sku: "basic_days"), .array([.integer(7), .integer(30)])),
        (#"{"sku":"vip_month","platform":"web","currency":"JPY"}"#, .array([.string("CNY"), .string("USD")])),
        (#"{"sku":"walkie","platform":"web","currency":"CNY"}"#, .array([.string("USD")])),
    ])
    func `a refusal says what exists`(_ body: String, _ allowed: JSONValue) async throws {
        try await withCounter { counter in
            let reply = try await counter.post("/v1/public/checkout", try await counter.token(), body)
            #expect(reply.status == 400, "\(reply)")
            #expect(try reply.json["details"]["allowed"] == allowed, "\(reply)")
        }
    }

    @Test func `an order's own currency is said to whoever names another`() async throws {
        try await withCounter { counter in
            let token = try await counter.token()
            let order = try await counter.checkout(token).text("order_id")
            let retry = try await counter.post(
                "/v1/public/orders/\(order)/checkout", token, #"{"platform":"web","currency":"USD"}"#)
            #expect(retry.status == 400 && retry.field == "currency", "\(retry)")
            #expect(try retry.json["details"]["allowed"] == .array([.string("CNY")]))
        }
    }

    /// A parameter is validated even where another one makes it ineffective, and numbers have the documented length.
    @Test(arguments: [
        ("/v1/partner/events?after=1&cursor=-6709", "cursor"), ("/v1/partner/events?after=-1&cursor=1", "after"),
        ("/v1/partner/events?after=1&cursor=x", "cursor"),
        ("/v1/admin/orders?from=\(String(repeating: "0", count: 19))", "from"), ("/v1/admin/orders?from=%2B1", "from"),
        ("/v1/admin/stats?to=-", "to"), ("/v1/admin/export/orders.csv?from=2025-02-29", "from"),
        ("/v1/admin/orders?to=2025-01-01T00:00:00.\(String(repeating: "0", count: 64))Z", "to"),
    ])
    func `a parameter out of its form is refused`(_ path: String, _ field: String) async throws {
        try await withCounter { counter in
            let reply = try await counter.get(path, counter.adminKey)
            #expect(reply.status == 400 && reply.field == field, "\(reply)")
        }
    }

    /// A cursor is accepted only in exactly the form in which a list writes it.
    @Test(arguments: ["-1", "+1", "01", "0", "", "1%20", "9999999999999999999", "1e3"])
    func `a cursor that no list wrote is refused`(_ cursor: String) async throws {
        try await withCounter { counter in
            for path in ["/v1/admin/skus", "/v1/admin/users/alice/balances/coins/history"] {
                let reply = try await counter.get(
                    "\(path)?cursor=\(cursor.replacing("+", with: "%2B"))", counter.adminKey)
                #expect(reply.status == 400 && reply.field == "cursor", "\(path): \(reply)")
            }
        }
    }

    /// The mark U+1F3FB joins the "~" before it in one `Character`; a user's id may begin with it.
    @Test(arguments: [
        "/v1/admin/purchases?cursor=5~Xcode~%F0%9F%8F%BBx", "/v1/admin/audit?cursor=5~1~%F0%9F%8F%BBx",
    ])
    func `a cursor is split between bytes`(_ path: String) async throws {
        try await withCounter { counter in
            let reply = try await counter.get(path, counter.adminKey)
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test(arguments: [
        "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
        "//evil.example", "/relative", "https://user@app.example", "https://app.example\\@evil.example",
        "https://app .example", "intent://x", "", "https://",
    ])
    func `a return address that is not plain is refused`(_ address: String) async throws {
        try await withCounter { counter in
            let token = try await counter.token()
            let escaped = address.replacing("\\", with: "\\\\")
            let reply = try await counter.post(
                "/v1/public/checkout", token, Counter.ask(#","return_url":"\#(escaped)""#))
            #expect(reply.status == 400 && reply.field == "return_url", "\(reply)")
            #expect(try await counter.desk.count("orders") == 0)
        }
    }

    @Test
    func `only configured origins and schemes are returned to`() async throws {
        var setup = CounterSetup()
        let rules = ["https://app.example", "myapp:"].compactMap(ReturnURLRules.Rule.init)
        setup.desk.returnURLs = ReturnURLRules(rules)
        try await withCounter(on: .sqlite, setup) { counter in
            let token = try await counter.token()
            let cases = [
                ("https://app.example/done?x=1", 200), ("https://APP.example:443/", 200), ("myapp://done", 200),
                ("http://app.example/", 400), ("https://app.example.evil.example/", 400), ("otherapp://done", 400),
                ("https://app.example:8443/", 400),
            ]
            for (address, status) in cases {
                let reply = try await counter.post(
                    "/v1/public/checkout", token, Counter.ask(#","return_url":"\#(address)""#))
                #expect(reply.status == status, "\(address): \(reply)")
            }
        }
    }

    struct Call: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let path: String
        var body: String?
        var status = 400
        var error = "invalid_request"
        var field: String?
        var testDescription: String { "\(method) \(path) \(body ?? "")" }

        init(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, status: Int = 400,
            error: String = "invalid_request", field: String? = nil
        ) {
            (self.method, self.path, self.body) = (method, path, body)
            (self.status, self.error, self.field) = (status, error, field)
        }
    }

    static let adminCalls = [
        Call(.post, "/v1/admin/skus", #"{"id":"x"}"#, field: "name"),
        Call(.post, "/v1/admin/skus", #"{"id":"x","name":"X","kind":"thing","prices":[]}"#, field: "kind"),
        Call(.post, "/v1/admin/skus", sku(#""id":"Bad Id""#), field: "id"),
        Call(.post, "/v1/admin/skus", sku(#""prices":[{"currency":"CNY","value":-1}]"#), field: "prices"),
        Call(.post, "/v1/admin/skus", sku(#""prices":[{"currency":"CNY","value":1.5}]"#), field: "prices[0].value"),
        Call(.post, "/v1/admin/skus", sku(#""prices":[{"currency":"CNY"}]"#), field: "prices[0].value"),
        Call(
            .post, "/v1/admin/skus", sku(#""options":[{"days":7,"prices":[{"currency":"CNY","value":"1"}]}]"#),
            field: "options[0].prices[0].value"),
        Call(
            .patch, "/v1/admin/skus/vip_month", #"{"prices":[{"currency":"CNY","value":"1"}]}"#,
            field: "prices[0].value"),
        Call(.post, "/v1/admin/skus", sku(#""prices":[]"#), field: "prices"),
        Call(.post, "/v1/admin/skus", sku(#""id":"vip_month""#), status: 409, error: "conflict"),
        Call(
            .post, "/v1/admin/skus", sku(#""apple_product_ids":["com.example.vip.month"]"#), status: 409,
            error: "conflict"),
        Call(.get, "/v1/admin/skus/nothing", status: 404, error: "sku_not_found"),
        Call(.patch, "/v1/admin/skus/vip_month", #"{"id":"other"}"#, field: "id"),
        Call(.patch, "/v1/admin/skus/vip_month", #"{"rank":"high"}"#, field: "rank"),
        Call(.patch, "/v1/admin/skus/nothing", "{}", status: 404, error: "sku_not_found"),
        Call(.delete, "/v1/admin/skus/nothing", status: 404, error: "sku_not_found"),
        Call(.patch, "/v1/admin/accounts/nobody", #"{"enabled":true}"#, status: 404, error: "not_found"),
        Call(.patch, "/v1/admin/accounts/box-url", #"{"priority":5}"#),
        Call(.patch, "/v1/admin/accounts/box-url", #"{"enabled":"yes"}"#, field: "enabled"),
        Call(.patch, "/v1/admin/accounts/box-url", #"{"routing":{"weight":-1}}"#, field: "routing.weight"),
        Call(.patch, "/v1/admin/accounts/box-url", #"{"routing":{"platforms":["fridge"]}}"#),
        Call(.get, "/v1/admin/orders?status=lost", field: "status"),
        Call(.get, "/v1/admin/orders?from=x", field: "from"),
        Call(.get, "/v1/admin/orders?cursor=x", field: "cursor"),
        Call(.get, "/v1/admin/orders/nothing", status: 404, error: "order_not_found"),
        Call(.post, "/v1/admin/orders/nothing/refunds", "{}", status: 404, error: "order_not_found"),
        Call(.post, "/v1/admin/orders/nothing/close", "{}", status: 404, error: "order_not_found"),
        Call(.post, "/v1/admin/users/u/grants", #"{"sku":"vip_month"}"#, field: "reason"),
        Call(.post, "/v1/admin/users/u/grants", #"{"sku":"vip_month","reason":""}"#, field: "reason"),
        Call(
            .post, "/v1/admin/users/u/grants", #"{"sku":"vip_month","reason":"r","duration_days":0}"#,
            field: "duration_days"),
        Call(
            .post, "/v1/admin/users/u/grants", #"{"sku":"nothing","reason":"r"}"#, status: 404, error: "sku_not_found"),
        Call(
            .post, "/v1/admin/users/\(String(repeating: "u", count: 129))/grants", #"{"sku":"walkie","reason":"r"}"#,
            field: "user_id"),
        Call(.delete, "/v1/admin/grants/nothing", status: 404, error: "not_found"),
        Call(.post, "/v1/admin/api-keys", #"{"name":"n","scopes":["root"]}"#, field: "scopes"),
        Call(.post, "/v1/admin/api-keys", #"{"name":"","scopes":["admin"]}"#, field: "name"),
        Call(.delete, "/v1/admin/api-keys/nothing", status: 404, error: "not_found"),
        Call(.get, "/v1/admin/audit?cursor=x", field: "cursor"), Call(.get, "/v1/admin/skus?cursor=x", field: "cursor"),
        Call(.get, "/v1/admin/api-keys?cursor=ord_1", field: "cursor"),
        Call(.get, "/v1/admin/nothing", status: 404, error: "not_found"),
        Call(.put, "/v1/admin/skus", "{}", status: 405, error: "method_not_allowed"),
    ]

    private static func sku(_ change: String) -> String {
        let name = change.split(separator: "\"").first.map(String.init) ?? ""
        let members = [
            ("id", #""id":"fresh""#), ("name", #""name":"Fresh""#), ("kind", #""kind":"consumable""#),
            ("prices", #""prices":[{"currency":"CNY","value":1}]"#), ("units", #""units":{"coins":1}"#),
        ].filter { $0.0 != name }.map(\.1)
        return "{" + (members + [change]).joined(separator: ",") + "}"
    }

    @Test(arguments: TestEngine.allCases, adminCalls)
    func `a bad call of an admin changes nothing`(_ engine: TestEngine, _ call: Call) async throws {
        try await withCounter(on: engine) { counter in
            let before = try await counter.traces()
            let reply = try await counter.send(call.method, call.path, counter.adminKey, body: call.body)
            #expect(reply.status == call.status && reply.error == call.error, "\(reply)")
            if let field = call.field { #expect(reply.field == field, "\(reply)") }
            // The error is in the terms of the API, not of Swift.
            #expect(!"\(reply)".contains("Cannot initialize"))
            #expect(try await counter.traces() == before)
        }
    }

    static let userCalls = [
        Call(.get, "/v1/public/products?platform=fridge", field: "platform"),
        Call(.get, "/v1/public/products?currency=XXX", field: "currency"),
        Call(.get, "/v1/public/payment-methods", field: "sku"),
        Call(.get, "/v1/public/payment-methods?sku=vip_month", field: "platform"),
        Call(.get, "/v1/public/payment-methods?sku=vip_month&platform=web", field: "currency"),
        Call(.get, "/v1/public/payment-methods?sku=coins&platform=web&currency=CNY&quantity=x", field: "quantity"),
        Call(
            .get, "/v1/public/payment-methods?sku=nothing&platform=web&currency=CNY", status: 404,
            error: "sku_not_found"),
        Call(.get, "/v1/public/orders?limit=0", field: "limit"),
        Call(.get, "/v1/public/orders?limit=201", field: "limit"),
        Call(.get, "/v1/public/orders?limit=x", field: "limit"),
        Call(.get, "/v1/public/orders?limit=-1", field: "limit"),
        Call(.get, "/v1/public/orders?cursor=pay_0", field: "cursor"),
        Call(.get, "/v1/public/orders/ord_x", status: 404, error: "order_not_found"),
        Call(.post, "/v1/public/orders/ord_x/cancel", "{}", status: 404, error: "order_not_found"),
        Call(.post, "/v1/public/orders/ord_x/checkout", "{}", field: "platform"),
        Call(.get, "/v1/public/usage/letters", status: 404, error: "not_found"),
        Call(.post, "/v1/public/usage/messages/consume", #"{"amount":0}"#, field: "amount"),
        Call(.post, "/v1/public/usage/messages/consume", #"{"amount":"one"}"#, field: "amount"),
        Call(.post, "/v1/public/usage/messages/consume", #"{"amount":11}"#, status: 429, error: "usage_limit_reached"),
        Call(.get, "/v1/public/payments/pay_x/qr.svg", status: 404, error: "not_found"),
        Call(.post, "/v1/notify/unknown", "{}", status: 404, error: "not_found"),
        Call(.get, "/v1/notify/\(GatewayFixture.notifyToken("box-url"))", status: 404, error: "not_found"),
        Call(.post, "/v1/notify/\(GatewayFixture.notifyToken("box-url"))", "{}", error: "invalid_notification"),
        Call(.get, "/sandbox/pay_x", status: 404, error: "not_found"),
    ]

    @Test(arguments: TestEngine.allCases, userCalls)
    func `a bad call of a user changes nothing`(_ engine: TestEngine, _ call: Call) async throws {
        try await withCounter(on: engine) { counter in
            let before = try await counter.traces()
            let reply = try await counter.send(call.method, call.path, try await counter.token(), body: call.body)
            #expect(reply.status == call.status && reply.error == call.error, "\(reply)")
            if let field = call.field { #expect(reply.field == field, "\(reply)") }
            #expect(try await counter.traces() == before)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a bad refund and a bad notification change nothing`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let contract = try await counter.checkout(try await counter.token())
            let path = "/v1/admin/orders/\(contract.text("order_id"))/refunds"
            #expect(try await counter.notify("payment.succeeded", contract, secret: "guessed").status == 400)
            let paid = try await counter.notify("payment.succeeded", contract)
            #expect(paid.status == 200 && paid.text == "ok")
            let before = try await counter.traces()
            let cases: [(String, Int, String, String?)] = [
                (#"{"amount":{"value":3991,"currency":"CNY"}}"#, 422, "refund_exceeds_captured", nil),
                (#"{"amount":{"value":0,"currency":"CNY"}}"#, 400, "invalid_request", "amount"),
                (#"{"amount":{"value":1,"currency":"USD"}}"#, 400, "invalid_request", "amount"),
                (#"{"amount":{"value":"1","currency":"CNY"}}"#, 400, "invalid_request", "amount.value"),
                (#"{"amount":{"value":1}}"#, 400, "invalid_request", "amount.currency"),
                (#"{"amount":1}"#, 400, "invalid_request", "amount"),
                (#"{"reason":"\#(String(repeating: "r", count: 501))"}"#, 400, "invalid_request", "reason"),
            ]
            for (body, status, error, field) in cases {
                let reply = try await counter.post(path, counter.adminKey, body)
                #expect(reply.status == status && reply.error == error && reply.field == field, "\(body): \(reply)")
            }
            #expect(try await counter.traces() == before)
        }
    }
}
