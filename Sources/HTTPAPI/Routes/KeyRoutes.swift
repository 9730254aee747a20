import Domain
import Gateway
import HTTPTypes
import Store

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
        let issued = try await gateway.createKey(
            name: fields.name, partner: fields.partner, scopes: fields.scopes, context: call.context)
        return try .json(
            IssuedKeyView(
                id: issued.record.id, name: issued.record.name, partner: issued.record.partner, scopes: issued.record.scopes,
                key: issued.key))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.listKeys(cursor: call.cursor, limit: call.limit)
        let items = page.items.map {
            KeyView(
                id: $0.id, name: $0.name, partner: $0.partner, scopes: $0.scopes, created_at: $0.createdAt,
                revoked_at: $0.revokedAt)
        }
        return try .json(Listing(items: items, next: page.nextCursor))
    }

    private func revoke(_ call: Call) async throws(GatewayError) -> Answer {
        let id = try call.parameter("id")
        try await gateway.revokeKey(id, context: call.context)
        return try .json(["id": id, "status": "revoked"])
    }

    private func audit(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.listAudit(subject: call.query["subject"], cursor: call.cursor, limit: call.limit)
        return try .json(Listing(items: page.items, next: page.nextCursor))
    }
}

private struct KeyFields: Decodable {
    let name: String
    let partner: String?
    let scopes: [String]
}

private struct IssuedKeyView: Encodable {
    let id: ID<APIKey>
    let name: String
    let partner: String
    let scopes: [String]
    let key: String
}

private struct KeyView: Encodable {
    let id: ID<APIKey>
    let name: String
    let partner: String
    let scopes: [String]
    let created_at: Timestamp
    let revoked_at: Timestamp?
}
