import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Who may call what")
struct AuthorizationTests {
    /// The routes without credentials; the path of every other one determines whether it needs a user or a key.
    private static let open: Set<String> = [
        "GET /", "POST /", "GET /robots.txt", "GET /favicon.ico",
        "GET /v1/public/payments/{id}/qr.svg", "POST /v1/notify/{token}", "GET /v1/notify/{token}",
        "GET /sandbox/{payment_id}", "POST /sandbox/{payment_id}", "POST /sandbox/mandates/{id}", "GET /sandbox/book",
        "GET /healthz", "GET /readyz", "GET /version",
        "GET /metrics", "GET /openapi.json", "GET /.well-known/jwks.json",
        "GET /docs", "GET /docs/{language}", "GET /docs/{language}/{page}",
        "GET /.well-known/apple-developer-merchantid-domain-association", "GET /apple-iap/products",
        "GET /validate-receipt", "PUT /validate-receipt",
        "PATCH /validate-receipt", "DELETE /validate-receipt",
        // Signing in to the console, and out of it.
        "POST /v1/admin/console/session", "DELETE /v1/admin/console/session",
        // A page's caller is the session of its cookie.
        "GET /pay/{token}", "GET /pay/s", "GET /pay/s/{session}", "POST /pay/s/{session}",
        "GET /pay/s/{session}/qr.svg", "GET /pay/s/{session}/qr.png", "GET /pay/s/{session}/wechat",
        "GET /assets/{name}/{file}",
        "GET /portal/{token}", "GET /portal/s", "GET /portal/s/{session}", "POST /portal/s/{session}",
        "GET /portal/s/{session}/orders/{id}", "POST /portal/s/{session}/orders/{id}",
        "GET /portal/s/{session}/subscriptions/{id}", "POST /portal/s/{session}/subscriptions/{id}",
        "GET /portal/s/{session}/subscriptions/{id}/card", "POST /portal/s/{session}/subscriptions/{id}/card",
        "GET /portal/s/{session}/orders", "GET /portal/s/{session}/subscriptions", "GET /portal/s/{session}/{page}",
        "GET /assets/{name}", "GET /sdk/{name}/{file}", "GET /sdk/{name}",
        // The page of the console holds no data.
        "GET /console",
    ]
    /// Users' routes in the form of other clients.
    private static let compatible: Set<String> = ["POST /apple-iap/verify", "POST /v1/purchase/verify"]

    /// The scope that a partner's key needs for each of the partners' routes.
    private static let partners: [String: Scope] = [
        "GET /v1/partner/users/{user_id}/entitlements": .entitlementsRead,
        "GET /v1/partner/users/{user_id}/subscriptions": .entitlementsRead,
        "POST /v1/partner/users/{user_id}/balances/{unit}/debit": .entitlementsWrite,
        "POST /v1/partner/users/{user_id}/grants": .entitlementsWrite, "POST /v1/partner/checkout": .checkoutWrite,
        "GET /v1/partner/orders": .ordersRead, "GET /v1/partner/orders/{id}": .ordersRead,
        "GET /v1/partner/events": .eventsRead, "GET /v1/partner/products": .checkoutWrite,
        "POST /v1/partner/users/{user_id}/balances/{unit}/credit": .entitlementsWrite,
        "GET /v1/partner/users/{user_id}/balances/{unit}/history": .entitlementsRead,
        "GET /v1/partner/users/{user_id}/usage/{meter}": .entitlementsRead,
        "POST /v1/partner/users/{user_id}/usage/{meter}/consume": .entitlementsWrite,
        "POST /v1/partner/orders/{id}/cancel": .checkoutWrite, "POST /v1/partner/orders/{id}/refunds": .refundsWrite,
        "POST /v1/partner/sessions": .checkoutWrite, "DELETE /v1/partner/sessions/{id}": .checkoutWrite,
        "POST /v1/partner/webhooks": .webhooksWrite,
        "GET /v1/partner/webhooks": .webhooksWrite,
        "GET /v1/partner/webhooks/{id}": .webhooksWrite,
        "PATCH /v1/partner/webhooks/{id}": .webhooksWrite,
        "DELETE /v1/partner/webhooks/{id}": .webhooksWrite,
        "POST /v1/partner/webhooks/{id}/rotate-secret": .webhooksWrite,
        "POST /v1/partner/webhooks/{id}/test": .webhooksWrite,
        "GET /v1/partner/webhooks/{id}/deliveries": .webhooksWrite,
        "POST /v1/partner/deliveries/{id}/redeliver": .webhooksWrite,
    ]

    private static func name(_ endpoint: Route) -> String { "\(endpoint.method) \(endpoint.path)" }

    /// Returns the path with every parameter filled in.
    private static func path(_ endpoint: Route) -> String {
        endpoint.path.replacing(/\{[a-z_]+\}/, with: "x")
    }

    @Test
    func `a path says who may call it`() async throws {
        try await withCounter(on: .sqlite, .development) { counter in
            let endpoints = counter.api.routes
            try #require(endpoints.count > 30)
            for endpoint in endpoints {
                let name = Self.name(endpoint)
                switch endpoint.access {
                case .anyone:
                    // The address of notifications may contain a provider's kind.
                    let plain = name.replacing(/\/v1\/notify\/[a-z_]+\/\{token\}/, with: "/v1/notify/{token}")
                    #expect(Self.open.contains(plain), "\(name)")
                case .userOrAnyone: #expect(name == "POST /validate-receipt")
                case .session: #expect(name == "GET /v1/public/session")
                case .user: #expect(endpoint.path.hasPrefix("/v1/public/") || Self.compatible.contains(name), "\(name)")
                case .key(let scopes) where endpoint.path.hasPrefix("/v1/partner/"):
                    #expect(scopes == Self.partners[name].map { [$0] }, "\(name)")
                case .key(let scopes):
                    #expect(endpoint.path.hasPrefix("/v1/admin/"), "\(name)")
                    // It shows who calls.
                    let isRead = endpoint.method == .get && name != "GET /v1/admin/requests"
                    #expect(scopes == (isRead ? [.admin, .adminRead] : [.admin]), "\(name)")
                }
            }
            #expect(Self.open.union(Self.partners.keys).isSubset(of: Set(endpoints.map(Self.name))))
        }
    }

    /// RFC 6750 section 3: without credentials the challenge has no error; with invalid ones it has the reason.
    @Test
    func `a 401 says what is wrong with the credential`() async throws {
        var setup = CounterSetup()
        (setup.issuer, setup.audience) = ("me", "you")
        try await withCounter(on: .sqlite, setup) { counter in
            func challenge(_ path: String, _ bearer: String?, headers: [String: String] = [:]) async throws -> String {
                let reply = try await counter.get(path, bearer, headers: headers)
                #expect(reply.status == 401 && reply.error == "unauthenticated", "\(reply)")
                #expect(try reply.json["details"].names.isSubset(of: ["claim"]))
                return reply.header("WWW-Authenticate") ?? ""
            }
            func token(
                _ claims: [String: JSONValue], lifetime: Int64 = 60, secret: String = Counter.userSecret
            ) async throws -> String {
                let good: [String: JSONValue] = ["iss": .string("me"), "aud": .string("you")]
                return try await counter.token(
                    lifetime: lifetime, claims: good.merging(claims) { $1 }, secret: secret)
            }
            let orders = "/v1/public/orders"
            #expect(try await counter.get(orders, try await token([:])).status == 200)
            let none = #"Bearer realm="paydesk""#
            #expect(try await challenge(orders, nil) == none)
            #expect(try await challenge(orders, nil, headers: ["Authorization": "Basic YTpi"]) == none)
            let expired = try await token([:], lifetime: 0)
            let forged = try await token([:], lifetime: -9, secret: "another secret that is long enough, too")
            let revoked = try await counter.key("admin:read")
            try await counter.desk.gateway.keys.revoke(revoked.id.rawValue, context: .test)
            func claim(_ name: String) -> String { "The token's claim \(name) is missing or not as configured" }
            let cases: [(String, String, String)] = [
                (orders, "garbage", "A user's token (JWT) is needed here"),
                (orders, counter.adminKey, "A user's token (JWT) is needed here"),
                (orders, expired, "The token has expired"),
                // The contents of a token are not revealed to a client that cannot sign.
                (orders, forged, "The token's signature does not verify"),
                (orders, try await token(["exp": .null]), claim("exp")),
                (orders, try await token(["aud": .string("me")]), claim("aud")),
                (orders, try await token(["iss": .null]), claim("iss")),
                (orders, try await token(["sub": .null]), claim("sub")),
                ("/v1/admin/skus", try await token([:]), "An API key (pdk_...) is needed here"),
                ("/v1/admin/skus", counter.adminKey + "x", "There is no such API key, or it was revoked"),
                ("/v1/admin/skus", revoked.key, "There is no such API key, or it was revoked"),
            ]
            for (path, bearer, words) in cases {
                #expect(
                    try await challenge(path, bearer)
                        == none + #", error="invalid_token", error_description="\#(words)""#, "\(words)")
            }
            let chinese = try await counter.get(orders, expired, headers: ["Accept-Language": "zh-CN"])
            #expect(try chinese.json.text("msg") == "令牌已过期。")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `no route takes a credential that is not its own`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let user = try await counter.token()
            let reader = try await counter.key("admin:read")
            var lacking: [[Scope]: IssuedKey] = [:]
            let revoked = try await counter.key("admin")
            try await counter.desk.gateway.keys.revoke(revoked.id.rawValue, context: .test)
            let badTokens: [String?] = [
                nil, "", "garbage", "a.b.c", try await counter.token(lifetime: 0),
                try await counter.token(lifetime: -1),
                try await counter.token(secret: "another secret that is long enough, too"),
                try await counter.token(claims: ["exp": .null]),
                try await counter.token(lifetime: 721 * 3_600 + 61), counter.adminKey,
                String(user.dropLast(4)) + "AAAA",
                try await counter.token(claims: ["sub": .null]), try await counter.token(claims: ["sub": .string("")]),
            ]
            let badKeys: [String?] = [
                nil, "", "garbage", user, revoked.key, counter.adminKey + "x", String(counter.adminKey.dropLast()),
            ]
            var before = try await counter.traces()
            for endpoint in counter.api.routes {
                let (name, path) = (Self.name(endpoint), Self.path(endpoint))
                func send(_ bearer: String?) async throws -> Reply {
                    try await counter.send(endpoint.method, path, bearer, body: endpoint.method == .get ? nil : "{}")
                }
                switch endpoint.access {
                // `ReceiptRouteTests` tests these, because their answers have Apple's form.
                case .anyone, .userOrAnyone: continue
                case .user, .session:
                    for bearer in badTokens {
                        // Few enough in a minute that they are not limited.
                        counter.desk.clock.advance(seconds: 1)
                        let reply = try await send(bearer)
                        #expect(reply.status == 401 && reply.error == "unauthenticated", "\(name): \(reply)")
                    }
                case .key(let scopes):
                    for bearer in badKeys {
                        counter.desk.clock.advance(seconds: 1)
                        let reply = try await send(bearer)
                        #expect(reply.status == 401 && reply.error == "unauthenticated", "\(name): \(reply)")
                    }
                    // A key with every scope except these.
                    if lacking[scopes] == nil {
                        let others = Scope.allCases.filter { $0 != .admin && !scopes.contains($0) }.map(\.rawValue)
                        lacking[scopes] = try await counter.desk.gateway.keys.create(
                            name: "lacking", partner: nil, scopes: others, context: .test)
                        before = try await counter.traces()
                    }
                    for key in [lacking[scopes]].compactMap(\.self) + (scopes.contains(.adminRead) ? [] : [reader]) {
                        let reply = try await send(key.key)
                        #expect(reply.status == 403 && reply.error == "forbidden", "\(name): \(reply)")
                    }
                }
            }
            #expect(try await counter.traces() == before)
        }
    }

    @Test
    func `the algorithm is the configuration's and never the token's`() async throws {
        try await withCounter { counter in
            func encoded(_ json: String) -> String { Base64URL.encoded(Array(json.utf8)) }
            let good = try await counter.token()
            let parts = good.split(separator: ".").map(String.init)
            let tokens = [
                encoded(#"{"alg":"none","typ":"JWT"}"#) + ".\(parts[1]).",
                encoded(#"{"alg":"none","typ":"JWT"}"#) + ".\(parts[1]).\(parts[2])",
                encoded(#"{"alg":"RS256","typ":"JWT"}"#) + ".\(parts[1]).\(parts[2])",
                encoded(#"{"alg":"hs256","typ":"JWT"}"#) + ".\(parts[1]).\(parts[2])",
                encoded(#"{"alg":"HS256","crit":["exp"]}"#) + ".\(parts[1]).\(parts[2])",
                encoded(#"{"alg":"HS512","typ":"JWT"}"#) + ".\(parts[1]).\(parts[2])",
                good + ".x", "." + good, parts[0] + "." + parts[1],
            ]
            for token in tokens {
                let reply = try await counter.get("/v1/public/entitlements", token)
                #expect(reply.status == 401 && reply.error == "unauthenticated", "\(token): \(reply)")
            }
            let reply = try await counter.get("/v1/public/entitlements", good)
            #expect(reply.status == 200)
            let number = try await counter.token(claims: ["sub": .integer(7)])
            #expect(try await counter.get("/v1/public/entitlements", number).data.text("user_id") == "7")
        }
    }

    @Test
    func `issuer, audience and times are checked with the injected clock`() async throws {
        var setup = CounterSetup()
        setup.issuer = "https://login.example"
        setup.audience = "paydesk"
        try await withCounter(on: .sqlite, setup) { counter in
            let good: [String: JSONValue] = [
                "iss": .string("https://login.example"), "aud": .array([.string("other"), .string("paydesk")]),
            ]
            let now = counter.desk.clock.now.rawValue
            let cases: [([String: JSONValue], Int)] = [
                ([:], 200), (["iss": .string("https://evil.example")], 401), (["iss": .null], 401),
                (["aud": .string("paydesk")], 200), (["aud": .string("other")], 401), (["aud": .null], 401),
                (["nbf": .integer(now + 61)], 401), (["nbf": .integer(now + 60)], 200), (["nbf": .string("x")], 401),
                (["iat": .integer(now + 61)], 401), (["exp": .integer(now)], 401), (["exp": .string("soon")], 401),
                (["iat": .integer(now - 720 * 3_600)], 401),
            ]
            for (claims, status) in cases {
                let token = try await counter.token(claims: good.merging(claims) { $1 })
                let reply = try await counter.get("/v1/public/entitlements", token)
                #expect(reply.status == status, "\(claims)")
            }
            let token = try await counter.token(lifetime: 60, claims: good)
            counter.desk.clock.advance(seconds: 60)
            #expect(try await counter.get("/v1/public/entitlements", token).status == 401)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `somebody else's order is not there`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let (alice, bob) = (try await counter.token("alice"), try await counter.token("bob"))
            let order = try await counter.checkout(alice).text("order_id")
            let calls: [(HTTPRequest.Method, String, String?)] = [
                (.get, "", nil), (.get, "/contract", nil), (.post, "/cancel", "{}"), (.post, "/refresh", "{}"),
                (.post, "/checkout", #"{"platform":"web"}"#),
            ]
            for (method, rest, body) in calls {
                let reply = try await counter.send(method, "/v1/public/orders/\(order)\(rest)", bob, body: body)
                #expect(reply.status == 404 && reply.error == "order_not_found", "\(method) \(rest): \(reply)")
            }
            #expect(try await counter.get("/v1/public/orders", bob).data["items"].elements.isEmpty)
            let own = try await counter.get("/v1/public/orders/\(order)", alice)
            #expect(try own.data.text("status") == "open")
        }
    }

    @Test
    func `limits are per caller and say when to come back`() async throws {
        var setup = CounterSetup()
        setup.limits = .init(
            userPerSecond: 1, userBurst: 3, keyPerSecond: 1, keyBurst: 2, sessionsPerMinute: 0, concurrent: 0)
        try await withCounter(on: .sqlite, setup) { counter in
            let (alice, bob) = (try await counter.token("alice"), try await counter.token("bob"))
            func read(_ token: String) async throws -> Reply { try await counter.get("/v1/public/orders", token) }
            for _ in 0..<3 { #expect(try await read(alice).status == 200) }
            let refused = try await read(alice)
            #expect(refused.status == 429 && refused.error == "rate_limited" && refused.header("Retry-After") == "1")
            #expect(try await read(bob).status == 200)
            counter.desk.clock.advance(seconds: 1)
            #expect(try await read(alice).status == 200)
            for status in [200, 200, 429] {
                #expect(try await counter.get("/v1/admin/skus", counter.adminKey).status == status)
            }
        }
    }
}
