import Domain
import HTTPTypes

/// The OpenAPI description of the API: every route with its parameters, bodies, answers and refusals.
///
/// Source: OpenAPI Specification 3.1.1.
struct OpenAPIDocument: Sendable {
    /// The routes of one part of the API.
    struct Part: Sendable {
        let tag: Route.Tag
        let routes: [Route]
    }

    let version: String
    let parts: [Part]

    /// - Parameter routes: the routes that are served; the document describes no others.
    init(_ routes: [Route], version: String) {
        self.version = version
        parts = Route.Tag.all.compactMap { tag in
            let own = routes.filter { $0.description.tag?.name == tag.name }
            return own.isEmpty ? nil : Part(tag: tag, routes: own)
        }
    }

    /// The document as JSON.
    var json: JSONValue {
        var components = Components()
        var (paths, webhooks): ([String: JSONValue], [String: JSONValue]) = ([:], [:])
        for part in parts {
            if let message = part.tag.message { webhooks[message.id] = message.json(part.tag.name, &components) }
            for route in part.routes {
                var path = paths[route.path]?.members ?? [:]
                path[route.method.rawValue.lowercased()] = route.json(part.tag.name, &components)
                paths[route.path] = .object(path)
            }
        }
        return .object([
            "openapi": .string("3.1.1"),
            "info": .object([
                "title": .string("Paydesk"), "version": .string(version), "description": .string(Self.introduction),
            ]),
            "servers": .array([.object(["url": .string("/")])]),
            "tags": .array(
                parts.map { .object(["name": .string($0.tag.name), "description": .string($0.tag.note)]) }),
            "paths": .object(paths), "webhooks": .object(webhooks), "components": components.json,
        ])
    }

    static let introduction = """
        Times are seconds since 1970-01-01 UTC, money is in integer minor units. Every `/v1` answer has the envelope \
        `code`, `msg`, `data`, `request_id`; an error has a stable `error` id, and its `msg` follows `Accept-Language`. \
        Unknown fields and parameters of a request are refused with the nearest known name, but for the calls of App Store \
        clients, which ignore them; further fields may come in answers. Send an `Idempotency-Key` with every \
        POST: the same key, path and body give the same answer and one effect.
        """
}

/// The schemas and responses that the operations of a document share.
struct Components {
    var schemas: [String: JSONValue] = [:]
    var responses: [String: JSONValue] = [:]

    fileprivate var json: JSONValue {
        .object([
            "schemas": .object(schemas), "responses": .object(responses),
            "parameters": .object(["IdempotencyKey": Self.idempotencyKey]),
            "securitySchemes": .object([
                "user": Self.bearer("A JWT of the app's own login; its user claim is the user's id.", format: "JWT"),
                "session": Self.bearer(
                    "The token of a session, `pds_…`, which opens only the calls that name it.", format: nil),
                "console": .object([
                    "type": .string("apiKey"), "in": .string("cookie"), "name": .string(ConsoleDoor.cookie),
                    "description": .string("The cookie of a session of the console, with `X-Paydesk-Console: 1`."),
                ]),
                "key": Self.bearer(
                    "An API key, `pdk_…`, with one of the scopes named; `admin` implies all.", format: nil),
            ]),
        ])
    }

    private static let idempotencyKey = JSONValue.object([
        "name": .string("Idempotency-Key"), "in": .string("header"),
        "description": .string(
            "1 to 255 visible ASCII characters; remembered for 30 days unless the operator says otherwise."),
        "schema": .object([
            "type": .string("string"), "minLength": .integer(1), "maxLength": .integer(255),
            "pattern": .string("^[!-~]+$"),
        ]),
    ])

    private static func bearer(_ note: String, format: String?) -> JSONValue {
        var scheme: [String: JSONValue] = [
            "type": .string("http"), "scheme": .string("bearer"), "description": .string(note),
        ]
        if let format { scheme["bearerFormat"] = .string(format) }
        return .object(scheme)
    }
}

extension JSONValue {
    fileprivate var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}
