import Domain
import Gateway
import HTTPTypes

/// What a user owns (`api.md` section 5).
struct EntitlementRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/public/entitlements", .user, handle: read),
            Endpoint(.get, "/v1/public/entitlements/explain", .user, handle: explain),
            Endpoint(
                .get, "/v1/admin/users/{user_id}/entitlements/explain", .key([.admin, .adminRead]),
                handle: explainToStaff),
        ]
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        .tagged(try await gateway.entitlements.find(user: call.user).json)
    }

    private func explain(_ call: Call) async throws(GatewayError) -> Answer {
        try await explain(call, user: call.user, to: .user)
    }

    private func explainToStaff(_ call: Call) async throws(GatewayError) -> Answer {
        try await explain(call, user: UserName.parse(call.parameter("user_id")), to: .staff)
    }

    private func explain(
        _ call: Call, user: ExternalUserID, to reader: Explanation.Reader
    ) async throws(GatewayError) -> Answer {
        try .json(
            try await gateway.reports.explain(
                user: user, sku: call.query["sku"], reader: reader, languages: call.languages))
    }
}
