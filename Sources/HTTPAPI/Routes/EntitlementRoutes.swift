import Domain
import Gateway
import HTTPTypes

/// What a user owns (`api.md` section 5).
struct EntitlementRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [Endpoint(.get, "/v1/public/entitlements", .user, handle: read)]
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        .tagged(try Answer.encode(try await gateway.queryEntitlements(user: call.user)))
    }
}
