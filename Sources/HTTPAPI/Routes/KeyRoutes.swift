import Domain
import Gateway
import HTTPTypes

/// API keys and the audit (`api.md` section 11).
struct KeyRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.post, "/v1/admin/api-keys", .key([.admin]), idempotency: .outcomeOnly, handle: create),
            Endpoint(.get, "/v1/admin/api-keys", .key([.admin, .adminRead]), handle: list),
            Endpoint(.delete, "/v1/admin/api-keys/{id}", .key([.admin]), handle: revoke),
            Endpoint(.get, "/v1/admin/audit", .key([.admin, .adminRead]), handle: audit),
        ]
    }

    private func create(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(KeyFields.self)
        let issued = try await gateway.keys.create(
            name: fields.name, partner: fields.partner, scopes: fields.scopes, expiresAt: fields.expires_at,
            context: call.context)
        return try .json(issued)
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.keys.list(cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func revoke(_ call: Call) async throws(GatewayError) -> Answer {
        let id = try call.parameter("id")
        try await gateway.keys.revoke(id, context: call.context)
        return try .json(["id": id, "status": "revoked"])
    }

    private func audit(_ call: Call) async throws(GatewayError) -> Answer {
        var user: ExternalUserID?
        if let name = call.query["user_id"] { user = try UserName.parse(name) }
        let page = try await gateway.auditLog.list(
            subject: call.query["subject"], user: user, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }
}

private struct KeyFields: Decodable {
    let name: String
    let partner: String?
    let scopes: [String]
    let expires_at: Timestamp?
}
