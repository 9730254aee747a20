import Domain
import Gateway
import HTTPTypes

/// Partners' endpoints for events (`api.md` section 10).
struct WebhookRoutes {
    let gateway: Gateway

    private static let path = "/v1/partner/webhooks"

    var endpoints: [Endpoint] {
        let access = Endpoint.Access.key([.webhooksWrite])
        return [
            Endpoint(.post, Self.path, access, idempotency: .outcomeOnly, handle: create),
            Endpoint(.get, Self.path, access, handle: list),
            Endpoint(.get, "\(Self.path)/{id}", access, handle: read),
            Endpoint(.patch, "\(Self.path)/{id}", access, handle: change),
            Endpoint(.delete, "\(Self.path)/{id}", access, handle: delete),
            Endpoint(.post, "\(Self.path)/{id}/rotate-secret", access, idempotency: .outcomeOnly, handle: rotate),
            Endpoint(.get, "\(Self.path)/{id}/deliveries", access, handle: deliveries),
            Endpoint(.post, "/v1/partner/deliveries/{id}/redeliver", access, handle: redeliver),
        ]
    }

    private func create(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(NewWebhook.self)
        return try .json(
            try await gateway.webhooks.create(
                url: fields.url, types: fields.types ?? [], by: call.partnerKey, context: call.context))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.webhooks.list(of: call.partnerKey.partner, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.webhooks.find(call.parameter("id"), of: call.partnerKey.partner))
    }

    private func change(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(WebhookFields.self)
        var change = WebhookChange(url: fields.url, types: fields.types)
        if let name = fields.status {
            guard let status = Webhook.Status(rawValue: name) else {
                throw .invalidRequest(field: "status", reason: .words(["enabled", "disabled"]))
            }
            change.status = status
        }
        let changed = try await gateway.webhooks.change(
            call.parameter("id"), change, by: call.partnerKey, context: call.context)
        return try .json(changed)
    }

    private func delete(_ call: Call) async throws(GatewayError) -> Answer {
        let id = try call.parameter("id")
        try await gateway.webhooks.delete(id, by: call.partnerKey, context: call.context)
        return try .json(["id": id, "status": "deleted"])
    }

    private func rotate(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.webhooks.rotateSecret(
                of: call.parameter("id"), by: call.partnerKey, context: call.context))
    }

    private func deliveries(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.webhooks.deliveries(
            of: call.parameter("id"), partner: call.partnerKey.partner, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func redeliver(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.webhooks.redeliver(
                call.parameter("id"), by: call.partnerKey, context: call.context))
    }
}

extension Call {
    fileprivate var partnerKey: AuthenticatedKey {
        get throws(GatewayError) {
            guard case .key(let key) = caller else { throw .unauthenticated }
            return key
        }
    }
}

private struct NewWebhook: Decodable {
    let url: String
    let types: [String]?
}

private struct WebhookFields: Decodable {
    let url: String?
    let types: [String]?
    let status: String?
}
