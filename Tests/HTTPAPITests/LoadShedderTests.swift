import Domain
import Gateway
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Load shedding")
struct LoadShedderTests {
    private static let checkout = "/v1/public/checkout"

    /// Runs the body while the node is at its limit of one request.
    private static func whileFull(_ body: @Sendable (Counter, LoadShedder) async throws -> Void) async throws {
        var setup = CounterSetup()
        setup.limits.concurrent = 1
        try await withCounter(setup) { counter in
            let gate = Gate()
            counter.desk.line.hold(.open, at: "box-url") { await gate.pass() }
            let token = try await counter.token()
            #expect(counter.api.loadShedder().refusal(method: "POST", target: checkout, headers: []) == nil)
            async let held = counter.post(checkout, token, Counter.ask())
            defer { gate.open() }
            await gate.arrivals(1)
            try await body(counter, counter.api.loadShedder())
            gate.open()
            #expect(try await held.status == 200)
        }
    }

    @Test(arguments: ["", "en-GB, zh;q=0.5", "zh-CN", "fr"])
    func `a refusal by the load shedder is the pipeline's own, to the letter`(_ languages: String) async throws {
        try await Self.whileFull { counter, shedder in
            let headers = ["X-Request-Id": "mine-1", "Accept-Language": languages].filter { !$0.value.isEmpty }
            for (method, target) in [("POST", Self.checkout), ("GET", "/v1/public/orders?limit=1")] {
                let asked = try #require(HTTPRequest.Method(method))
                let later = try await counter.send(
                    asked, target, body: method == "POST" ? "{}" : nil, headers: headers)
                let refusal = try #require(
                    shedder.refusal(
                        method: method, target: target, headers: headers.map { (name: $0.key, value: $0.value) }))
                #expect(shedder.status.code == 503 && later.status == 503)
                #expect(String(buffer: refusal.body) == later.text)
                for field in shedder.headers { #expect(later.header(field.name.rawName) == field.value) }
                #expect(shedder.headers[.retryAfter] == "1" && shedder.headers[.contentType] != nil)
                #expect(refusal.requestID == "mine-1" && later.header("X-Request-Id") == "mine-1")
            }
        }
    }

    @Test func `a request without an id of its own gets a new one each time`() async throws {
        try await Self.whileFull { _, shedder in
            let ids = try (0..<2).map { _ in
                let refusal = try #require(shedder.refusal(method: "POST", target: Self.checkout, headers: []))
                let id = refusal.requestID
                #expect(id.hasPrefix("req_") && String(buffer: refusal.body).contains(id))
                return id
            }
            #expect(ids[0] != ids[1])
            let forged = shedder.refusal(
                method: "POST", target: Self.checkout, headers: [(name: "x-request-id", value: "a\r\nb")])
            #expect(forged?.requestID.hasPrefix("req_") == true)
        }
    }

    /// Requests whose refusal needs more than the load shedder knows.
    @Test(arguments: [
        ("GET", "/healthz", ""), ("GET", "/readyz", ""), ("GET", "/metrics", ""),
        ("GET", "/v1/public/orders/ord_1", ""),
        ("POST", "/apple-iap/verify", ""), ("GET", "/nothing", ""), ("PUT", "/v1/public/checkout", ""),
        ("POST", "/v1/public/checkout", "origin"), ("POST", "/v1/public/checkout", "Expect"),
        ("POST", "/v1/public/checkout", "x-request-id X-Request-Id"),
        ("POST", "/v1/public/checkout", "accept-language accept-language"),
        ("POST", "/v1/public/checkout/", ""), ("OPTIONS", "/v1/public/checkout", ""),
    ])
    func `what it cannot refuse goes on`(_ method: String, _ target: String, _ header: String) async throws {
        try await Self.whileFull { _, shedder in
            #expect(shedder.refusal(method: "POST", target: Self.checkout, headers: []) != nil)
            let headers = header.split(separator: " ").map { (name: String($0), value: "x") }
            #expect(shedder.refusal(method: method, target: target, headers: headers) == nil)
        }
    }
}
