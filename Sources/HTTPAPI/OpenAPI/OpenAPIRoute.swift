import Domain
import Gateway
import HTTPTypes

extension OpenAPIDocument.Route {
    /// The Operation Object (OpenAPI Specification 3.1.1 section 4.8.10).
    func json(_ tag: String, _ components: inout Components) -> JSONValue {
        var json: [String: JSONValue] = [
            "operationId": .string(operation.id), "summary": .string(operation.summary),
            "tags": .array([.string(tag)]), "security": security,
        ]
        if let note = operation.note { json["description"] = .string(note) }
        let parameters = parameters(&components)
        if !parameters.isEmpty { json["parameters"] = .array(parameters) }
        if let body = operation.body { json["requestBody"] = Self.requestBody(body, &components) }
        json["responses"] = .object(responses(&components))
        return .object(json)
    }

    private var security: JSONValue {
        switch endpoint.access {
        case .anyone: .array([])
        case .user: .array([.object(["user": .array([])])])
        case .userOrAnyone: .array([.object(["user": .array([])]), .object([:])])
        // Each scope is enough.
        case .key(let scopes): .array(scopes.map { .object(["key": .array([.string($0.rawValue)])]) })
        }
    }

    private func parameters(_ components: inout Components) -> [JSONValue] {
        var parameters = endpoint.parameterNames.map { name in
            var parameter: [String: JSONValue] = [
                "name": .string(name), "in": .string("path"), "required": .bool(true),
                "schema": .object(["type": .string("string")]),
            ]
            if let note = operation.parameters[name] { parameter["description"] = .string(note) }
            return JSONValue.object(parameter)
        }
        for query in operation.query {
            parameters.append(
                .object([
                    "name": .string(query.name), "in": .string("query"), "required": .bool(query.isRequired),
                    "description": .string(query.note), "schema": query.shape.schema(&components.schemas),
                ]))
        }
        if endpoint.honoursKeys {
            parameters.append(.object(["$ref": .string("#/components/parameters/IdempotencyKey")]))
        }
        if case .tagged = operation.outcome {
            parameters.append(
                .object([
                    "name": .string("If-None-Match"), "in": .string("header"),
                    "description": .string("The `ETag` of an earlier answer."),
                    "schema": .object(["type": .string("string")]),
                ]))
        }
        return parameters
    }

    private static func requestBody(_ body: Operation.Body, _ components: inout Components) -> JSONValue {
        switch body {
        case .json(let shape):
            .object([
                "required": .bool(shape.isDemanding),
                "content": content("application/json", shape.schema(&components.schemas)),
            ])
        case .other(let note): .object(["description": .string(note), "content": content("*/*", .object([:]))])
        }
    }

    private static func content(_ mediaType: String, _ schema: JSONValue) -> JSONValue {
        .object([mediaType: .object(["schema": schema])])
    }

    // MARK: Answers

    private func responses(_ components: inout Components) -> [String: JSONValue] {
        var responses = ["200": success(&components)]
        for other in operation.others {
            var response: [String: JSONValue] = ["description": .string(other.note)]
            if let mediaType = other.mediaType {
                response["content"] = Self.content(mediaType, (other.shape ?? .string).schema(&components.schemas))
            }
            responses["\(other.status)"] = .object(response)
        }
        if case .tagged = operation.outcome {
            responses["304"] = .object(["description": .string("It has not changed; no body.")])
        }
        for (status, ids) in Dictionary(grouping: refusals, by: \.status.code) where responses["\(status)"] == nil {
            responses["\(status)"] = Self.refusal(
                ids.sorted { $0.rawValue < $1.rawValue }, endpoint.errors, &components)
        }
        return responses
    }

    private func success(_ components: inout Components) -> JSONValue {
        switch operation.outcome {
        case .data(let shape): Self.enveloped(shape, &components)
        case .tagged(let shape): Self.enveloped(shape, &components)
        case .json(let shape):
            .object([
                "description": .string("Done."),
                "content": Self.content("application/json", shape.schema(&components.schemas)),
            ])
        case .other(let mediaType, let note):
            .object([
                "description": .string(note),
                "content": Self.content(mediaType, .object(["type": .string("string")])),
            ])
        }
    }

    private static func enveloped(_ data: Shape, _ components: inout Components) -> JSONValue {
        let envelope = Shape.object([
            "code": .integer(200...200), "msg": .string, "data": data, "request_id": .id("req"),
        ])
        return .object([
            "description": .string("Done."),
            "content": content("application/json", envelope.schema(&components.schemas)),
        ])
    }

    /// The refusals of one status, as a response that operations share.
    private static func refusal(
        _ ids: [ErrorID], _ shape: Endpoint.ErrorShape, _ components: inout Components
    ) -> JSONValue {
        let flat = shape == .flat ? ["flat"] : []
        let name = (flat + ids.map(\.rawValue)).joined(separator: ".")
        if components.responses[name] == nil {
            let error = Shape(.words(ids.map(\.rawValue)))
            let body =
                shape == .flat
                ? Shape.object(["success": .boolean, "error": error, "message": .string])
                : Shape.object([
                    "code": .integer, "msg": .string, "error": error, "details": .map(.string), "request_id": .string,
                ])
            var response: [String: JSONValue] = [
                "description": .string(ids.map { "`\($0.rawValue)`" }.joined(separator: ", ")),
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

    /// What the route itself refuses, and what every route of its kind does.
    var refusals: Set<ErrorID> {
        guard endpoint.errors != .verifyReceipt else { return [] }
        var ids = Set(operation.refusals + [.internalError, .headersTooLarge])
        if !endpoint.isAlwaysServed { ids.insert(.temporarilyUnavailable) }
        ids.insert(.invalidRequest)
        switch endpoint.access {
        case .anyone, .userOrAnyone: break
        case .user: ids.formUnion([.unauthenticated, .rateLimited])
        case .key: ids.formUnion([.unauthenticated, .forbidden, .rateLimited])
        }
        if operation.body != nil {
            ids.insert(.payloadTooLarge)
            if endpoint.takesJSON { ids.insert(.unsupportedMediaType) }
        }
        if !endpoint.parameterNames.isEmpty { ids.insert(.notFound) }
        if endpoint.honoursKeys {
            ids.formUnion([.requestInProgress, .idempotencyKeyReused])
            // A replay of a secret that was shown, and of an answer about a person who was erased.
            if endpoint.idempotency == .outcomeOnly { ids.insert(.conflict) }
            ids.insert(.notFound)
        }
        return ids
    }
}

extension OperationGroup.Message {
    /// The Path Item Object of a webhook (OpenAPI Specification 3.1.1 section 4.8.1).
    func json(_ tag: String, _ components: inout Components) -> JSONValue {
        .object([
            "post": .object([
                "operationId": .string(id), "summary": .string(summary), "description": .string(note),
                "tags": .array([.string(tag)]), "security": .array([]),
                "requestBody": .object([
                    "required": .bool(true),
                    "content": .object([
                        "application/json": .object(["schema": body.schema(&components.schemas)])
                    ]),
                ]),
                "responses": .object(["2XX": .object(["description": .string("Taken.")])]),
            ])
        ])
    }
}

extension ErrorID {
    fileprivate var saysWhenToRetry: Bool {
        [.rateLimited, .usageLimitReached, .temporarilyUnavailable, .requestInProgress].contains(self)
    }
}

extension Endpoint {
    /// Whether an `Idempotency-Key` counts.
    fileprivate var honoursKeys: Bool {
        guard method == .post, idempotency != .ignored else { return false }
        if case .anyone = access { return false }
        return true
    }
}

extension Shape {
    /// Whether an empty body does not fit.
    fileprivate var isDemanding: Bool {
        switch form {
        case .object(let members): members.contains(where: \.isRequired)
        case .named(_, let shape): shape.isDemanding
        default: true
        }
    }
}
