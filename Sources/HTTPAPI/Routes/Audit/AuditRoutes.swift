import Domain
import Gateway
import HTTPTypes

/// Routes of the audit log for admins.
struct AuditRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listAudit", .get, "/v1/admin/audit", .key([.admin, .adminRead]), .inbox, "Who did what",
                query: Route.Query.auditedActs, answers: .page(.auditedAct), handle: audit)
        ]
    }

    private func audit(_ call: Call) async throws(GatewayError) -> Answer {
        var user: ExternalUserID?
        if let name = call.query["user_id"] { user = try UserName.parse(name) }
        let page = try await gateway.auditLog.list(
            subject: call.query["subject"], user: user, actor: call.query["actor"], from: try call.time("from"),
            to: try call.time("to"), cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }
}

extension Route.Query {
    fileprivate static let auditedActs: [Route.Query] =
        [
            query(
                "subject", .string,
                "What it was done to: an id, the app's own id of a user, or `sku/…`, `account/…`."
            ),
            query("actor", .string, "Who did it: the whole `actor`, or the id of an API key."),
            query("from", .moment, "Done then or later."), query("to", .moment, "Done before."),
            query("user_id", .userID, "The app's own id of a user; then `subject` does not count."),
        ] + page(.timeCursor("[0-9]{1,18}"))
}

extension Shape {
    fileprivate static let auditedAct = named(
        "AuditEntry",
        .object(
            [
                "subject": .string, "position": .integer.noted("Counts the acts about one subject."), "at": .time,
                "actor": .string.noted("`user`, `partner:acme/key_…`, `provider:…` or `system:…`."),
                "request_id": .string, "action": .string.noted("`order.closed`."), "before": .string,
                "after": .string,
                "via": .words("console").orNull.noted("The page on which it was done; null for a call without one."),
            ], optional: ["reason": .string.noted("In words of whoever did it.")]))
}
