import Domain
import Gateway
import HTTPTypes

/// The subscriptions of a user, as the user, a partner and an admin see them (`api.md` sections 4, 10 and 11).
struct SubscriptionRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/public/subscriptions", .user, handle: list),
            Endpoint(.get, "/v1/public/subscriptions/{id}", .user, handle: read),
            Endpoint(
                .get, "/v1/partner/users/{user_id}/subscriptions", .key([.entitlementsRead]), handle: listOfUser),
            Endpoint(
                .get, "/v1/admin/users/{user_id}/subscriptions", .key([.admin, .adminRead]), handle: listOfUser),
            Endpoint(.post, "/v1/admin/subscriptions/{id}/extend", .key([.admin]), handle: extend),
        ]
    }

    private func extend(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(ExtensionFields.self)
        return try .json(
            try await gateway.subscriptionExtensions.extend(
                call.parameter("id"), days: fields.days, reasonCode: fields.reason_code, context: call.context))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        try await list(call, of: call.user)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.subscriptions.find(call.parameter("id"), user: call.user))
    }

    private func listOfUser(_ call: Call) async throws(GatewayError) -> Answer {
        try await list(call, of: UserName.parse(call.parameter("user_id")))
    }

    private func list(_ call: Call, of user: ExternalUserID) async throws(GatewayError) -> Answer {
        let page = try await gateway.subscriptions.list(user: user, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }
}

private struct ExtensionFields: Decodable {
    let days: Int64
    let reason_code: Int64
}
