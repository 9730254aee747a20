import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird

/// The caller of a route.
enum Caller: Sendable {
    case anyone
    case user(ExternalUserID)
    /// A browser with the token of a session.
    case session(AuthenticatedSession)
    case key(AuthenticatedKey)

    var isSession: Bool { if case .session = self { true } else { false } }
}

/// A request to a route, authenticated and with its body read.
struct Call: Sendable {
    let request: HTTPRequest
    let parameters: [String: String]
    let query: [String: String]
    let queryText: String
    let body: Data
    let caller: Caller
    let from: ClientAddress
    let requestID: String
    let languages: [String]
    /// True where unknown members of the body are refused.
    let isStrict: Bool
    let run: IdempotentRun?
    /// Charges the caller's rate limit for additional work, such as each signature to verify; callers without
    /// credentials have limits elsewhere.
    let charge: @Sendable (_ count: Int64) throws(GatewayError) -> Void

    /// The user of the token or session; always known on routes with `access: .user`.
    var user: ExternalUserID {
        get throws(GatewayError) {
            switch caller {
            case .user(let user): user
            case .session(let session): session.user
            case .anyone, .key: throw .unauthenticated
            }
        }
    }

    /// The session of the token; nil for other callers.
    var session: AuthenticatedSession? { if case .session(let session) = caller { session } else { nil } }

    /// Checks that a session may see an order before a route uses its id; other callers are checked by the use case.
    ///
    /// - Throws: `orderNotFound`.
    func requireOrder(_ id: String, _ gateway: Gateway) async throws(GatewayError) -> String {
        if let session { try await gateway.sessions.require(id, of: session) }
        return id
    }

    /// The order as this caller sees it: in its language, and without the app's metadata for a session.
    func shown(_ order: OrderSnapshot) -> OrderSnapshot {
        let order = order.speaking(languages)
        return session == nil ? order : order.withoutMetadata
    }

    /// The payer's address, in calls of the payer's own app; nil in a partner's call, which comes from a server.
    var payerAddress: IPAddress? {
        switch caller {
        case .anyone, .key: return nil
        case .user, .session: break
        }
        return from.address(request.headerFields)
    }

    var context: CallContext {
        let actor: Actor =
            switch caller {
            case .anyone: .system("anyone")
            case .user: .user
            case .session(let session): .session(session.id)
            case .key(let key): key.actor
            }
        var context = CallContext(actor: actor, requestID: auditedRequestID, idempotency: run)
        if case .key(let key) = caller {
            context.showsAccounts = key.allows(.admin)
            context.via = key.console == nil ? nil : .console
        }
        return context
    }

    func parameter(_ name: String) throws(GatewayError) -> String {
        guard let value = parameters[name] else { throw .notFound }
        return value
    }

    /// Decodes the body as JSON; an empty body is `{}`.
    ///
    /// - Throws: `invalidRequest` with the path of the member that is unknown, missing or of the wrong type.
    func decode<Value: Decodable>(_: Value.Type = Value.self) throws(GatewayError) -> Value {
        let tree: JSONTree
        do throws(JSONFault) { tree = try JSONTree(body.isEmpty ? Array("{}".utf8) : Array(body)) } catch {
            throw GatewayError(error)
        }
        if isStrict, let unknown = tree.unknownMember(of: Value.self) {
            throw .unknownField(unknown.place, nearest: unknown.nearest)
        }
        do { return try tree.decode(Value.self) } catch { throw GatewayError(decoding: error) }
    }

    /// The query's `limit`, 1–200; 50 where it is absent.
    var limit: Int64 {
        get throws(GatewayError) {
            guard let text = query["limit"] else { return 50 }
            guard let limit = Int64(text), (1...200).contains(limit) else {
                throw .invalidRequest(field: "limit", reason: "must be 1 to 200")
            }
            return limit
        }
    }

    var cursor: String? { query["cursor"] }

    /// Returns a query parameter that must be a word of a closed list.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _: Choice.Type = Choice.self
    ) throws(GatewayError) -> Choice? {
        guard let text = query[name] else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw .invalidRequest(field: name, reason: .words(Choice.allCases.map(\.rawValue)))
        }
        return choice
    }

    func currency(_ name: String) throws(GatewayError) -> Currency? {
        guard let text = query[name] else { return nil }
        guard let currency = Currency(text) else {
            throw .invalidRequest(field: name, reason: "must be an ISO 4217 currency")
        }
        return currency
    }

    func time(_ name: String) throws(GatewayError) -> Timestamp? {
        guard let text = query[name] else { return nil }
        guard text.utf8.count <= 64, let time = Self.seconds(text) ?? Timestamp(iso8601: text) else {
            throw .invalidRequest(field: name, reason: "must be seconds since 1970, a date or an ISO 8601 time")
        }
        return time
    }

    /// Reads at most 18 digits, with a minus sign for times before 1970.
    private static func seconds(_ text: String) -> Timestamp? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard digits.isDigits(1...18) else { return nil }
        return Int64(text).map { Timestamp($0) }
    }

    /// Returns a query parameter that must be an integer.
    func integer(_ name: String) throws(GatewayError) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let number = Int64(text) else { throw .invalidRequest(field: name, reason: "must be an integer") }
        return number
    }
}

/// The body of a call without fields: empty, or an object without members.
struct NoFields: Decodable {
    private enum CodingKeys: CodingKey {}

    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self) }
}
