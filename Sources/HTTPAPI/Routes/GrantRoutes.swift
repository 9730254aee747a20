import Domain
import Gateway
import HTTPTypes

/// What admins give and take by hand (`api.md` section 11).
struct GrantRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/admin/users/{user_id}/entitlements", .key([.admin, .adminRead]), handle: read),
            Endpoint(.post, "/v1/admin/users/{user_id}/grants", .key([.admin]), handle: grant),
            Endpoint(.delete, "/v1/admin/grants/{id}", .key([.admin]), handle: revoke),
        ]
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        let user = try UserName.parse(call.parameter("user_id"))
        return .tagged(try await gateway.entitlements.find(user: user).json)
    }

    private func grant(_ call: Call) async throws(GatewayError) -> Answer {
        let user = try UserName.parse(call.parameter("user_id"))
        let request = try call.decode(GrantFields.self).request()
        return try .json(try await gateway.grants.create(request, to: user, by: .admin, context: call.context))
    }

    private func revoke(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.grants.revoke(call.parameter("id"), context: call.context))
    }
}

/// The body of a grant by hand.
struct GrantFields: Decodable {
    let sku: String
    let duration_days: Int64?
    let expires_at: Timestamp?
    let reason: String

    func request() throws(GatewayError) -> GrantRequest {
        guard reason.hasScalars(1...500) else {
            throw .invalidRequest(field: "reason", reason: "must have 1 to 500 characters")
        }
        return GrantRequest(sku: sku, durationDays: duration_days, expiresAt: expires_at, reason: reason)
    }
}
