import Domain
import Foundation
import Gateway
import HTTPTypes

/// Routes of health, readiness, metrics and version (`docs/api.md` section 12).
struct OperationsRoutes {
    let gateway: Gateway
    let version: String
    let metricsText: @Sendable () -> String

    var routes: [Route] {
        [
            Route(
                "checkHealth", .get, "/healthz", .anyone, .operations, "Whether the process is up",
                answers: .json(.object(["status": .words("ok")])), isAlwaysServed: true
            ) { (_) async throws(GatewayError) in
                try Self.json(.ok, Health(status: "ok"))
            },
            Route(
                "checkReadiness", .get, "/readyz", .anyone, .operations, "Whether this node can serve",
                note: "The database answers, its migrations are current, and its clock agrees with this node's.",
                answers: .json(.readiness),
                or: [
                    Route.Other(
                        status: 503, note: "It cannot; the checks say why.", mediaType: "application/json",
                        shape: .readiness)
                ], isAlwaysServed: true, handle: ready),
            Route(
                "readVersion", .get, "/version", .anyone, .operations, "Which release this is",
                answers: .json(.object(["name": .words("paydesk"), "version": .string]))
            ) { (_) async throws(GatewayError) in
                try Self.json(.ok, Version(name: "paydesk", version: version))
            },
            Route(
                "readMetrics", .get, "/metrics", .anyone, .operations, "The process's metrics",
                answers: .other("text/plain", "In Prometheus' text format."), isAlwaysServed: true
            ) { _ in
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

extension Shape {
    fileprivate static let readiness = named(
        "Readiness",
        .object([
            "status": .words("ready", "not ready"),
            "checks": .object(["database": check, "migrations": check, "clock": check]),
        ]))

    private static let check = string.noted("`ok`, or what is wrong.")
}
