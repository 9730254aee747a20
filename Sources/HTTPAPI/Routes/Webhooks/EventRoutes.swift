import Domain
import Gateway
import HTTPTypes

/// Routes of the events that a partner may read.
struct EventRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listEvents", .get, "/v1/partner/events", .key([.eventsRead]), .partner,
                "What has happened, oldest first",
                note: """
                    Only the types that the key's other scopes let it read: `orders:read` those of orders, refunds and \
                    disputes, `entitlements:read` the rest. A page may be empty although more follow. With `wait` the \
                    answer comes as soon as an event is there; a key may wait in 8 calls at once.
                    """,
                query: [
                    .query("after", .integer(0...Int64.max), "The `seq` after which to begin; 0 where it is left out."),
                    .query("cursor", .integer(0...Int64.max), "The same, as every list calls it."),
                    .query("limit", .integer(1...200), "How many items; 50 where it is left out."),
                    .query(
                        "wait", .integer(0...EventWaits.longest),
                        "The seconds for which to wait for an event where there is none yet; 0 where it is left out."),
                ],
                answers: .data(
                    .object([
                        "items": .list(.event),
                        "next_cursor": .integer.orNull.noted("For `after`; null where nothing more has happened yet."),
                    ])), handle: events),
            Route(
                "listAllEvents", .get, "/v1/admin/events", .key([.admin, .adminRead]), .inbox,
                "What has happened, oldest first", note: "Of every type and every partner.",
                query: [
                    .query("after", .integer(0...Int64.max), "The `seq` after which to begin; 0 where it is left out."),
                    .query("cursor", .integer(0...Int64.max), "The same, as every list calls it."),
                    .query("limit", .integer(1...200), "How many items; 50 where it is left out."),
                    .query("subject", .string, "The id that they are about."),
                ],
                answers: .data(
                    .object([
                        "items": .list(.event),
                        "next_cursor": .integer.orNull.noted("For `after`; null where nothing more has happened yet."),
                    ])), handle: allEvents),
        ]
    }

    private func allEvents(_ call: Call) async throws(GatewayError) -> Answer {
        let (after, cursor) = (try call.sequence("after"), try call.sequence("cursor"))
        let feed = try await gateway.events.list(
            after: after ?? cursor ?? 0, subject: call.query["subject"], limit: call.limit)
        return .data(feed.json)
    }

    private func events(_ call: Call) async throws(GatewayError) -> Answer {
        let (after, cursor) = (try call.sequence("after"), try call.sequence("cursor"))
        let feed = try await gateway.events.list(
            after: after ?? cursor ?? 0, key: call.callingKey, limit: call.limit, waiting: call.integer("wait") ?? 0)
        return .data(feed.json)
    }
}

extension Call {
    /// Returns a query parameter that must be an event's number or 0.
    fileprivate func sequence(_ name: String) throws(GatewayError) -> Int64? {
        let number = try integer(name)
        guard (number ?? 0) >= 0 else { throw .invalidRequest(field: name, reason: "must be an integer from 0") }
        return number
    }
}

extension Shape {
    fileprivate static let event = named(
        "Event",
        .object([
            "id": .id("evt"), "at": .time,
        ]).adding(eventMembers))

    /// The members that the list of events and a webhook's message have in common.
    static let eventMembers: KeyValuePairs<String, Shape> = [
        "type": .words(EventType.self),
        "seq": .integer.noted("Ascends over all events."), "sequence": .integer.noted("Counts per subject."),
        "subject": .string.noted("The id of the order, subscription, original transaction or user that it is about."),
        "data": .any.noted(
            """
            The full snapshot after what happened. Of `order.…`, `refund.…` and `dispute.…` a `PartnerOrder` without \
            its refunds' reasons; of `entitlements.changed` the `Entitlements`; of `subscription.changed` a \
            `Subscription` and its `user_id`; of `purchase.attached` `user_id`, `transaction_id`, \
            `original_transaction_id`, `product_id`, `environment`, `sku` and `order_id`; of `purchase.unmapped` the \
            same without the last two; of `purchase.transferred` `original_transaction_id`, `environment`, \
            `from_user_id` (null where nobody had it) and `user_id`; of `balance.overdrawn` `user_id`, `unit` and \
            `balance`; of `consent.rescinded` `user_id` (null where nobody is known), `app_transaction_id`, `bundle_id` \
            and `environment`.
            """),
    ]
}
