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
                "replayNotification", .post, "/v1/admin/notifications/{id}/replay", .key([.admin]), .inbox,
                "Verifies a notification again and processes it again",
                note: "What it states a second time changes nothing.", body: .json(.object([:])),
                answers: .data(.keptNotification), refuses: [.invalidNotification], handle: replay),
        ]
    }

    private func notifications(_ call: Call) async throws(GatewayError) -> Answer {
        let status = try call.choice("status", Domain.Notification.Status.self)
        let page = try await gateway.notifications.list(status, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func replay(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.notifications.replay(call.parameter("id"), context: call.context))
    }
}

extension Route.Query {
    fileprivate static let keptNotifications: [Route.Query] =
        [
            query(
                "status", .words(Domain.Notification.Status.self),
                "How it stands; `rejected` did not verify, `quarantined` could not be processed.")
        ] + page(of: "ntf")
}

extension Shape {
    fileprivate static let keptNotification = named(
        "Notification",
        .object(
            [
                "id": .id("ntf"), "account": .string, "type": .string.noted("The provider's own word."),
                "provider_event_id": .string, "status": .words(Domain.Notification.Status.self),
                "reason": .words(UnprovenReason.words).orNull.noted("Why it was refused; null where it was not."),
                "received_at": .time, "processed_at": .time.orNull,
            ]))
}
