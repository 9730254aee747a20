import Domain
import Gateway
import HTTPTypes

extension Route {
    /// Makes the Operation Object of the route (OpenAPI Specification 3.1.1 section 4.8.10).
    func json(_ tag: String, _ components: inout Components) -> JSONValue {
        var json: [String: JSONValue] = [
            "operationId": .string(id), "summary": .string(description.summary),
            "tags": .array([.string(tag)]), "security": security,
        ]
        if let note = description.note { json["description"] = .string(note) }
        let parameters = parameters(&components)
        if !parameters.isEmpty { json["parameters"] = .array(parameters) }
        if let body = description.body { json["requestBody"] = requestBody(body, &components) }
        json["responses"] = .object(responses(&components))
        return .object(json)
    }

    private var security: JSONValue {
        switch access {
        case .anyone: .array([])
        case .user:
            .array(
                [.object(["user": .array([])])] + (sessions.isEmpty ? [] : [.object(["session": .array([])])]))
        case .session: .array([.object(["session": .array([])])])
        case .userOrAnyone: .array([.object(["user": .array([])]), .object([:])])
        case .key where description.tag?.name == Route.Tag.console.name:
            .array([.object(["console": .array([])])])
        // Each of the scopes is enough alone.
        case .key(let scopes): .array(scopes.map { .object(["key": .array([.string($0.rawValue)])]) })
        }
    }

    private func parameters(_ components: inout Components) -> [JSONValue] {
        var parameters = parameterNames.map { name in
            var parameter: [String: JSONValue] = [
                "name": .string(name), "in": .string("path"), "required": .bool(true),
                "schema": Shape.pathPart(name).schema(&components.schemas),
                "example": Self.pathExample(name, path),
            ]
            if let note = description.parameters[name] { parameter["description"] = .string(note) }
            return JSONValue.object(parameter)
        }
        for query in description.query {
            parameters.append(
                .object([
                    "name": .string(query.name), "in": .string("query"), "required": .bool(query.isRequired),
                    "description": .string(query.note),
                    "schema": query.shape.sent(isStrict: true).schema(&components.schemas),
                ]))
        }
        if honoursKeys {
            parameters.append(.object(["$ref": .string("#/components/parameters/IdempotencyKey")]))
        }
        if description.tag?.name == Route.Tag.console.name {
            parameters.append(
                .object([
                    "name": .string("X-Paydesk-Console"), "in": .string("header"), "required": .bool(true),
                    "description": .string("Says that the call comes from the console; no form or link can send it."),
                    "schema": .object(["type": .string("string"), "enum": .array([.string("1")])]),
                ]))
        }
        if case .tagged = description.outcome {
            parameters.append(
                .object([
                    "name": .string("If-None-Match"), "in": .string("header"),
                    "description": .string("The `ETag` of an earlier answer."),
                    "schema": .object(["type": .string("string")]),
                ]))
        }
        return parameters
    }

    /// Returns an example of a path's parameter; an `id` is of the kind that the path names before it.
    static func pathExample(_ name: String, _ path: String) -> JSONValue {
        let parts = path.split(separator: "/")
        let collection = parts.firstIndex(of: "{\(name)}").flatMap { $0 > 0 ? String(parts[$0 - 1]) : nil } ?? ""
        let prefixes = [
            "orders": "ord", "payments": "pay", "subscriptions": "sub", "webhooks": "whk", "deliveries": "dlv",
            "grants": "grt", "notifications": "ntf", "jobs": "job", "api-keys": "key", "sessions": "ses",
        ]
        if name == "payment_id" { return Shape.id("pay").exampleValue() }
        if name == "id", let prefix = prefixes[collection] { return Shape.id(prefix).exampleValue() }
        if name == "id", collection == "accounts" { return .string("stripe-main") }
        return Shape.string.exampleValue(name)
    }

    private func requestBody(_ body: Body, _ components: inout Components) -> JSONValue {
        switch body {
        case .json(let shape):
            .object([
                "required": .bool(shape.isDemanding),
                "content": Self.content(
                    "application/json", shape.sent(isStrict: isStrict).schema(&components.schemas),
                    shape.examples(isRequest: true)),
            ])
        case .other(let note):
            .object(["description": .string(note), "content": Self.content("*/*", .object([:]))])
        }
    }

    private static func content(
        _ mediaType: String, _ schema: JSONValue, _ example: (name: String, value: JSONValue)? = nil
    ) -> JSONValue {
        var content = ["schema": schema]
        if let example { content[example.name] = example.value }
        return .object([mediaType: .object(content)])
    }

    // MARK: Answers

    private func responses(_ components: inout Components) -> [String: JSONValue] {
        var responses = ["200": success(&components)]
        for other in description.others where other.status != 200 {
            var response: [String: JSONValue] = ["description": .string(other.note)]
            if let mediaType = other.mediaType {
                response["content"] = Self.content(mediaType, (other.shape ?? .string).schema(&components.schemas))
            }
            responses["\(other.status)"] = .object(response)
        }
        if case .tagged = description.outcome {
            responses["304"] = .object(["description": .string("It has not changed; no body.")])
        }
        if !description.gone.isEmpty {
            responses["410"] = Self.refusal(description.gone, errors, &components)
        }
        for other in description.others where other.status == 200 { responses["200"]?.add(other, &components) }
        for (status, ids) in Dictionary(grouping: refusals, by: \.status.code) where responses["\(status)"] == nil {
            responses["\(status)"] = Self.refusal(
                ids.sorted { $0.rawValue < $1.rawValue }, errors, &components)
        }
        return responses
    }

    private func success(_ components: inout Components) -> JSONValue {
        switch description.outcome {
        case .data(let shape): enveloped(shape, &components)
        case .tagged(let shape): enveloped(shape, &components)
        case .json(let shape):
            .object([
                "description": .string("Done."),
                "content": Self.content(
                    "application/json", shape.schema(&components.schemas), shape.examples(isRequest: false)),
            ])
        case .other(let mediaType, let note):
            .object([
                "description": .string(note),
                "content": Self.content(
                    mediaType, .object(["type": .string("string")]),
                    ("example", .string(Self.rawExamples[mediaType] ?? "success"))),
            ])
        }
    }

    private static let rawExamples = [
        "image/svg+xml": "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        "text/html": "<!doctype html><title>Paydesk</title>",
        "text/csv": "id,status\r\n",
        "text/event-stream":
            "retry: 3000\n\nid: 17\nevent: entitlements\ndata: {\"next_change_at\":null,\"version\":17}\n\n",
    ]

    /// Returns the schema of an answer in the envelope.
    ///
    /// It is named after its data, `OrderAnswer` for an `Order` and `OrderPageAnswer` for a page of them, or after the
    /// operation where the data has no name.
    private func enveloped(_ data: Shape, _ components: inout Components) -> JSONValue {
        let operationName = id.prefix(1).uppercased() + id.dropFirst()
        let (data, name): (Shape, String) =
            if case .named(let name, _) = data.form {
                (data, name)
            } else if let item = data.pageItemName {
                (.named(item + "Page", data), item + "Page")
            } else {
                (data, operationName)
            }
        let envelope = Shape.object([
            "code": .integer(200...200), "msg": .string, "data": data, "request_id": .id("req"),
        ])
        let example = data.examples(isRequest: false) { value in
            .object([
                "code": .integer(200), "msg": .string("success"), "data": value,
                "request_id": Shape.id("req").exampleValue(),
            ])
        }
        return .object([
            "description": .string("Done."),
            "content": Self.content(
                "application/json", Shape.named(name + "Answer", envelope).schema(&components.schemas), example),
        ])
    }

    /// Makes the response that lists the refusals of one status; operations share it, and `x-error-ids` lists the ids
    /// for programs.
    private static func refusal(
        _ ids: [ErrorID], _ shape: ErrorShape, _ components: inout Components
    ) -> JSONValue {
        let (prefix, body): ([String], Shape) =
            switch shape {
            case .flat: (["flat"], .flatError)
            case .openIAP: (["openiap"], .openIAPError)
            case .envelope, .bare, .verifyReceipt: ([], .error)
            }
        let name = (prefix + ids.map(\.rawValue)).joined(separator: ".")
        if components.responses[name] == nil {
            var response: [String: JSONValue] = [
                "description": .string(ids.map { "`\($0.rawValue)`" }.joined(separator: ", ")),
                "x-error-ids": .array(ids.map { .string($0.rawValue) }),
                "content": content("application/json", body.schema(&components.schemas)),
            ]
            var headers: [String: JSONValue] = [:]
            if ids.contains(where: \.saysWhenToRetry) { headers["Retry-After"] = Self.header("Seconds.", "integer") }
            if ids.contains(.unauthenticated) {
                headers["WWW-Authenticate"] = Self.header(
                    "`Bearer`, with `error_description` where a token or key was sent (RFC 6750 section 3).", "string")
            }
            if !headers.isEmpty { response["headers"] = .object(headers) }
            components.responses[name] = .object(response)
        }
        return .object(["$ref": .string("#/components/responses/\(name)")])
    }

    private static func header(_ note: String, _ type: String) -> JSONValue {
        .object(["description": .string(note), "schema": .object(["type": .string(type)])])
    }

    /// The refusals of this route: its own and those of every route of its kind.
    var refusals: Set<ErrorID> {
        guard errors != .verifyReceipt else { return [] }
        var ids = Set(description.refusals + [.internalError, .headersTooLarge])
        if !isAlwaysServed { ids.insert(.temporarilyUnavailable) }
        ids.insert(.invalidRequest)
        switch access {
        case .anyone, .userOrAnyone: break
        case .user, .session, .key: ids.formUnion([.unauthenticated, .forbidden, .rateLimited])
        }
        if description.body != nil {
            ids.insert(.payloadTooLarge)
            if takesJSON { ids.insert(.unsupportedMediaType) }
        }
        if !parameterNames.isEmpty { ids.insert(.notFound) }
        if honoursKeys {
            ids.formUnion([.requestInProgress, .idempotencyKeyReused])
            // A replay of an answer that showed a secret, or that was about a user who has been erased.
            if idempotency == .outcomeOnly { ids.insert(.conflict) }
            ids.insert(.notFound)
        }
        return ids
    }
}

extension Route.Tag.Message {
    /// Makes the Path Item Object of a webhook (OpenAPI Specification 3.1.1 section 4.8.1).
    func json(_ tag: String, _ components: inout Components) -> JSONValue {
        .object([
            "post": .object([
                "operationId": .string(id), "summary": .string(summary), "description": .string(note),
                "tags": .array([.string(tag)]), "security": .array([]),
                "requestBody": .object([
                    "required": .bool(true),
                    "content": .object([
                        "application/json": .object([
                            "schema": body.schema(&components.schemas), "example": body.exampleValue(),
                        ])
                    ]),
                ]),
                "responses": .object(["2XX": .object(["description": .string("Taken.")])]),
            ])
        ])
    }
}

extension JSONValue {
    /// Adds a further media type to this response.
    fileprivate mutating func add(_ other: Route.Other, _ components: inout Components) {
        guard case .object(var response) = self, case .object(var content)? = response["content"],
            let mediaType = other.mediaType
        else { return }
        content[mediaType] = .object([
            "schema": (other.shape ?? .string).schema(&components.schemas), "example": .string(other.note),
        ])
        response["content"] = .object(content)
        self = .object(response)
    }
}

extension ErrorID {
    fileprivate var saysWhenToRetry: Bool {
        [.rateLimited, .usageLimitReached, .temporarilyUnavailable, .requestInProgress].contains(self)
    }
}

extension Shape {
    /// True where an empty body is refused.
    fileprivate var isDemanding: Bool {
        switch form {
        case .object(let members): members.contains(where: \.isRequired)
        case .named(_, let shape): shape.isDemanding
        default: true
        }
    }
}

extension Shape {
    /// The body of every refusal; each response lists the ids that its call can answer.
    fileprivate static let error = named(
        "Error",
        .object([
            "code": .integer.noted("The HTTP status again.").shown("404"),
            "msg": .string.noted("For people, in the language of `Accept-Language`.").shown(
                #""There is no such order.""#),
            "error": named("ErrorID", .words(ErrorID.self)),
            "details": .map(.any).noted("What is known of it; `field` where one is wrong.").shown(
                #"{"field":"quantity"}"#),
            "request_id": .id("req"),
        ]))

    /// The body of a refusal on the routes of other clients (`docs/api.md` section 7).
    fileprivate static let flatError = named(
        "FlatError",
        .object([
            "success": .boolean.shown("false"), "error": named("ErrorID", .words(ErrorID.self)), "message": .string,
        ]))

    /// The body of a refusal in OpenIAP's form (`docs/api.md` section 15).
    fileprivate static let openIAPError = named(
        "OpenIAPErrors",
        .object([
            "errors": .list(
                .object(
                    ["code": named("ErrorID", .words(ErrorID.self)), "message": .string.noted("For people.")],
                    optional: ["path": .string.noted("The name of the wrong field.").shown(#""jws""#)]))
        ]))

    /// The name of the items where this is a page of a list; otherwise nil.
    fileprivate var pageItemName: String? {
        guard case .object(let members) = form, members.contains(where: { $0.name == "next_cursor" }),
            case .list(let item, _, _)? = members.first(where: { $0.name == "items" })?.shape.form,
            case .named(let name, _) = item.form
        else { return nil }
        return name
    }
}
