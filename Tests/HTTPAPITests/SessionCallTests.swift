import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("What a session may call")
struct SessionCallTests {
    private static let open: [Session.Purpose: Set<String>] = [
        .checkout: [
            "GET /v1/public/session", "GET /v1/public/products", "GET /v1/public/payment-methods",
            "POST /v1/public/checkout", "GET /v1/public/orders/{id}", "GET /v1/public/orders/{id}/contract",
            "POST /v1/public/orders/{id}/checkout", "POST /v1/public/orders/{id}/cancel",
            "POST /v1/public/orders/{id}/refresh", "POST /v1/public/apple-pay/session",
            "POST /v1/public/apple-pay/payments", "GET /v1/public/stream",
        ],
        .portal: [
            "GET /v1/public/session", "GET /v1/public/orders", "GET /v1/public/orders/{id}",
            "GET /v1/public/subscriptions", "GET /v1/public/subscriptions/{id}", "GET /v1/public/entitlements",
            "GET /v1/public/stream", "POST /v1/public/subscriptions/{id}/cancel",
            "POST /v1/public/subscriptions/{id}/resume", "POST /v1/public/subscriptions/{id}/change",
            "POST /v1/public/subscriptions/{id}/pay", "POST /v1/public/subscriptions/{id}/payment-method",
            "GET /v1/public/subscriptions/{id}/payment-method",
        ],
    ]

    @Test(arguments: Session.Purpose.allCases)
    func `every other call is forbidden`(_ purpose: Session.Purpose) async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let made = try await counter.session(try await counter.token(), purpose: purpose.rawValue)
            let allowed = try #require(Self.open[purpose])
            var names: Set<String> = []
            for route in counter.api.routes {
                if case .anyone = route.access { continue }
                let name = "\(route.method) \(route.path)"
                names.insert(name)
                #expect(route.sessions.contains(purpose) == allowed.contains(name), "\(name)")
                let path = route.parameterNames.reduce(route.path) { $0.replacing("{\($1)}", with: "x1") }
                // The answer to a GET of the stream has no end.
                let isEndless = route.id == "readStream"
                for method in route.method != .get ? [route.method] : isEndless ? [.head] : [.get, .head] {
                    let reply = try await counter.refused(method, path, made, method == .post ? "{}" : nil)
                    #expect((reply.status == 403) != allowed.contains(name), "\(method) \(name): \(reply)")
                    // A HEAD has no body, and `verifyReceipt` its own.
                    guard method != .head, route.errors != .verifyReceipt, reply.status == 403 else { continue }
                    #expect(reply.error == "forbidden", "\(name): \(reply)")
                }
            }
            #expect(allowed.isSubset(of: names))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that the session did not make is not there`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            let (one, two) = (
                try await counter.session(user, "vip_month"), try await counter.session(user, "vip_month")
            )
            let order = try await counter.buy(one).text("order_id")
            var checked = 0
            for route in counter.api.routes where route.sessions.contains(.checkout) {
                let takesID = route.path.hasPrefix("/v1/public/orders/{id}")
                guard takesID || route.path.hasPrefix("/v1/public/apple-pay/") else { continue }
                let token = #","token":{"paymentData":{}}"#
                let isPayment = route.path.hasSuffix("/payments")
                let body = takesID ? "{}" : #"{"order_id":"\#(order)"\#(isPayment ? token : "")}"#
                let path = route.path.replacing("{id}", with: order)
                let reply = try await counter.refused(route.method, path, two, route.method == .get ? nil : body)
                #expect(reply.status == 404 && reply.error == "order_not_found", "\(route.path): \(reply)")
                checked += 1
            }
            #expect(checked == 7)
            #expect(try await counter.shown(two)["order"] == .null)
            let portal = try await counter.session(user, purpose: "portal")
            #expect(try await counter.refused(.get, "/v1/public/orders/\(order)", portal).status == 200)
            let other = try await counter.session(try await counter.token("bob"), purpose: "portal")
            #expect(try await counter.refused(.get, "/v1/public/orders/\(order)", other).status == 404)
        }
    }

    @Test func `neither metadata nor the user's id is shown`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let user = try await counter.token("secretive-name")
            let made = try await counter.session(user, "vip_month", more: #","metadata":{"inner":"hush-hush"}"#)
            let order = try await counter.buy(made).text("order_id")
            let portal = try await counter.session(user, purpose: "portal")
            let path = "/v1/public/orders/\(order)"
            var texts = [
                try await counter.refused(.get, "/v1/public/session", made),
                try await counter.refused(.get, path, made),
                try await counter.refused(.post, path + "/refresh", made, "{}"),
                try await counter.refused(.get, "/v1/public/orders", portal),
                try await counter.refused(.get, path, portal),
            ]
            texts.append(try await counter.refused(.post, path + "/cancel", made, "{}"))
            for reply in texts {
                #expect(reply.status == 200 && !reply.text.contains("hush-hush"), "\(reply)")
                #expect(!reply.text.contains("secretive-name") && !reply.text.contains(made.text("token")))
            }
            let own = try await counter.get(path, user)
            #expect(try own.data["metadata"].text("inner") == "hush-hush")
        }
    }

    @Test func `products and methods are the session's own`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let made = try await counter.session(
                try await counter.token(), "vip_month", "vip_year", more: #","provider":"box-qr""#)
            let products = try await counter.refused(.get, "/v1/public/products?platform=web", made)
            #expect(try products.data["items"].elements.map { $0.text("sku") } == ["vip_month", "vip_year"])
            let path = "/v1/public/payment-methods?sku=vip_month&platform=web&currency=CNY"
            let methods = try await counter.refused(.get, path, made)
            #expect(try methods.data["items"].elements.map { $0.text("account") } == ["box-qr"])
            let other = try await counter.refused(
                .get, "/v1/public/payment-methods?sku=vip_kept&platform=web&currency=CNY", made)
            #expect(other.status == 400 && other.field == "sku")
        }
    }

    @Test(arguments: [
        (#"{"sku":"vip_year"}"#, "sku"), (#"{"platform":"ios"}"#, "platform"), (#"{"currency":"USD"}"#, "currency"),
        (#"{"quantity":2}"#, "quantity"), (#"{"days":7}"#, "days"), (#"{"accept":["stripe"]}"#, "accept"),
        (#"{"accept":["url","stripe"]}"#, "accept"), (#"{"provider":"box-url"}"#, "provider"),
        (#"{"return_url":"https://app.example/else"}"#, "return_url"),
        (#"{"return_url":"https://pay.example/pay/s/ses_00000000000000000000000000"}"#, "return_url"),
        (#"{"locale":"en"}"#, "locale"), (#"{"metadata":{"a":"b"}}"#, "metadata"), (#"{"zz":1}"#, "zz"),
    ])
    func `a field of a checkout that contradicts the session is refused`(_ body: String, _ field: String) async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let made = try await counter.session(
                try await counter.token(), "vip_month",
                more: #"""
                    ,"accept":["url","qr"],"provider":"box-qr","return_url":"https://app.example/done",\#
                    "locale":"zh-Hans","metadata":{"a":"a"}
                    """#)
            let reply = try await counter.refused(.post, "/v1/public/checkout", made, body)
            #expect(reply.status == 400 && reply.error == "invalid_request" && reply.field == field, "\(reply)")
            #expect(try await counter.desk.count("orders") == 0)
        }
    }

    @Test func `what a checkout leaves out is the session's`() async throws {
        var setup = CounterSetup.cny
        setup.desk.returnURLs = ReturnURLRules([.origin(try #require(WebAddress("https://app.example")))])
        try await withCounter(on: .sqlite, setup) { counter in
            let user = try await counter.token()
            let made = try await counter.session(
                user, "coins",
                more: #","quantity":3,"accept":["qr"],"return_url":"https://app.example/done","metadata":{"a":"b"}"#)
            let contract = try await counter.buy(made)
            #expect(contract.text("type") == "qr" && contract["amount"].int("value") == 1_800)
            let order = try await counter.get("/v1/public/orders/" + contract.text("order_id"), user).data
            #expect(order["metadata"].text("a") == "b" && order.int("quantity") == 3)
            let page = "https://pay.example/pay/s/" + made.text("id")
            let other = try await counter.session(user, "vip_month")
            let refused = try await counter.refused(
                .post, "/v1/public/checkout", other, #"{"return_url":"\#(page)"}"#)
            #expect(refused.field == "return_url")
            let own = "https://pay.example/pay/s/" + other.text("id")
            _ = try await counter.buy(other, #"{"return_url":"\#(own)"}"#)
            let several = try await counter.session(user, "vip_month", "vip_year")
            let none = try await counter.refused(.post, "/v1/public/checkout", several, "{}")
            #expect(none.status == 400 && none.field == "sku")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `idempotency keys are the session's`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            let (one, two) = (
                try await counter.session(user, "vip_month"), try await counter.session(user, "vip_month")
            )
            let key = ["Idempotency-Key": "same"]
            var orders: [String] = []
            for session in [one, two, one] {
                let reply = try await counter.post("/v1/public/checkout", session.text("token"), headers: key)
                orders.append(try reply.data.text("order_id"))
            }
            #expect(orders[0] == orders[2] && orders[0] != orders[1])
            let mine = try await counter.post("/v1/public/checkout", user, Counter.ask(), headers: key)
            #expect(mine.status == 200 && mine.header("Idempotency-Replayed") == nil)
            #expect(try !orders.contains(mine.data.text("order_id")))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `after its end a session reads, cancels and refreshes for a day`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            let made = try await counter.session(user, "vip_month", more: #","expires_in":60"#)
            let empty = try await counter.session(user, "vip_month", more: #","expires_in":60"#)
            let contract = try await counter.buy(made)
            let order = "/v1/public/orders/" + contract.text("order_id")
            #expect(try await counter.shown(made).int("readable_until") == contract.int("expires_at") + 86_400)
            counter.desk.clock.advance(seconds: 300)
            #expect(try await counter.refused(.get, "/v1/public/session", empty).reason == "session_expired")
            for (path, body) in [("/v1/public/checkout", "{}"), (order + "/checkout", #"{"provider":"box-qr"}"#)] {
                let over = try await counter.refused(.post, path, made, body)
                #expect(over.status == 409 && over.error == "conflict" && over.reason == "session_over", "\(over)")
            }
            #expect(try await counter.refused(.post, order + "/refresh", made, "{}").status == 200)
            #expect(try await counter.refused(.get, order + "/contract", made).status == 200)
            _ = try await counter.notify("payment.succeeded", contract)
            #expect(try await counter.shown(made).text("state") == "paid")
            counter.desk.clock.advance(seconds: 3 * 86_400)
            #expect(try await counter.refused(.get, order, made).reason == "session_expired")
        }
    }
}
