import Domain
import Gateway
import HTTPTypes

/// Routes of API keys for admins.
struct KeyRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "createAPIKey", .post, "/v1/admin/api-keys", .key([.admin]), .inbox, "Makes an API key",
                note: "The key is shown only here; a replay answers `conflict` with its id in `details.resource`.",
                body: .json(.newKey), answers: .data(.issuedKey), idempotency: .outcomeOnly, handle: create),
            Route(
                "listAPIKeys", .get, "/v1/admin/api-keys", .key([.admin, .adminRead]), .inbox,
                "The API keys, without their secrets", query: Route.Query.page(of: "key"), answers: .page(.keptKey),
                handle: list),
            Route(
                "revokeAPIKey", .delete, "/v1/admin/api-keys/{id}", .key([.admin]), .inbox, "Revokes an API key",
                answers: .data(.object(["id": .id("key"), "status": .words("revoked")])), refuses: [.notFound],
                handle: revoke),
        ]
    }

    private func create(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(KeyFields.self)
        let issued = try await gateway.keys.create(
            name: fields.name, partner: fields.partner, scopes: fields.scopes, expiresAt: fields.expires_at,
            context: call.context)
        return try .json(issued)
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.keys.list(cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func revoke(_ call: Call) async throws(GatewayError) -> Answer {
        let id = try call.parameter("id")
        try await gateway.keys.revoke(id, context: call.context)
        return try .json(["id": id, "status": "revoked"])
    }
}

private struct KeyFields: Decodable {
    let name: String
    let partner: String?
    let scopes: [String]
    let expires_at: Timestamp?
}

extension Shape {
    fileprivate static let newKey = named(
        "NewAPIKey",
        .object(
            [
                "name": .plain(1...200).noted("In Unicode scalars; no control characters."),
                "scopes": .list(.words(Scope.self), 1...Int.max).noted("`admin` implies every other."),
            ],
            optional: [
                "partner": .plain(1...200).orNull.noted("The name where it is left out."),
                "expires_at": .timeAhead.orNull.noted("Ahead: from then on it is no key."),
            ]))

    fileprivate static let issuedKey = named(
        "IssuedAPIKey",
        .object(
            [
                "id": .id("key"), "name": .string, "partner": .string, "scopes": .list(.words(Scope.self)),
                "key": .string.noted("`pdk_…`, to be sent as the bearer token."),
            ], optional: ["expires_at": .time]))

    fileprivate static let keptKey = named(
        "APIKey",
        .object(
            [
                "id": .id("key"), "name": .string, "partner": .string, "scopes": .list(.words(Scope.self)),
                "created_at": .time, "expires_at": .time.orNull.noted("Null for one without an end."),
                "last_used_at": .time.orNull.noted("Within a minute; null for one that was never used."),
            ],
            optional: ["revoked_at": .time]))
}
