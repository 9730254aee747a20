import Domain
import Gateway
import HTTPTypes

/// Routes of business time, in development mode.
struct ClockRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "readClock", .get, "/v1/admin/clock", .key([.admin, .adminRead]), .operations, "Business time",
                note: "Development mode only; else 404.", answers: .data(.clock), refuses: [.notFound]
            ) { (_) async throws(GatewayError) in
                try .json(try await gateway.businessClock.read())
            },
            Route(
                "moveClock", .post, "/v1/admin/clock", .key([.admin]), .operations, "Moves business time forward",
                note: """
                    Development mode only; else 404. Exactly one of `advance_seconds` and `to`. From due time to due time, \
                    and at each everything that is due runs. `pending` above 0: it did not come that far in 60 seconds, or \
                    a job waits; `{"to": target}` goes on. One move at a time: another is `request_in_progress`.
                    """,
                body: .json(.clockMove), answers: .data(.clock), refuses: [.notFound, .requestInProgress], handle: move),
        ]
    }

    private func move(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.businessClock.move(try call.decode(ClockRequest.self), context: call.context))
    }
}

extension Shape {
    fileprivate static let clockMove = named(
        "ClockMove",
        .object(
            [:],
            optional: [
                "advance_seconds": .integer(1...157_680_000).orNull,
                "to": .time.orNull.noted("Later than now, at most 5 years ahead of the real time."),
            ])
    ).shown(#"{"advance_seconds":2592000}"#)

    fileprivate static let clock = named(
        "Clock",
        .object([
            "now": .time, "offset_seconds": .integer.noted("How far business time is ahead of the real time."),
            "target": .time, "jobs_run": .integer,
            "pending": .integer.noted("Jobs that are due; above 0 where the target was not reached."),
            "warnings": .list(.string.noted("`stripe-main keeps its own time`.")),
        ]))
}
