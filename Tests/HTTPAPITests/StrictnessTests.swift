import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

/// Sends unknown fields, parameters and methods to every route.
@Suite("What nobody reads is refused")
struct StrictnessTests {
    /// Returns the path with every parameter filled in.
    private static func filled(_ endpoint: Route) -> String {
        endpoint.parameterNames.reduce(endpoint.path) { $0.replacing("{\($1)}", with: "x1") }
    }

    private static func bearer(_ endpoint: Route, _ counter: Counter) async throws -> String? {
        switch endpoint.access {
        case .anyone: nil
        case .user, .userOrAnyone: try await counter.token()
        case .session: try await counter.session(try await counter.token(), purpose: "portal").text("token")
        case .key: counter.adminKey
        }
    }

    /// Calls that look for their subscription before their body, so that a stranger learns nothing of the body's form.
    private static let findSubjectFirst: Set<String> = [
        "cancelSubscription", "resumeSubscription", "changeSubscription", "replacePaymentMethod", "paySubscription",
    ]

    @Test func `an unknown member of a body is refused by every strict call, with the nearest name`() async throws {
        try await withCounter { counter in
            var checked = 0
            for endpoint in counter.api.routes
            where endpoint.isStrict && [.post, .patch].contains(endpoint.method) {
                let reply = try await counter.send(
                    endpoint.method, Self.filled(endpoint), try await Self.bearer(endpoint, counter),
                    body: #"{"zz_unknown":1}"#, headers: ["X-Paydesk-Console": "1"])
                if Self.findSubjectFirst.contains(endpoint.id) {
                    #expect(reply.status == 404, "\(endpoint.path): \(reply)")
                    continue
                }
                #expect(reply.status == 400 && reply.field == "zz_unknown", "\(endpoint.path): \(reply)")
                let details = try reply.json["details"]
                #expect(details.names.contains("nearest"), "\(endpoint.path)")
                if case .string(let nearest) = details["nearest"] {
                    #expect(try reply.json.text("msg").contains(nearest))
                }
                checked += 1
            }
            #expect(checked > 25)
        }
    }

    @Test func `an unknown parameter is refused by every list and by every call with a key`() async throws {
        try await withCounter { counter in
            var checked = 0
            for endpoint in counter.api.routes where endpoint.queryNames != nil {
                let body = endpoint.method == .get || endpoint.method == .delete ? nil : "{}"
                let reply = try await counter.send(
                    endpoint.method, Self.filled(endpoint) + "?zz_unknown=1",
                    try await Self.bearer(endpoint, counter), body: body)
                #expect(reply.status == 400 && reply.field == "zz_unknown", "\(endpoint.path): \(reply)")
                checked += 1
            }
            #expect(checked > 40)
        }
    }

    @Test(arguments: [
        ("/v1/admin/orders?userid=u1", "userid", "user_id"), ("/v1/admin/orders?Status=open", "Status", "status"),
        ("/v1/admin/notifications?state=rejected", "state", "status"), ("/v1/partner/events?afer=3", "afer", "after"),
        ("/v1/admin/audit?user=u1", "user", "user_id"), ("/v1/admin/purchases?status=unmapped", "status", "state"),
        ("/v1/admin/stats?frm=1", "frm", "from"), ("/v1/admin/export/orders.csv?until=1", "until", "to"),
    ])
    func `a mistyped parameter names what it resembles`(_ path: String, _ field: String, _ nearest: String) async throws
    {
        try await withCounter { counter in
            let reply = try await counter.get(path, counter.adminKey)
            let details = try reply.json["details"]
            #expect(reply.status == 400 && details.text("field") == field, "\(reply)")
            if field != "until" { #expect(details.text("nearest") == nearest) }
        }
    }

    @Test func `calls of App Store clients take more than they read`() async throws {
        try await withCounter { counter in
            let token = try await counter.token()
            let restored = try await counter.post(
                "/v1/public/iap/apple/restore?client=3", token, #"{"transactions":[],"client":3}"#)
            #expect(restored.status == 200, "\(restored)")
            let attached = try await counter.post(
                "/v1/public/iap/apple/transactions/attach", token, #"{"signed_transaction_jws":"x","device":"phone"}"#)
            #expect(attached.error == "invalid_transaction" || attached.status != 400, "\(attached)")
            #expect(try await counter.get("/v1/public/iap/apple/status?client=3", token).status == 200)
            #expect(try await counter.get("/apple-iap/products?x=1").status == 200)
            #expect(try await counter.get("/v1/public/entitlements?_=1", token).status == 200)
        }
    }

    @Test func `another method is refused by every path, which says its own`() async throws {
        try await withCounter { counter in
            for endpoint in counter.api.routes where endpoint.errors == .envelope {
                let reply = try await counter.send(.put, Self.filled(endpoint), counter.adminKey, body: "{}")
                #expect(reply.status == 405 && reply.error == "method_not_allowed", "\(endpoint.path): \(reply)")
                let allowed = (reply.header("Allow") ?? "").split(separator: ", ").map(String.init)
                #expect(allowed.contains(endpoint.method.rawValue), "\(endpoint.path): \(allowed)")
                #expect(allowed.contains("GET") == allowed.contains("HEAD"))
            }
            #expect(try await counter.send(.put, "/v1/nothing/here", counter.adminKey, body: "{}").status == 404)
        }
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/v1/public/usage/nothing", "meter"),
        (.post, "/v1/public/usage/nothing/consume", "meter"), (.patch, "/v1/admin/accounts/nothing", "account"),
        (.post, "/v1/admin/accounts/nothing/sync", "account"), (.post, "/v1/admin/users/nobody/erase", "user"),
        (.post, "/v1/admin/purchases/123/transfer", "purchase"), (.get, "/v1/partner/webhooks/whk_x", "webhook"),
        (.post, "/v1/admin/jobs/job_x/retry", "job"), (.delete, "/v1/admin/grants/grt_x", "grant"),
        (.get, "/v1/public/subscriptions/sub_x", "subscription"), (.delete, "/v1/admin/api-keys/key_x", "api_key"),
    ])
    func `what is unknown is said`(_ method: HTTPRequest.Method, _ path: String, _ what: String) async throws {
        try await withCounter { counter in
            let isUser = path.contains("/public/")
            let body =
                switch method {
                case .get, .delete: String?.none
                case .patch: #"{"enabled":true}"#
                default: path.contains("transfer") ? #"{"user_id":"u1"}"# : "{}"
                }
            let reply = try await counter.send(
                method, path, isUser ? try await counter.token() : counter.adminKey, body: body)
            #expect(reply.status == 404 && reply.error == "not_found", "\(reply)")
            #expect(try reply.json["details"].text("what") == what, "\(reply)")
        }
    }

    @Test(arguments: [
        (#"{"sku":"vip_month","platform":"web" "currency":"CNY"}"#, "", "offset", JSONValue.integer(36)),
        (Counter.ask(#","quantity":"2""#), "quantity", "expected", .string("integer")),
        (Counter.ask(#","accept":["url",3]"#), "accept[1]", "expected", .string("string")),
        (Counter.ask(#","metadata":[]"#), "metadata", "expected", .string("object")),
        (Counter.ask(#","metadata":{"0":1}"#), "metadata.0", "expected", .string("string")),
        ("[]", "", "expected", .string("object")),
        (Counter.ask(#","days":1,"days":2"#), "days", "field", .string("days")),
        (#"{"sku":"vip_month","platform":"fridge"}"#, "platform", "field", .string("platform")),
    ])
    func `a fault of JSON is exact`(_ body: String, _ field: String, _ name: String, _ value: JSONValue) async throws {
        try await withCounter { counter in
            let reply = try await counter.post("/v1/public/checkout", try await counter.token(), body)
            let details = try reply.json["details"]
            #expect(reply.status == 400 && reply.field == field && details[name] == value, "\(reply)")
        }
    }

    @Test func `a change of a part is as strict as the whole`() async throws {
        try await withCounter { counter in
            for (path, body, field) in [
                ("/v1/admin/skus/vip_month", #"{"duration_day":null}"#, "duration_day"),
                (
                    "/v1/admin/skus/vip_month", #"{"prices":[{"currency":"CNY","value":1,"vlaue":1}]}"#,
                    "prices[0].vlaue"
                ),
                ("/v1/admin/accounts/box-url", #"{"routing":{"wieght":1}}"#, "routing.wieght"),
            ] {
                let reply = try await counter.send(.patch, path, counter.adminKey, body: body)
                #expect(reply.status == 400 && reply.field == field, "\(reply)")
            }
            let free = #"{"attributes":{"anything":{"at":["all"]}},"localizations":{"zh-Hans":{"name":"月"}}}"#
            #expect(
                try await counter.send(.patch, "/v1/admin/skus/vip_month", counter.adminKey, body: free).status == 200)
        }
    }

    @Test func `a token with a member twice is nobody's`() async throws {
        try await withCounter { counter in
            let token = try await counter.token()
            let parts = token.split(separator: ".")
            func encoded(_ json: String) -> String { Base64URL.encoded(Array(json.utf8)) }
            let expiry = counter.desk.clock.now.rawValue + 600
            for claims in [#"{"sub":"a","exp":\#(expiry),"sub":"b"}"#, #"{"sub":"a","exp":\#(expiry)}"#] {
                let forged = "\(parts[0]).\(encoded(claims)).\(parts[2])"
                #expect(try await counter.get("/v1/public/orders", forged).status == 401)
            }
        }
    }

    @Test(arguments: [
        ("http://localhost:5173", true), ("http://127.0.0.1:3000", true), ("http://[::1]:8081", true),
        ("https://localhost", true), ("http://localhost.evil.example", false), ("http://localhost:5173.evil", false),
        ("http://127.0.0.1:", false), ("null", false), ("http://10.0.0.1:80", false),
        ("https://app.example.evil", false),
    ])
    func `only pages of this machine are of loopback origins`(_ origin: String, _ isLoopback: Bool) {
        #expect(Loopback.isOrigin(origin) == isLoopback)
    }
}
