import Domain
import Gateway
import HTTPTypes

/// Routes by which the console signs in and out (`docs/api.md` section 14).
struct ConsoleSessionRoutes {
    let gateway: Gateway
    let callers: LocalCallers
    /// The wrong tries of each address.
    let limiter: RateLimiter

    /// The wrong tries of an address in a minute, after which it is refused whatever it sends.
    static let triesPerMinute: Int64 = 10

    private static let path = "/v1/admin/console/session"
    private var door: ConsoleDoor { ConsoleDoor(publicURL: gateway.settings.publicURL) }

    var routes: [Route] {
        [
            Route(
                "openConsole", .post, Self.path, .anyone, .console, "Signs in to the console",
                note: "Sets the cookie. After ten wrong tries in a minute an address is refused whatever it sends.",
                body: .json(.consoleSignIn), bodyLimit: 4 << 10, answers: .data(.consoleSession),
                refuses: [.unauthenticated, .forbidden, .rateLimited], idempotency: .ignored, handle: open),
            Route(
                "readConsole", .get, Self.path, .key([.admin, .adminRead]), .console, "Who is signed in",
                note: "By the cookie alone; a key is refused.", answers: .data(.consoleSession), handle: read),
            Route(
                "closeConsole", .delete, Self.path, .anyone, .console, "Signs out of the console",
                note: "Clears the cookie; the same without a session.", answers: .data(.object([:])),
                refuses: [.forbidden], handle: close),
        ]
    }

    private func open(_ call: Call) async throws(GatewayError) -> Answer {
        let headers = call.request.headerFields
        let type = headers[.contentType]?.split(separator: ";").first.map { $0.filter { $0 != " " }.lowercased() }
        guard type == "application/json" else { throw .unsupportedMediaType }
        try ConsoleDoor.requireConsole(headers)
        let credential = try call.decode(SignInFields.self).credential
        let address = call.from.address(headers)?.source.description ?? "unknown"
        // Taken before the key is looked at, so that many at once are no way around the limit.
        if let wait = limiter.take(address) { throw .rateLimited(retryAfter: max(1, wait)) }
        let opened: OpenedConsole
        do throws(GatewayError) { opened = try await open(credential, call) } catch {
            if case .invalidCredential = error { throw error }
            limiter.giveBack(address)
            throw error
        }
        limiter.giveBack(address)
        return .headed(try Answer.encode(opened.session), [door.opening(opened.cookie)])
    }

    private func open(_ credential: SignInFields.Credential, _ call: Call) async throws(GatewayError) -> OpenedConsole {
        switch credential {
        case .key(let key):
            return try await gateway.consoleSessions.signIn(key: key, requestID: call.auditedRequestID)
        case .once(let code):
            let refusal = callers.refusal(of: call.request, from: call.from)
            guard refusal == nil || refusal == .mediaType else { throw .invalidCredential(.noSignIn) }
            return try await gateway.consoleSessions.signIn(once: code, requestID: call.auditedRequestID)
        }
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        guard let session = try call.callingKey.console else { throw .unauthenticated }
        return try .json(session)
    }

    private func close(_ call: Call) async throws(GatewayError) -> Answer {
        try ConsoleDoor.requireConsole(call.request.headerFields)
        for cookie in ConsoleDoor.cookies(call.request.headerFields) {
            try await gateway.consoleSessions.end(cookie: cookie, requestID: call.auditedRequestID)
        }
        return .headed(try Answer.encode([String: String]()), [door.closing])
    }
}

/// The body of signing in: a key, or the code of the link that `serve` printed.
private struct SignInFields: Decodable {
    enum Credential {
        case key(String)
        case once(String)
    }

    let key: String?
    let once: String?

    /// - Throws: `invalidRequest`.
    var credential: Credential {
        get throws(GatewayError) {
            switch (key, once) {
            case (let key?, nil): return .key(key)
            case (nil, let once?): return .once(once)
            case (nil, nil): throw .invalidRequest(field: "key", reason: "is missing")
            case (_?, _?): throw .invalidRequest(field: "once", reason: "either key or once, not both")
            }
        }
    }
}

extension Shape {
    fileprivate static let consoleSignIn = named(
        "ConsoleSignIn",
        .object(
            [:],
            optional: [
                "key": .string.noted("An API key with `admin` or `admin:read`.").shown(#""pdk_…""#),
                "once": .string.noted(
                    "The code of the link that `serve` prints in development, in the place of the key."),
            ]
        ).shown(#"{"key":"pdk_…"}"#))

    fileprivate static let consoleSession = named(
        "ConsoleSession",
        .object([
            "key_id": .id("key"), "name": .string, "scopes": .list(.words(Scope.self)),
            "expires_at": .time.noted("At most 12 hours ahead; the key's own end where that is earlier."),
            "idle_seconds": .integer.noted("The seconds without a call after which it ends.").shown("3600"),
        ]))
}
