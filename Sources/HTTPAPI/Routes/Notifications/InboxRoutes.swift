import Domain
import Gateway
import HTTPTypes
import ProviderKit

/// Routes of the notifications that providers sent, for admins.
struct InboxRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listNotifications", .get, "/v1/admin/notifications", .key([.admin, .adminRead]), .inbox,
                "The notifications that providers sent", query: Route.Query.keptNotifications,
                answers: .page(.keptNotification), handle: notifications),
            Route(
                "readNotification", .get, "/v1/admin/notifications/{id}", .key([.admin, .adminRead]), .inbox,
                "One notification, with its verification and what it states",
                note: "Its headers and body for `admin` alone, and until `retention.raw_days` are over.",
                answers: .data(.notificationInFull), refuses: [.notFound], handle: read),
            Route(
                "replayNotification", .post, "/v1/admin/notifications/{id}/replay", .key([.admin]), .inbox,
                "Verifies a notification again and processes it again",
                note: "What it states a second time changes nothing.", body: .json(.object([:])),
                answers: .data(.keptNotification), refuses: [.invalidNotification], handle: replay),
        ]
    }

    private func notifications(_ call: Call) async throws(GatewayError) -> Answer {
        let status = try call.choice("status", Domain.Notification.Status.self)
        let page = try await gateway.notifications.list(
            status, account: call.query["account"], cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(
            try await gateway.notifications.find(
                call.parameter("id"), showsRaw: call.callingKey.allows(.admin)))
    }

    private func replay(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.notifications.replay(call.parameter("id"), context: call.context))
    }
}

extension Route.Query {
    fileprivate static let keptNotifications: [Route.Query] =
        [
            query("account", .string, "The account that they were sent to."),
            query(
                "status", .words(Domain.Notification.Status.self),
                "How it stands; `rejected` did not verify, `quarantined` could not be processed."),
        ] + page(of: "ntf")
}

extension Shape {
    fileprivate static let keptNotification = named("Notification", keptNotificationMembers)

    fileprivate static let notificationInFull = named(
        "NotificationInFull",
        keptNotificationMembers.adding([
            "steps": .list(.object(["name": .string, "ok": .boolean, "detail": .string])).noted(
                "Of the verification, in their order; a refused one ends with the step that failed."),
            "facts": .list(
                .object([
                    "type": .string.shown(#""payment.succeeded""#),
                    "subject": .string.noted("The payment, or the store's original transaction."), "detail": .string,
                ])),
            "headers": .map(.string).orNull.noted("By name in small letters; credentials are masked."),
            "query": .string.orNull.noted("Of a notification that is a GET."),
            "body": .string.orNull, "body_encoding": .words("base64").orNull.noted("Null where `body` is text."),
        ]))

    private static let keptNotificationMembers = object(
        [
            "id": .id("ntf"), "account": .string, "type": .string.noted("The provider's own word."),
            "provider_event_id": .string, "status": .words(Domain.Notification.Status.self),
            "reason": .words(UnprovenReason.words).orNull.noted("Why it was refused; null where it was not."),
            "received_at": .time, "processed_at": .time.orNull,
        ])
}
