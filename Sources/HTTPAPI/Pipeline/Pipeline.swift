import Domain
import Foundation
import Gateway
import HTTPTypes
import Hummingbird
import Logging
import NIOFoundationEssentialsCompat

/// The processing of every request, in this order: concurrency limit, headers, caller, rate, body, idempotency, use
/// case, envelope.
struct Pipeline: Sendable {
    let gateway: Gateway
    let tokens: UserTokens
    let userLimiter: RateLimiter
    let keyLimiter: RateLimiter
    let sessionLimiter: RateLimiter
    let guesses: GuessLimiter
    let concurrency: ConcurrencyLimit
    let bodies: BodyReader
    let answers: AnswerBudget
    let callers: LocalCallers
    let requests: RequestLog
    let logger: Logger
    let ids: IDSource

    private static let headerLimit = 16 << 10

    /// Runs a route; every error becomes an answer here.
    func respond(
        _ route: Route, _ request: Request, _ parameters: [String: String], from: ClientAddress,
        meter: RouteMeter
    ) async -> Response {
        let requestID = ids.requestID(request.headers[.requestID])
        let trace = request.headers[.traceparent].flatMap(TraceContext.init(traceparent:))
        return await RequestTrace.$current.withValue(RequestTrace(requestID: requestID, trace: trace)) {
            await answer(route, request, parameters, from: from, requestID: requestID, meter: meter)
        }
    }

    private func answer(
        _ route: Route, _ request: Request, _ parameters: [String: String], from: ClientAddress, requestID: String,
        meter: RouteMeter
    ) async -> Response {
        let languages = AcceptLanguage.parse(request.headers[.acceptLanguage])
        let started = ContinuousClock.now
        let response: Response
        var notes = CallNotes()
        do throws(GatewayError) {
            if route.isLocal, let refusal = callers.refusal(of: request.head, from: from) {
                response = Envelope.refused(refusal, languages: languages, requestID: requestID)
            } else {
                response = try await run(
                    route, request, parameters, from: from, requestID: requestID, languages: languages, notes: &notes)
            }
        } catch {
            notes.error = ErrorReply(error).id
            response = Self.refusal(error, of: route, languages: languages, requestID: requestID)
        }
        let duration = ContinuousClock.now - started
        meter.record(response.status, duration)
        requests.add(
            route, response.status, notes, parameters, took: duration, at: gateway.time.real.now, requestID: requestID)
        AccessLine.write(
            to: logger, route, status: response.status, duration, caller: notes.caller, requestID: requestID)
        return response
    }

    /// - Parameter notes: gets what is known of the call, also where it is refused later.
    private func run(
        _ route: Route, _ request: Request, _ parameters: [String: String], from: ClientAddress,
        requestID: String, languages: [String], notes: inout CallNotes
    ) async throws(GatewayError) -> Response {
        guard route.isAlwaysServed || !concurrency.isFull else { throw .temporarilyUnavailable(retryAfter: 1) }
        try checkHeaders(request.headers)
        if !route.isAlwaysServed { try await gateway.clockFollower.refresh() }
        let caller = try await admit(route, request.headers, parameters, from)
        notes.caller = caller
        try limitRate(caller)
        let holder = Self.holder(caller, route, request.headers, from)
        let body = try await bodies.read(request.body, upTo: route.bodyLimit, for: holder)
        defer { bodies.budget.giveBack(body.count, for: holder) }
        try checkMediaType(route, request.headers, body)
        // The request is counted only now, so that clients that send slowly cannot use up the limit.
        guard route.isAlwaysServed || concurrency.enter(isStranger: holder.isStranger) else {
            throw .temporarilyUnavailable(retryAfter: 1)
        }
        defer { if !route.isAlwaysServed { concurrency.leave(isStranger: holder.isStranger) } }
        let query = Self.query(request)
        try route.checkNames(of: query)
        try Self.refuseNUL(route, parameters, query)
        func call(_ run: IdempotentRun?) -> Call {
            Call(
                request: request.head, parameters: parameters, query: query,
                queryText: request.uri.query ?? "", body: body, caller: caller, from: from, requestID: requestID,
                languages: languages, isStrict: route.isStrict, run: run
            ) { (count) throws(GatewayError) in try limitRate(caller, count) }
        }
        guard !route.isDryRun(query), let key = try idempotencyKey(route, request.headers),
            let owner = Self.owner(caller)
        else {
            let response = try await answer(try await route.handle(call(nil)), request, requestID)
            return try answers.counted(response, for: holder)
        }
        let line = [Data(request.method.rawValue.utf8), Data(request.uri.path.utf8)]
        var (claim, storesContract) = (KeyClaim.first, false)
        // A session has one open order at a time: its checkout may change the one before it makes another.
        if case .storedWithContract(let claims) = route.idempotency, !caller.isSession {
            (claim, storesContract) = (claims, true)
        }
        let start = try await gateway.idempotency.begin(
            key: key, caller: owner, request: line + [CanonicalJSON.form(body) ?? body], orAsItCame: line + [body],
            claim: claim, storesContract: storesContract)
        switch start {
        case .replay(let status, let stored):
            let response = try await replay(
                status: status, stored, languages: languages, requestID: requestID, notes: &notes)
            return try answers.counted(response, for: holder)
        case .run(let run):
            let response = try await runOnce(route, call(run), run, requestID: requestID)
            return try answers.counted(response, for: holder)
        }
    }

    // MARK: Idempotency

    private func idempotencyKey(_ route: Route, _ headers: HTTPFields) throws(GatewayError) -> String? {
        guard route.method == .post, route.idempotency != .ignored, let key = headers[.idempotencyKey] else {
            return nil
        }
        guard key.hasBytes(1...255, where: \.isVisible) else {
            throw .invalidRequest(field: "Idempotency-Key", reason: "must be 1 to 255 visible ASCII characters")
        }
        return key
    }

    private static func owner(_ caller: Caller) -> IdempotentCaller? {
        switch caller {
        case .anyone: nil
        case .user(let user): .user(user)
        case .session(let session): .session(session.id)
        case .key(let key): .partner(key.partner)
        }
    }

    /// Runs the use case and stores its answer for the idempotency key; answers that a retry may change are not stored.
    private func runOnce(
        _ route: Route, _ call: Call, _ run: IdempotentRun, requestID: String
    ) async throws(GatewayError) -> Response {
        do throws(GatewayError) {
            let answer = try await route.handle(call)
            guard case .data(let data) = answer else { throw .internalError }
            if !run.progress.isAnswered {
                let kept = route.idempotency == .outcomeOnly ? try SecretOutcome.of(data) : data
                try await gateway.idempotency.finish(run, status: 200, answer: kept)
            }
            return Envelope.success(try await gateway.userNames.fill(data), requestID: requestID)
        } catch {
            let reply = ErrorReply(error)
            if reply.isFinal, let kept = try? Answer.encode(StoredAnswer(error)) {
                try await gateway.idempotency.finish(run, status: reply.status.code, answer: kept)
            } else {
                try? await gateway.idempotency.release(run)
            }
            throw error
        }
    }

    private func replay(
        status: Int, _ stored: Data, languages: [String], requestID: String, notes: inout CallNotes
    ) async throws(GatewayError) -> Response {
        let replayed = HTTPField(name: .idempotencyReplayed, value: "true")
        if status == 200 {
            if let outcome = SecretOutcome(stored) {
                throw .conflict(
                    reason: "this call was made before and showed a secret once", resource: outcome.resource)
            }
            return Envelope.success(try await gateway.userNames.fill(stored), requestID: requestID, extra: [replayed])
        }
        guard let answer = try? JSONDecoder().decode(StoredAnswer.self, from: stored) else { throw .internalError }
        notes.error = answer.error
        var response = Envelope.failure(answer.reply(status: status), languages: languages, requestID: requestID)
        response.headers[.idempotencyReplayed] = "true"
        return response
    }

    // MARK: Answers

    private func answer(
        _ answer: Answer, _ request: Request, _ requestID: String
    ) async throws(GatewayError) -> Response {
        switch answer {
        case .data(let data):
            return Envelope.success(try await gateway.userNames.fill(data), requestID: requestID)
        case .named(let data):
            return Envelope.success(data, requestID: requestID)
        case .headed(let data, let headers):
            return Envelope.success(data, requestID: requestID, extra: headers)
        case .tagged(let data, let vary):
            let tag = ETag.of(data)
            var headers = HTTPFields()
            headers[.vary] = vary
            headers[.eTag] = tag
            headers[.cacheControl] = "private, no-cache"
            headers[.requestID] = requestID
            if ETag.matches(request.headers[.ifNoneMatch], tag) {
                return Response(status: .notModified, headers: headers)
            }
            return Envelope.success(data, requestID: requestID, extra: Array(headers))
        case .raw(let status, let contentType, let body, let extra):
            let body = ResponseBody(byteBuffer: .init(data: body))
            return Self.plain(status, contentType, body, extra, requestID)
        case .streamed(let contentType, let body, let extra):
            return Self.plain(.ok, contentType, body, extra, requestID)
        }
    }

    private static func refusal(
        _ error: GatewayError, of route: Route, languages: [String], requestID: String
    ) -> Response {
        if let page = route.refusalPage?(error, languages, requestID),
            case .raw(let status, let contentType, let body, let extra) = page
        {
            return plain(status, contentType, ResponseBody(byteBuffer: .init(data: body)), extra, requestID)
        }
        guard route.errors == .verifyReceipt else {
            return Envelope.failure(
                ErrorReply(error), languages: languages, requestID: requestID, shape: route.errors)
        }
        return Envelope.verifyReceipt(error, requestID: requestID)
    }

    /// Makes an answer without the envelope.
    private static func plain(
        _ status: HTTPResponse.Status, _ contentType: String, _ body: ResponseBody, _ extra: [HTTPField],
        _ requestID: String
    ) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = contentType
        headers[.requestID] = requestID
        for field in extra { headers[field.name] = field.value }
        return Response(status: status, headers: headers, body: body)
    }

    // MARK: Checks of every request

    func checkHeaders(_ headers: HTTPFields) throws(GatewayError) {
        let size = headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
        guard size <= Self.headerLimit else { throw .headersTooLarge }
    }

    private func checkMediaType(_ route: Route, _ headers: HTTPFields, _ body: Data) throws(GatewayError) {
        guard route.takesJSON, !body.isEmpty, let type = headers[.contentType], type != "application/json"
        else { return }
        let essence = type.split(separator: ";").first.map { $0.filter { $0 != " " }.lowercased() } ?? ""
        guard essence == "application/json" || (essence.hasPrefix("application/") && essence.hasSuffix("+json")) else {
            throw .unsupportedMediaType
        }
    }

    /// Checks the path and finds the caller, before anything of the body is read.
    private func admit(
        _ route: Route, _ headers: HTTPFields, _ parameters: [String: String], _ from: ClientAddress
    ) async throws(GatewayError) -> Caller {
        do throws(GatewayError) {
            try route.admit?(parameters)
            return try await authenticate(headers, route)
        } catch {
            // A request without credentials is no guess.
            if error == .unauthenticated { throw error }
            throw guesses.refusal(error, from: from.address(headers))
        }
    }

    /// Returns the owner of a request's bytes in the memory budget.
    private static func holder(
        _ caller: Caller, _ route: Route, _ headers: HTTPFields, _ from: ClientAddress
    ) -> ByteBudget.Holder {
        switch caller {
        case .user(let user): .user(user)
        case .session(let session): .user(session.user)
        case .key(let key): .key(key.id)
        case .anyone:
            route.isNotification
                ? .provider(from.address(headers)?.source) : .stranger(from.address(headers)?.source)
        }
    }

    /// Refuses U+0000, which SQL text cannot store; the query of a notification is exempt, because the provider signed
    /// it.
    private static func refuseNUL(
        _ route: Route, _ parameters: [String: String], _ query: [String: String]
    ) throws(GatewayError) {
        let query = route.isNotification ? [:] : query
        for (name, value) in parameters.merging(query, uniquingKeysWith: { path, _ in path })
        where name.utf8.contains(0) || value.utf8.contains(0) {
            throw .invalidRequest(
                field: name.utf8.contains(0) ? "" : name, reason: "the path and the query must not contain U+0000")
        }
    }

    private func authenticate(_ headers: HTTPFields, _ route: Route) async throws(GatewayError) -> Caller {
        let access = route.access
        if case .anyone = access { return .anyone }
        if case .userOrAnyone = access, headers[.authorization] == nil { return .anyone }
        if case .key(let scopes) = access, let key = try await consoleKey(headers, route) {
            guard scopes.contains(where: key.allows) else { throw .forbidden }
            return .key(key)
        }
        guard let bearer = headers.bearer else { throw .unauthenticated }
        if bearer.hasPrefix(SessionToken.prefix) {
            let session = try await gateway.sessions.authenticate(token: bearer)
            guard route.sessions.contains(session.purpose) else { throw .forbiddenToSessions }
            return .session(session)
        }
        switch access {
        case .anyone: return .anyone
        case .user, .userOrAnyone: return .user(try await tokens.user(bearer))
        case .session:
            _ = try await tokens.user(bearer)
            throw .needsSession
        case .key(let scopes):
            let key = try await gateway.keys.authenticate(key: bearer)
            guard scopes.contains(where: key.allows) else { throw .forbidden }
            return .key(key)
        }
    }

    /// Finds the key of the console's cookie, which counts for the admins' calls and where no other credentials are sent.
    ///
    /// - Returns: nil where the cookie is not looked at.
    private func consoleKey(_ headers: HTTPFields, _ route: Route) async throws(GatewayError) -> AuthenticatedKey? {
        guard route.path.hasPrefix(ConsoleDoor.path + "/"), headers[.authorization] == nil else { return nil }
        let cookies = ConsoleDoor.cookies(headers)
        guard !cookies.isEmpty else { return nil }
        try ConsoleDoor.requireConsole(headers)
        var refusal = GatewayError.invalidCredential(.noConsoleSession)
        for cookie in cookies {
            do throws(GatewayError) { return try await gateway.consoleSessions.authenticate(cookie: cookie) } catch {
                guard case .invalidCredential = error else { throw error }
                refusal = error
            }
        }
        throw refusal
    }

    private func limitRate(_ caller: Caller, _ count: Int64 = 1) throws(GatewayError) {
        let wait: Int64? =
            switch caller {
            case .anyone: nil
            case .user(let user): userLimiter.take(user.rawValue, count)
            case .session(let session): sessionLimiter.take(session.id.rawValue, count)
            case .key(let key): keyLimiter.take(key.id.rawValue, count)
            }
        if let wait { throw .rateLimited(retryAfter: max(1, wait)) }
    }

    private static func query(_ request: Request) -> [String: String] {
        Dictionary(FormDecoder.decode(request.uri.query ?? "")) { first, _ in first }
    }
}

extension HTTPFields {
    /// The token of the only `Authorization` header, whose scheme may be written in any case (RFC 6750 section 2.1).
    var bearer: String? {
        var found = lazy.filter { $0.name == .authorization }.makeIterator()
        guard let header = found.next()?.value, found.next() == nil else { return nil }
        let scheme = "bearer "
        guard header.utf8.starts(with: scheme.utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        return String(header.dropFirst(scheme.count))
    }
}

extension ByteBudget.Holder {
    fileprivate var isStranger: Bool { if case .stranger = self { true } else { false } }
}

extension ErrorReply {
    /// True for a refusal that is stored for its idempotency key; one that time or a retry can change is not.
    fileprivate var isFinal: Bool {
        switch status.code {
        case 401, 413, 415, 429, 500...: false
        // The accounts that can take a payment change with their health and with changes of an admin.
        default: !["request_in_progress", "no_provider_available"].contains(id)
        }
    }
}
