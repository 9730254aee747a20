import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird

/// One route: who may call it, how large its body may be, and what it does.
struct Endpoint: Sendable {
    enum Access: Sendable {
        case anyone
        /// A user's JWT.
        case user
        /// A user's JWT, or none at all; a wrong one is refused.
        case userOrAnyone
        /// An API key that has one of these scopes.
        case key([Scope])
    }

    enum Idempotency: Sendable {
        /// The answer is kept and given again.
        case stored
        /// Only the outcome is kept, because the answer shows a secret.
        case outcomeOnly
        case ignored
    }

    /// The shape of a refusal.
    enum ErrorShape: Sendable {
        /// `api.md` section 1.
        case envelope
        /// `{"success":false,"error","message"}` of the older clients, `api.md` section 7.
        case flat
        /// A `status` of Apple's `verifyReceipt`, always with HTTP status 200.
        case verifyReceipt
    }

    let method: HTTPRequest.Method
    /// With `{name}` for each parameter, as in the OpenAPI document.
    let path: String
    let access: Access
    let bodyLimit: Int
    let idempotency: Idempotency
    let errors: ErrorShape
    /// Refuses a request before its body is read; nil lets every one through.
    let admit: (@Sendable (_ parameters: [String: String]) throws(GatewayError) -> Void)?
    /// Answers even when the node is full.
    let isAlwaysServed: Bool
    /// The parameters of the query that it reads; nil where any others are passed over.
    var queryNames: [String]?
    let handle: @Sendable (Call) async throws(GatewayError) -> Answer

    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, bodyLimit: Int = 256 << 10,
        idempotency: Idempotency = .stored, isAlwaysServed: Bool = false,
        errors: ErrorShape = .envelope,
        admit: (@Sendable (_ parameters: [String: String]) throws(GatewayError) -> Void)? = nil,
        handle: @escaping @Sendable (Call) async throws(GatewayError) -> Answer
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.bodyLimit = bodyLimit
        self.idempotency = idempotency
        self.errors = errors
        self.isAlwaysServed = isAlwaysServed
        self.admit = admit
        self.handle = handle
    }
}

/// What an endpoint answers.
enum Answer: Sendable {
    /// The `data` of the envelope, as JSON bytes.
    case data(Data)
    /// `data` that names users as the app does, none of which is taken for an internal id; the answer to a GET only.
    case named(Data)
    /// `data` with an ETag over its bytes.
    case tagged(Data)
    /// Something without the envelope.
    case raw(status: HTTPResponse.Status, contentType: String, body: Data, headers: [HTTPField])
    /// Something without the envelope that is sent piece by piece as the client takes it; the answer to a GET only.
    case streamed(contentType: String, body: ResponseBody, headers: [HTTPField])

    /// Encodes the `data` of the envelope: keys sorted, so that equal values have equal bytes.
    static func json(_ value: some Encodable) throws(GatewayError) -> Answer { .data(try encode(value)) }

    /// ``json(_:)`` of what names users as the app does.
    static func namedJSON(_ value: some Encodable) throws(GatewayError) -> Answer { .named(try encode(value)) }

    /// A page of a list, cut where its bytes are too many; `next_cursor` goes on behind what it shows.
    static func page(_ page: Page<some Encodable>) async throws(GatewayError) -> Answer {
        .data(try await encode(page))
    }

    /// ``page(_:)`` of what names users as the app does.
    static func namedPage(_ page: Page<some Encodable>) async throws(GatewayError) -> Answer {
        .named(try await encode(page))
    }

    static func encode(_ value: some Encodable) throws(GatewayError) -> Data {
        do { return try encoder().encode(value) } catch { throw .internalError }
    }

    /// So many items are encoded where the request runs; more of them would hold up its event loop.
    private static let fewItems = 20

    private static func encode(_ page: Page<some Encodable>) async throws(GatewayError) -> Data {
        guard page.items.count > fewItems else { return try encodeNow(page) }
        return try await BackgroundThreads.encoding.run { () throws(GatewayError) in try encodeNow(page) }
    }

    private static func encodeNow(_ page: Page<some Encodable>) throws(GatewayError) -> Data {
        let encoder = encoder()
        var json = Data(#"{"items":["#.utf8)
        var next = page.nextCursor
        for (index, item) in page.items.enumerated() {
            let text: Data
            do { text = try encoder.encode(item) } catch { throw .internalError }
            // The first is shown whatever its size, so that a reader comes on.
            if index > 0, json.count + text.count > PageSize.bytes {
                next = page.cursors[index - 1]
                break
            }
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json.append(text)
        }
        json.append(contentsOf: #"],"next_cursor":"#.utf8)
        do { json.append(try encoder.encode(next)) } catch { throw .internalError }
        json.append(UInt8(ascii: "}"))
        return json
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

/// Who makes a call.
enum Caller: Sendable {
    case anyone
    case user(ExternalUserID)
    case key(AuthenticatedKey)
}

/// One request on its way through an endpoint: authenticated, its body read.
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
    /// Whether members of the body that nothing reads are refused.
    let isStrict: Bool
    let run: IdempotentRun?
    /// Charges the caller's rate for so much work, such as the signatures to check; whoever has no credentials pays
    /// elsewhere.
    let charge: @Sendable (_ count: Int64) throws(GatewayError) -> Void

    /// The user of the token; endpoints with `access: .user` always have one.
    var user: ExternalUserID {
        get throws(GatewayError) {
            guard case .user(let user) = caller else { throw .unauthenticated }
            return user
        }
    }

    /// Where the payer is: of a call that the payer's own app makes; a partner's server calls from somewhere else.
    var payerAddress: IPAddress? {
        guard case .user = caller else { return nil }
        return from.address(request.headerFields)
    }

    var context: CallContext {
        let actor: Actor =
            switch caller {
            case .anyone: .system("anyone")
            case .user: .user
            case .key(let key): key.actor
            }
        var context = CallContext(actor: actor, requestID: auditedRequestID, idempotency: run)
        if case .key(let key) = caller { context.showsAccounts = key.allows(.admin) }
        return context
    }

    func parameter(_ name: String) throws(GatewayError) -> String {
        guard let value = parameters[name] else { throw .notFound }
        return value
    }

    /// The body as JSON; an empty body is `{}`.
    ///
    /// - Throws: `invalidRequest` naming the member that is not known, has the wrong type or is missing, with its place.
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

    /// `?limit=`, 1–200, 50 where it is absent.
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

    /// A query parameter that must be one of a closed list.
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

    /// At most 18 digits, with a minus sign before 1970.
    private static func seconds(_ text: String) -> Timestamp? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard digits.isDigits(1...18) else {
            return nil
        }
        return Int64(text).map { Timestamp($0) }
    }
}
