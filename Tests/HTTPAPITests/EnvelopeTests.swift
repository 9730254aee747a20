import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Envelope, languages and limits")
struct EnvelopeTests {
    /// Every refusal, with its id and status from `docs/api.md` section 2.
    static let refusals: [(GatewayError, Int, String)] = [
        (.invalidRequest(field: "quantity", reason: "must be 1 to 1000"), 400, "invalid_request"),
        (.invalidRequest(field: "", reason: "the body is not JSON"), 400, "invalid_request"),
        (.invalidNotification, 400, "invalid_notification"),
        (.invalidTransaction(.malformed), 400, "invalid_transaction"),
        (.invalidReceipt("malformed"), 400, "invalid_receipt"),
        (.applePayTokenInvalid(.malformed), 400, "apple_pay_token_invalid"), (.unauthenticated, 401, "unauthenticated"),
        (.invalidCredential(.noToken), 401, "unauthenticated"), (.invalidCredential(.noKey), 401, "unauthenticated"),
        (.invalidCredential(.unknownKey), 401, "unauthenticated"),
        (.invalidCredential(.signature), 401, "unauthenticated"),
        (.invalidCredential(.expired), 401, "unauthenticated"),
        (.invalidCredential(.claim("a\"\\\n声明")), 401, "unauthenticated"),
        (.forbidden, 403, "forbidden"), (.notFound, 404, "not_found"), (.unknown(.meter, "m"), 404, "not_found"),
        (.methodNotAllowed(["GET", "HEAD"]), 405, "method_not_allowed"),
        (.orderNotFound("ord_\u{1F4A5}x"), 404, "order_not_found"), (.skuNotFound("商品"), 404, "sku_not_found"),
        (.unknownProduct("com.example.vip"), 404, "unknown_product"),
        (.applePayTokenReused, 409, "apple_pay_token_reused"), (.amountMismatch, 409, "amount_mismatch"),
        (.purchaseBelongsToAnotherUser, 409, "purchase_belongs_to_another_user"),
        (.purchaseRevoked, 409, "purchase_revoked"), (.insufficientBalance, 409, "insufficient_balance"),
        (.alreadyOwned, 409, "already_owned"), (.orderNotOpen, 409, "order_not_open"),
        (.contractGone, 410, "order_not_open"), (.instructionExpired, 410, "order_not_open"),
        (.requestInProgress, 409, "request_in_progress"), (.conflict(reason: "taken", resource: "x"), 409, "conflict"),
        (.payloadTooLarge, 413, "payload_too_large"), (.unsupportedMediaType, 415, "unsupported_media_type"),
        (.headersTooLarge, 431, "headers_too_large"), (.idempotencyKeyReused, 422, "idempotency_key_reused"),
        (.noProviderAvailable, 422, "no_provider_available"),
        (.providerRejected(reason: "declined"), 422, "provider_rejected"),
        (.refundExceedsCaptured, 422, "refund_exceeds_captured"), (.rateLimited(retryAfter: 3), 429, "rate_limited"),
        (.usageLimitReached(retryAfter: 9), 429, "usage_limit_reached"), (.internalError, 500, "internal_error"),
        (.providerUnavailable, 502, "provider_unavailable"),
        (.outcomeUnknown("the refund was sent"), 503, "temporarily_unavailable"),
        (.leaseLost, 503, "temporarily_unavailable"),
        (.temporarilyUnavailable(retryAfter: 1), 503, "temporarily_unavailable"),
    ]

    @Test
    func `every refusal has its id, its status and both languages`() {
        #expect(Set(Self.refusals.map(\.2)) == Set(ErrorID.allCases.map(\.rawValue)))
        for (error, status, id) in Self.refusals {
            let reply = ErrorReply(error)
            #expect(reply.id == id && reply.status.code == status, "\(error)")
            #expect(reply.english.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(reply.english)")
            #expect(reply.chinese.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }, "\(reply.chinese)")
            #expect(reply.message(["fr", "zh-CN"]) == reply.chinese)
            #expect(reply.message(["en-GB", "zh"]) == reply.english)
            #expect(reply.message([]) == reply.english)
            #expect((reply.retryAfter != nil) == [429, 503].contains(status) || id == "request_in_progress")
            #expect((reply.challenge != nil) == (status == 401))
            #expect([nil, 2, 6].contains(reply.challenge.map { $0.count { $0 == "\"" } }), "\(reply.challenge ?? "")")
            #expect(reply.challenge?.contains("\\") != true)
        }
    }

    @Test
    func `an answer has its envelope and the caller's request id`() async throws {
        try await withCounter { counter in
            let token = try await counter.token()
            let good = try await counter.get("/v1/public/orders", token, headers: ["X-Request-Id": "my.own_id-1"])
            #expect(try good.json.names == ["code", "msg", "data", "request_id"])
            #expect(try good.json.int("code") == 200)
            #expect(try good.json.text("msg") == "success")
            #expect(good.header("X-Request-Id") == "my.own_id-1")
            #expect(try good.json.text("request_id") == "my.own_id-1")
            #expect(good.header("Content-Type") == "application/json; charset=utf-8")
            for id in ["", "a b", "<script>", String(repeating: "x", count: 65), "\u{e9}"] {
                let reply = try await counter.get("/v1/public/orders", token, headers: ["X-Request-Id": id])
                let given = try reply.json.text("request_id")
                #expect(given.hasPrefix("req_") && given.count == 30 && reply.header("X-Request-Id") == given)
            }
            let bad = try await counter.get("/v1/public/orders/ord_x", token)
            #expect(try bad.json.names == ["code", "msg", "error", "details", "request_id"])
            #expect(try bad.json.int("code") == 404)
        }
    }

    @Test(arguments: [
        ("zh-CN,zh;q=0.9,en;q=0.8", true), ("en;q=0.5, zh-Hans", true), ("en, zh", false), ("fr", false), ("", false),
        ("zh;q=0, en", false), (String(repeating: "zh,", count: 400), false),
    ])
    func `a message is in the caller's language`(_ header: String, _ isChinese: Bool) async throws {
        try await withCounter { counter in
            let reply = try await counter.get(
                "/v1/public/orders/ord_x", try await counter.token(), headers: ["Accept-Language": header])
            let message = try reply.json.text("msg")
            #expect(message == (isChinese ? "订单 ord_x 不存在。" : "Order ord_x does not exist."))
            let missing = try await counter.get("/nowhere", headers: ["Accept-Language": header])
            #expect(missing.status == 404 && missing.error == "not_found")
            #expect(try missing.json.text("msg").utf8.allSatisfy { $0 < 0x80 } == !isChinese)
        }
    }

    @Test
    func `bodies, depth and headers have their limits`() async throws {
        try await withCounter { counter in
            let token = try await counter.token()
            func body(_ bytes: Int) -> String {
                let start = #"{"sku":"vip_month","platform":"web","currency":"CNY""#
                return start + String(repeating: " ", count: bytes - start.utf8.count - 1) + "}"
            }
            let limit = 256 << 10
            #expect(try await counter.post("/v1/public/checkout", token, body(limit)).status == 200)
            for size in [limit + 1, 3 << 20] {
                let reply = try await counter.post("/v1/public/checkout", token, body(size))
                #expect(reply.status == 413 && reply.error == "payload_too_large")
            }
            let path = "/v1/notify/\(GatewayFixture.notifyToken("box-url"))"
            let fits = try await counter.post(path, nil, String(repeating: "x", count: 2 << 20))
            #expect(fits.error == "invalid_notification")
            let exceeds = try await counter.post(path, nil, String(repeating: "x", count: (2 << 20) + 1))
            #expect(exceeds.status == 413)
            func nested(_ depth: Int) -> String {
                let inner = String(repeating: "[", count: depth - 2) + String(repeating: "]", count: depth - 2)
                return
                    #"{"id":"deep","name":"D","kind":"consumable","units":{"a":1},"prices":[{"currency":"CNY","value":1}],"#
                    + #""attributes":{"x":\#(inner)}}"#
            }
            #expect(try await counter.post("/v1/admin/skus", counter.adminKey, nested(33)).status == 400)
            #expect(try await counter.post("/v1/admin/skus", counter.adminKey, nested(32)).status == 200)
            let deep = String(repeating: "[", count: 100_000)
            #expect(try await counter.post("/v1/public/checkout", token, deep).status == 400)
            let long = ["X-Long": String(repeating: "x", count: 16 << 10)]
            let reply = try await counter.get("/v1/public/orders", token, headers: long)
            #expect(reply.status == 431 && reply.error == "headers_too_large")
            let orders = try await counter.desk.count("orders")
            #expect(orders == 1)
        }
    }

    @Test(arguments: [
        ("application/json", 200), ("application/json; charset=utf-8", 200), ("APPLICATION/JSON", 200),
        ("application/merge-patch+json", 200), ("text/plain", 415), ("application/x-www-form-urlencoded", 415),
        ("application/xml", 415), ("", 415),
    ])
    func `a body is JSON by its type`(_ type: String, _ status: Int) async throws {
        try await withCounter { counter in
            let reply = try await counter.post(
                "/v1/public/checkout", try await counter.token(), Counter.ask(), headers: ["Content-Type": type])
            #expect(reply.status == status, "\(reply)")
            #expect(reply.status == 200 || reply.error == "unsupported_media_type")
        }
    }

    @Test
    func `only configured origins may read answers`() async throws {
        try await withCounter { counter in
            let token = try await counter.token()
            let known = try await counter.get(
                "/v1/public/orders", token, headers: ["Origin": "https://app.example"])
            #expect(known.header("Access-Control-Allow-Origin") == "https://app.example")
            #expect(known.header("Vary") == "Origin")
            #expect(
                known.header("Access-Control-Expose-Headers")
                    == "ETag, X-Request-Id, Idempotency-Replayed, Retry-After, WWW-Authenticate, Allow")
            #expect(known.header("Access-Control-Allow-Credentials") == nil)
            let refused = try await counter.get("/v1/public/orders", headers: ["Origin": "https://app.example"])
            #expect(refused.status == 401)
            #expect(refused.header("Access-Control-Allow-Origin") == "https://app.example")
            let preflight = ["Access-Control-Request-Method": "POST"]
            let asked = try await counter.send(
                .options, "/v1/public/checkout",
                headers: preflight.merging(["Origin": "https://app.example"]) { $1 })
            #expect(asked.status == 204)
            #expect(asked.header("Access-Control-Allow-Headers")?.contains("idempotency-key") == true)
            for origin in ["https://evil.example", "null", "https://app.example.evil.example", "http://app.example"] {
                let reply = try await counter.get("/v1/public/orders", token, headers: ["Origin": origin])
                #expect(reply.header("Access-Control-Allow-Origin") == nil, "\(origin)")
                let asked = try await counter.send(
                    .options, "/v1/public/checkout", headers: preflight.merging(["Origin": origin]) { $1 })
                #expect(asked.header("Access-Control-Allow-Origin") == nil, "\(origin)")
            }
        }
    }

    @Test
    func `the entity tag follows the data and the clock`() async throws {
        try await withCounter { counter in
            let token = try await counter.token(lifetime: 40 * 86_400 - 86_400 * 20)
            func read(_ tag: String? = nil) async throws -> Reply {
                try await counter.get(
                    "/v1/public/entitlements", token, headers: tag.map { ["If-None-Match": $0] } ?? [:])
            }
            let empty = try #require(try await read().header("ETag"))
            #expect(try await read(empty).status == 304)
            #expect(try await read("\"other\", W/\(empty)").status == 304)
            #expect(try await read(empty).text.isEmpty)
            try await counter.desk.buy("basic_days", days: 7)
            let bought = try await read(empty)
            #expect(bought.status == 200)
            let tag = try #require(bought.header("ETag"))
            counter.desk.clock.advance(days: 6)
            #expect(try await read(tag).status == 304)
            counter.desk.clock.advance(days: 1)
            let ended = try await read(tag)
            #expect(ended.status == 200)
            #expect(try ended.data.text("tier").isEmpty)
            #expect(ended.header("ETag") != tag)
        }
    }
}
