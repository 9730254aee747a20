import Domain
import Gateway
import HTTPTypes

/// Routes of unfinished jobs for admins.
struct JobRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listJobs", .get, "/v1/admin/jobs", .key([.admin, .adminRead]), .inbox, "The jobs that have not ended",
                query: Route.Query.openJobs, answers: .page(.openJob), handle: jobs),
            Route(
                "retryJob", .post, "/v1/admin/jobs/{id}/retry", .key([.admin]), .inbox,
                "Makes a job due now, out of the quarantine too", body: .json(.object([:])), answers: .data(.openJob),
                handle: retry),
        ]
    }

    private func jobs(_ call: Call) async throws(GatewayError) -> Answer {
        let state = try call.choice("status", Job.State.self)
        let page = try await gateway.jobs.list(state, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func retry(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.jobs.retry(call.parameter("id"), context: call.context))
    }
}

extension Route.Query {
    fileprivate static let openJobs: [Route.Query] =
        [query("status", .words(Job.State.self), "A job that is running counts as `waiting`.")] + page(of: "job")
}

extension Shape {
    fileprivate static let openJob = named(
        "Job",
        .object([
            "id": .id("job"), "kind": .string.noted("`process_notification`, `reconcile_payment` and others."),
            "subject": .string.noted("What it is about, often an id."),
            "status": .words("waiting", "running", "quarantined"), "run_at": .time,
            "attempts": .integer.noted("Runs since the last one that ended well."),
            "error": .string.noted("Why the last run failed; else empty."), "created_at": .time,
        ]))
}
