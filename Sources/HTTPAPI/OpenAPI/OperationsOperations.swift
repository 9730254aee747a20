import Domain
import HTTPTypes

extension OperationGroup {
    /// `api.md` section 12.
    static let operations = OperationGroup(
        name: "Operations", note: "For whoever runs this server; none needs a login, and no answer has the envelope.",
        operations: [
            Operation(
                "readFirstPage", .get, "/", "A small page: what this is, and where to go on",
                answers: .other("text/html", "The page.")),
            Operation(
                "checkHealth", .get, "/healthz", "Whether the process is up",
                answers: .json(.object(["status": .words("ok")]))),
            Operation(
                "checkReadiness", .get, "/readyz", "Whether this node can serve",
                note: "The database answers, its migrations are current, and its clock agrees with this node's.",
                answers: .json(.readiness),
                or: [
                    Operation.Other(
                        status: 503, note: "It cannot; the checks say why.", mediaType: "application/json",
                        shape: .readiness)
                ]),
            Operation(
                "readVersion", .get, "/version", "Which release this is",
                answers: .json(.object(["name": .words("paydesk"), "version": .string]))),
            Operation(
                "readMetrics", .get, "/metrics", "The process's metrics",
                answers: .other("text/plain", "In Prometheus' text format.")),
        ])
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
