import Domain
import Gateway
import HTTPTypes

/// The route of the newest calls of this node.
struct RequestRoutes {
    let requests: RequestLog
    /// The name of this node.
    let node: String

    var routes: [Route] {
        [
            Route(
                "listRequests", .get, "/v1/admin/requests", .key([.admin]), .operationsForAdmins,
                "The last 1,000 calls of this node",
                note: """
                    In memory alone, newest first, without bodies and secrets; another node has its own. Calls of health \
                    and metrics are left out. Because it shows who calls, it needs `admin`.
                    """,
                query: [
                    .query("route", .string, "The template of the path, `/v1/public/orders/{id}`."),
                    .query("status", .integer(100...599), "The status of the answer."),
                    .query("user", .userID, "The app's own id of the user."),
                    .query("since", .moment, "Answered then or later."),
                ],
                answers: .data(
                    .object(["node": .string.noted("The name of the node that answers."), "items": .list(.request)])),
                handle: list)
        ]
    }

    private struct Listed: Encodable {
        let node: String
        let items: [Line]
    }

    private struct Line: Encodable {
        let at: Timestamp
        let method: String
        @Nullable private(set) var route: String?
        let status: Int
        @Nullable private(set) var error: String?
        let duration_ms: Int64
        @Nullable private(set) var caller: String?
        @Nullable private(set) var user_id: String?
        let request_id: String

        init(_ entry: RequestLog.Entry) {
            at = entry.at
            method = entry.method
            status = entry.status
            duration_ms = entry.milliseconds
            request_id = entry.requestID
            route = entry.route
            error = entry.error
            caller = entry.actor?.label
            user_id = entry.user?.rawValue
        }
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let (route, since) = (call.query["route"], try call.time("since"))
        let status = try call.integer("status")
        if let status, !(100...599).contains(status) {
            throw .invalidRequest(field: "status", reason: "must be 100 to 599")
        }
        var user: ExternalUserID?
        if let name = call.query["user"] {
            user = ExternalUserID(name)
            guard user != nil else {
                throw .invalidRequest(
                    field: "user", reason: "must have 1 to 128 characters, none of them a control character")
            }
        }
        let found = requests.list { entry in
            (route == nil || entry.route == route) && (status == nil || Int64(entry.status) == status)
                && (user == nil || entry.user == user) && (since.map { entry.at >= $0 } ?? true)
        }
        return try .namedJSON(Listed(node: node, items: found.map(Line.init)))
    }
}

extension Shape {
    fileprivate static let request = named(
        "LoggedRequest",
        .object([
            "at": .time, "method": .string.shown(#""POST""#),
            "route": .string.orNull.noted("The template of the path; null for a path that no route has.")
                .shown(#""/v1/public/checkout""#),
            "status": .integer(100...599),
            "error": .string.orNull.noted("The id of the refusal; null for a success.").shown(#""sku_not_found""#),
            "duration_ms": .integer,
            "caller": .string.orNull.noted(
                "`user`, `partner:acme/key_…` or `session:ses_…`; null without accepted credentials."),
            "user_id": .string.orNull.noted("The user who calls, or whom the path names."),
            "request_id": .string,
        ]))
}
