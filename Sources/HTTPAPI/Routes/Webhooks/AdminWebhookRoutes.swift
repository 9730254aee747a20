import Domain
import Gateway
import HTTPTypes

/// Routes of every partner's endpoints and deliveries, for admins.
struct AdminWebhookRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listAllWebhooks", .get, "/v1/admin/webhooks", .key([.admin, .adminRead]), .inbox,
                "The endpoints of every partner", query: Route.Query.page(of: "whk"),
                answers: .page(.webhookOfPartner), handle: list),
            Route(
                "switchWebhook", .patch, "/v1/admin/webhooks/{id}", .key([.admin]), .inbox,
                "Switches an endpoint on or off", note: "One that is switched on gets what happens from then on.",
                body: .json(.object(["status": .words(Webhook.Status.self)])), answers: .data(.webhookOfPartner),
                refuses: [.notFound, .conflict], handle: change),
            Route(
                "rotateAnyWebhookSecret", .post, "/v1/admin/webhooks/{id}/rotate-secret", .key([.admin]), .inbox,
                "Makes a new secret of an endpoint", note: "For 24 hours the old one signs beside it.",
                body: .json(.object([:])), answers: .data(.webhookOfPartnerWithSecret), idempotency: .outcomeOnly,
                handle: rotate),
            Route(
                "listAllDeliveries", .get, "/v1/admin/webhooks/{id}/deliveries", .key([.admin, .adminRead]), .inbox,
                "What was sent to an endpoint", note: "The newest events first.",
                query: Route.Query.page(.numberCursor), answers: .page(.delivery), refuses: [.notFound],
                handle: deliveries),
            Route(
                "readDelivery", .get, "/v1/admin/deliveries/{id}", .key([.admin, .adminRead]), .inbox,
                "One delivery with its attempts", answers: .data(.deliveryInFull), refuses: [.notFound], handle: read),
            Route(
                "redeliverAnyEvent", .post, "/v1/admin/deliveries/{id}/redeliver", .key([.admin]), .inbox,
                "Sends an event once more",
                note: "However its delivery ended; the attempts begin anew. `conflict` while the endpoint is disabled.",
                body: .json(.object([:])), answers: .data(.delivery), refuses: [.conflict], handle: redeliver),
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        try await .page(try await gateway.webhooks.listAll(cursor: call.cursor, limit: call.limit))
    }

    private func change(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(StatusFields.self)
        guard let status = Webhook.Status(rawValue: fields.status) else {
            throw .invalidRequest(field: "status", reason: .words(["enabled", "disabled"]))
        }
        return try .json(
            try await gateway.webhooks.setStatus(
                status, of: call.parameter("id"), by: call.callingKey, context: call.context))
    }

    private func rotate(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.webhooks.rotateAnySecret(
                of: call.parameter("id"), by: call.callingKey, context: call.context))
    }

    private func deliveries(_ call: Call) async throws(GatewayError) -> Answer {
        try await .page(
            try await gateway.webhooks.allDeliveries(
                of: call.parameter("id"), by: call.callingKey, cursor: call.cursor, limit: call.limit))
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.webhooks.findDelivery(call.parameter("id")))
    }

    private func redeliver(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.webhooks.redeliverAny(
                call.parameter("id"), by: call.callingKey, context: call.context))
    }
}

private struct StatusFields: Decodable {
    let status: String
}
