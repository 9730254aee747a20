import Domain
import Gateway
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The log line of a request")
struct AccessLineTests {
    private static func line(
        _ capture: LogCapture, _ id: String, _ level: String = "debug"
    ) -> String? {
        capture.text.split(separator: "\n").map(String.init).first {
            $0.hasPrefix("\(level) request ") && $0.contains("\"request_id\": \(id)")
        }
    }

    @Test func `each request has one line with its duration and its caller, and no secret`() async throws {
        let capture = LogCapture()
        var setup = CounterSetup()
        setup.desk.logger = capture.logger()
        try await withCounter(setup) { counter in
            let token = try await counter.token("a-private-name")
            let key = try await counter.key("events:read", partner: "acme")
            let calls: [(id: String, path: String, bearer: String?, route: String, status: Int, caller: String)] = [
                ("one", "/v1/public/entitlements", token, "GET /v1/public/entitlements", 200, "user"),
                (
                    "two", "/v1/public/orders/ord_00000000000000000000000000", token, "GET /v1/public/orders/{id}", 404,
                    "user"
                ),
                ("three", "/v1/partner/events", key.key, "GET /v1/partner/events", 200, key.id.rawValue),
                ("four", "/v1/public/entitlements", nil, "GET /v1/public/entitlements", 401, "unknown"),
                ("five", "/healthz", nil, "GET /healthz", 200, "anyone"),
                ("six", "/no/such/path-of-a-token", nil, "GET unknown", 404, "unknown"),
            ]
            for call in calls {
                let reply = try await counter.get(call.path, call.bearer, headers: ["X-Request-Id": call.id])
                #expect(reply.status == call.status, "\(call.id): \(reply)")
                let line = try #require(Self.line(capture, call.id), "\(call.id)")
                #expect(
                    line.contains("\"route\": \(call.route)") && line.contains("\"caller\": \(call.caller)"), "\(line)")
                #expect(line.contains("\"status\": \(call.status)"), "\(line)")
            }
            #expect(!capture.text.contains("a-private-name") && !capture.text.contains("path-of-a-token"))
            #expect(!capture.text.contains(token) && !capture.text.contains(key.key))
        }
    }

    @Test func `what a request's work logs and calls knows the request and its trace`() async throws {
        let (id, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
        try await withCounter { counter in
            for (header, expected) in [("00-\(id)-\(span)-01", "\(id)-01"), ("nonsense", nil)] {
                let reply = try await counter.post(
                    "/v1/public/checkout", try await counter.token(), Counter.ask(),
                    headers: ["traceparent": header])
                #expect(reply.status == 200)
                let order = try reply.data.text("order_id")
                let traces = try await counter.desk.store.read { db in
                    try db.rows("SELECT trace FROM events WHERE subject = ?", [order]).map {
                        try $0.optionalText("trace")
                    }
                }
                #expect(!traces.isEmpty && traces.allSatisfy { $0 == expected }, "\(traces)")
            }
        }
    }
}
