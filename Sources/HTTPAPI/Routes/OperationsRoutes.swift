import Domain
import Foundation
import Gateway
import HTTPTypes

/// Health, readiness, metrics, version (`api.md` section 12).
struct OperationsRoutes {
    let gateway: Gateway
    let version: String
    let metricsText: @Sendable () -> String

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/healthz", .anyone, isAlwaysServed: true) { (_) async throws(GatewayError) in
                try Self.json(.ok, Health(status: "ok"))
            },
            Endpoint(.get, "/readyz", .anyone, isAlwaysServed: true, handle: ready),
            Endpoint(.get, "/version", .anyone) { (_) async throws(GatewayError) in
                try Self.json(.ok, Version(name: "paydesk", version: version))
            },
            Endpoint(.get, "/metrics", .anyone, isAlwaysServed: true) { _ in
                .raw(
                    status: .ok, contentType: "text/plain; version=0.0.4; charset=utf-8",
                    body: Data(metricsText().utf8), headers: [])
            },
        ]
    }

    private func ready(_ call: Call) async throws(GatewayError) -> Answer {
        let readiness = await gateway.health.readiness()
        return try Self.json(readiness.isReady ? .ok : .serviceUnavailable, readiness)
    }

    private struct Health: Encodable {
        let status: String
    }

    private struct Version: Encodable {
        let name: String
        let version: String
    }

    private static func json(_ status: HTTPResponse.Status, _ value: some Encodable) throws(GatewayError) -> Answer {
        .raw(
            status: status, contentType: "application/json; charset=utf-8", body: try Answer.encode(value),
            headers: [HTTPField(name: .cacheControl, value: "no-store")])
    }
}
