import Domain
import HTTPTypes

extension OperationGroup {
    /// `api.md` section 10.
    static let webhooks = OperationGroup(
        name: "Webhooks",
        note: "A partner's endpoints for events; messages follow the Standard Webhooks specification.",
        operations: [
            Operation(
                "createWebhook", .post, "/v1/partner/webhooks", "Makes an endpoint",
                note: """
                    It shows only the types that the key's other scopes let it read: `orders:read` those of orders, \
                    refunds and disputes, `entitlements:read` the rest; to ask for another is `forbidden`. It belongs \
                    to the partner; a type goes out as long as some good key of the partner may read it. A partner has \
                    at most 50.
                    """,
                body: .json(.newWebhook),
                answers: .data(.webhookWithSecret)),
            Operation(
                "listWebhooks", .get, "/v1/partner/webhooks", "The partner's endpoints",
                query: Operation.Query.page(of: "whk"),
                answers: .page(.webhook)),
            Operation(
                "readWebhook", .get, "/v1/partner/webhooks/{id}", "One endpoint", answers: .data(.webhook),
                refuses: [.notFound]),
            Operation(
                "changeWebhook", .patch, "/v1/partner/webhooks/{id}", "Changes an endpoint, or switches it on or off",
                note: "What is left out or null stays. One that is switched on gets what happens from then on.",
                body: .json(.webhookChange),
                answers: .data(.webhook), refuses: [.notFound, .conflict]),
            Operation(
                "deleteWebhook", .delete, "/v1/partner/webhooks/{id}", "Deletes an endpoint with its deliveries",
                answers: .data(.object(["id": .id("whk"), "status": .words("deleted")])), refuses: [.notFound]),
            Operation(
                "rotateWebhookSecret", .post, "/v1/partner/webhooks/{id}/rotate-secret", "Makes a new secret",
                note: "For 24 hours the old one signs beside it.",
                body: .json(.object([:])), answers: .data(.webhookWithSecret)),
            Operation(
                "listDeliveries", .get, "/v1/partner/webhooks/{id}/deliveries", "What was sent to an endpoint",
                note: "The newest events first.", query: Operation.Query.page(.numberCursor), answers: .page(.delivery),
                refuses: [.notFound]),
            Operation(
                "redeliverEvent", .post, "/v1/partner/deliveries/{id}/redeliver", "Sends an event once more",
                note: "However its delivery ended; the attempts begin anew. `conflict` while the endpoint is disabled.",
                body: .json(.object([:])), answers: .data(.delivery), refuses: [.conflict]),
        ],
        message: Message(
            id: "receiveEvent", summary: "What an endpoint gets",
            note: """
                With `webhook-id`, `webhook-timestamp` and `webhook-signature`. Answer 2xx; anything else is tried again \
                for three days.
                """,
            body: .webhookMessage))
}

extension Shape {
    fileprivate static let webhookMessage = named(
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

    fileprivate static let delivery = named(
        "Delivery",
        .object(
            [
                "id": .id("dlv"), "webhook_id": .id("whk"), "event_id": .id("evt"), "type": .words(EventType.self),
                "seq": .integer.noted("The event's."), "status": .words(Delivery.State.self), "attempts": .integer,
                "created_at": .time,
            ],
            optional: [
                "next_at": .time.noted("When the next attempt is due."),
                "last_status": .integer.noted("The HTTP status of the last attempt's answer."),
                "last_error": .words(Delivery.Fault.self).noted("Why the last attempt failed."), "done_at": .time,
            ]))
}
