import Domain
import Gateway
import HTTPTypes

/// Routes of partners' endpoints for events (`docs/api.md` section 10).
struct WebhookRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "createWebhook", .post, "/v1/partner/webhooks", .key([.webhooksWrite]), .webhooks, "Makes an endpoint",
                note: """
                    It shows only the types that the key's other scopes let it read: `orders:read` those of orders, \
                    refunds and disputes, `entitlements:read` the rest; to ask for another is `forbidden`. It belongs \
                    to the partner; a type goes out as long as some good key of the partner may read it. A partner has \
                    at most 50.
                    """, body: .json(.newWebhook), answers: .data(.webhookWithSecret), idempotency: .outcomeOnly,
                handle: create),
            Route(
                "listWebhooks", .get, "/v1/partner/webhooks", .key([.webhooksWrite]), .webhooks,
                "The partner's endpoints", query: Route.Query.page(of: "whk"), answers: .page(.webhook), handle: list),
            Route(
                "readWebhook", .get, "/v1/partner/webhooks/{id}", .key([.webhooksWrite]), .webhooks, "One endpoint",
                answers: .data(.webhook), refuses: [.notFound], handle: read),
            Route(
                "changeWebhook", .patch, "/v1/partner/webhooks/{id}", .key([.webhooksWrite]), .webhooks,
                "Changes an endpoint, or switches it on or off",
                note: "What is left out or null stays. One that is switched on gets what happens from then on.",
                body: .json(.webhookChange), answers: .data(.webhook), refuses: [.notFound, .conflict], handle: change),
            Route(
                "deleteWebhook", .delete, "/v1/partner/webhooks/{id}", .key([.webhooksWrite]), .webhooks,
                "Deletes an endpoint with its deliveries",
                answers: .data(.object(["id": .id("whk"), "status": .words("deleted")])), refuses: [.notFound],
                handle: delete),
            Route(
                "rotateWebhookSecret", .post, "/v1/partner/webhooks/{id}/rotate-secret", .key([.webhooksWrite]),
                .webhooks, "Makes a new secret", note: "For 24 hours the old one signs beside it.",
                body: .json(.object([:])), answers: .data(.webhookWithSecret), idempotency: .outcomeOnly, handle: rotate
            ),
            Route(
                "testWebhook", .post, "/v1/partner/webhooks/{id}/test", .key([.webhooksWrite]), .webhooks,
                "Sends a test message to an endpoint, and says what it answered",
                note: """
                    At once and once only, signed like an event's, also to a disabled endpoint. Its type is \
                    `\(WebhookTestMessages.type)`, its `seq` and `sequence` are 0, its `data` has the `webhook_id`; answer 2xx and do \
                    nothing. It is no event and no delivery. A partner may send 30 in a minute.
                    """,
                body: .json(.object([:])), answers: .data(.webhookTest), refuses: [.notFound], handle: test),
            Route(
                "listDeliveries", .get, "/v1/partner/webhooks/{id}/deliveries", .key([.webhooksWrite]), .webhooks,
                "What was sent to an endpoint", note: "The newest events first.",
                query: Route.Query.page(.numberCursor), answers: .page(.delivery), refuses: [.notFound],
                handle: deliveries),
            Route(
                "redeliverEvent", .post, "/v1/partner/deliveries/{id}/redeliver", .key([.webhooksWrite]), .webhooks,
                "Sends an event once more",
                note: "However its delivery ended; the attempts begin anew. `conflict` while the endpoint is disabled.",
                body: .json(.object([:])), answers: .data(.delivery), refuses: [.conflict], handle: redeliver),
        ]
    }

    private func create(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(NewWebhook.self)
        return try .json(
            try await gateway.webhooks.create(
                url: fields.url, types: fields.types ?? [], by: call.callingKey, context: call.context))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.webhooks.list(of: call.callingKey.partner, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.webhooks.find(call.parameter("id"), of: call.callingKey.partner))
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
            call.parameter("id"), change, by: call.callingKey, context: call.context)
        return try .json(changed)
    }

    private func delete(_ call: Call) async throws(GatewayError) -> Answer {
        let id = try call.parameter("id")
        try await gateway.webhooks.delete(id, by: call.callingKey, context: call.context)
        return try .json(["id": id, "status": "deleted"])
    }

    private func rotate(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.webhooks.rotateSecret(
                of: call.parameter("id"), by: call.callingKey, context: call.context))
    }

    private func test(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.webhookTestMessages.send(to: call.parameter("id"), by: call.callingKey))
    }

    private func deliveries(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.webhooks.deliveries(
            of: call.parameter("id"), partner: call.callingKey.partner, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func redeliver(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.webhooks.redeliver(
                call.parameter("id"), by: call.callingKey, context: call.context))
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

extension Shape {
    static let webhookMessage = named(
        "WebhookMessage", .object(["timestamp": .time.noted("When it happened.")]).adding(eventMembers))

    fileprivate static let endpoint = httpsAddress.noted("An https address of a public host, without a fragment.")

    fileprivate static let eventTypes = list(.words(EventType.self)).noted("Empty for all that the key may read.")

    fileprivate static let newWebhook = named(
        "NewWebhook", .object(["url": endpoint], optional: ["types": eventTypes.orNull])
    ).shown(#"{"url":"https://partner.example/paydesk","types":["order.paid"]}"#)

    fileprivate static let webhookChange = named(
        "WebhookChange",
        .object(
            [:],
            optional: [
                "url": endpoint.orNull, "types": eventTypes.orNull, "status": .words(Webhook.Status.self).orNull,
            ])
    ).shown(#"{"status":"enabled"}"#)

    fileprivate static let webhook = named("Webhook", webhookMembers)

    static let webhookOfPartner = named("PartnerWebhook", webhookMembers.adding(["partner": .string]))

    static let webhookOfPartnerWithSecret = named(
        "PartnerWebhookWithSecret",
        webhookMembers.adding(["partner": .string, "secret": .string.noted("whsec_…, shown only here.")]))

    fileprivate static let webhookWithSecret = named(
        "WebhookWithSecret", webhookMembers.adding(["secret": .string.noted("whsec_…, shown only here.")]))

    private static let webhookMembers = object(
        [
            "id": .id("whk"), "url": .address,
            "types": list(.words(EventType.self)).noted("Empty for all that the key which made it may read."),
            "status": .words(Webhook.Status.self), "created_at": .time,
        ],
        optional: [
            "disabled_reason": .words("gone", "failing", "partner").noted(
                "It answered 410; every attempt failed for days; the partner wanted it."),
            "failing_since": .time.noted("Since then every attempt has failed."),
        ])

    fileprivate static let webhookTest = named(
        "WebhookTest",
        .object([
            "id": .id("evt").noted("The `webhook-id` of the message."), "at": .time,
            "status": .integer.orNull.noted("The HTTP status of the answer; null without one."),
            "error": .words(Delivery.Fault.self).orNull.noted("Why it failed; null for an answer of 2xx."),
            "body": .string.orNull.noted("The first 1,000 characters of the answer."),
        ]))

    static let delivery = named("Delivery", deliveryMembers)

    static let deliveryInFull = named(
        "DeliveryInFull",
        deliveryMembers.adding([
            "history": .list(
                .object([
                    "at": .time, "status": .integer.orNull, "error": .words(Delivery.Fault.self).orNull,
                    "body": .string.orNull.noted("The first 1,000 characters of the answer."),
                ])
            ).noted("The attempts, oldest first.")
        ]))

    private static let deliveryMembers = object(
        [
            "id": .id("dlv"), "webhook_id": .id("whk"), "event_id": .id("evt"), "type": .words(EventType.self),
            "seq": .integer.noted("The event's."), "status": .words(Delivery.State.self), "attempts": .integer,
            "created_at": .time,
        ],
        optional: [
            "next_at": .time.noted("When the next attempt is due."),
            "last_status": .integer.noted("The HTTP status of the last attempt's answer."),
            "last_error": .words(Delivery.Fault.self).noted("Why the last attempt failed."), "done_at": .time,
        ])
}
