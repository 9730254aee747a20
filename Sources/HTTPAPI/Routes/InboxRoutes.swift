import Domain
import Gateway
import HTTPTypes

/// The inbox and the jobs for admins (`api.md` section 11).
struct InboxRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/admin/notifications", .key([.admin, .adminRead]), handle: notifications),
            Endpoint(.post, "/v1/admin/notifications/{id}/replay", .key([.admin]), handle: replay),
            Endpoint(.get, "/v1/admin/jobs", .key([.admin, .adminRead]), handle: jobs),
            Endpoint(.post, "/v1/admin/jobs/{id}/retry", .key([.admin]), handle: retry),
        ]
    }

    private func notifications(_ call: Call) async throws(GatewayError) -> Answer {
        let status = try call.choice("status", Domain.Notification.Status.self)
        let page = try await gateway.notifications.list(status, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func replay(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.notifications.replay(call.parameter("id"), context: call.context))
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
