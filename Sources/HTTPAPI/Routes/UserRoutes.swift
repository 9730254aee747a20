import Domain
import Gateway
import HTTPTypes

/// What admins do to users themselves (`api.md` section 11).
struct UserRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [Endpoint(.post, "/v1/admin/users/{user_id}/erase", .key([.admin]), handle: erase)]
    }

    private func erase(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        let user = try UserName.parse(call.parameter("user_id"))
        return try .json(try await gateway.users.erase(user, context: call.context))
    }
}
