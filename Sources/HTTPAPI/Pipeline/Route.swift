import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird

/// A route: its path, callers, description and handler.
struct Route: Sendable {
    enum Access: Sendable {
        case anyone
        /// A user's JWT.
        case user
        /// A user's JWT or no credentials; an invalid JWT is refused.
        case userOrAnyone
        /// A session's token, and no JWT.
        case session
        /// An API key that has one of these scopes.
        case key([Scope])
    }

    enum Idempotency: Sendable, Equatable {
        /// The answer is stored and repeated.
        case stored
        /// The answer, a payment's contract, is stored and repeated; it is stored together with the contract.
        case storedWithContract(claims: KeyClaim)
        /// Only the affected object is stored, because the answer shows a secret.
        case outcomeOnly
        case ignored
    }

    /// The form of a refusal.
    enum ErrorShape: Sendable {
        /// The envelope of `docs/api.md` section 1.
        case envelope
        /// The form of other clients' routes, `{"success":false,"error","message"}` (`docs/api.md` section 7).
        case flat
        /// The form of `/dev/appstore`, `{"error","message"}` (`docs/development.md`).
        case bare
        /// The form of OpenIAP's purchase verification, `{"errors":[{"code","message","path"}]}`.
        case openIAP
        /// A `status` of Apple's `verifyReceipt`, with HTTP status 200 or 429.
        case verifyReceipt
    }

    /// A parameter of the query.
    struct Query: Sendable {
        let name: String
        let shape: Shape
        let note: String
        var isRequired = false
    }

    /// The form of a successful answer.
    enum Outcome: Sendable {
        /// The `data` of the envelope.
        case data(Shape)
        /// The `data` of the envelope with an `ETag`, or 304 without a body where it has not changed.
        case tagged(Shape)
        /// JSON without the envelope.
        case json(Shape)
        /// Another answer without the envelope: its media type and a description.
        case other(String, String)
    }

    /// A further answer that is no refusal in the route's own form.
    struct Other: Sendable {
        let status: Int
        let note: String
        var mediaType: String?
        var shape: Shape?
    }

    /// The form of the request's body.
    enum Body: Sendable {
        case json(Shape)
        /// Any media type.
        case other(String)
    }

    /// The part of a route that only the OpenAPI document uses; a class, because every request copies its route.
    final class Description: Sendable {
        /// The part of the API; nil for a route that is not in the document.
        let tag: Tag?
        /// A sentence without its full stop.
        let summary: String
        let note: String?
        let query: [Query]
        /// The descriptions of path parameters that need one.
        let parameters: [String: String]
        let body: Body?
        let outcome: Outcome
        let others: [Other]
        /// The refusals of this route alone; those of all routes of its kind are added by its other members.
        let refusals: [ErrorID]
        /// The refusals that have status 410 here, because the object has ended.
        let gone: [ErrorID]

        fileprivate init(
            tag: Tag?, summary: String, note: String?, query: [Query], parameters: [String: String], body: Body?,
            outcome: Outcome, others: [Other], refusals: [ErrorID], gone: [ErrorID]
        ) {
            self.tag = tag
            self.summary = summary
            self.note = note
            self.query = query
            self.parameters = parameters
            self.body = body
            self.outcome = outcome
            self.others = others
            self.refusals = refusals
            self.gone = gone
        }
    }

    let id: String
    let method: HTTPRequest.Method
    /// The path with `{name}` for each parameter, as in the OpenAPI document.
    let path: String
    /// The names of the path's parameters.
    let parameterNames: [String]
    let access: Access
    /// The purposes of the sessions that may call the route beside its own callers.
    ///
    /// Every route names its own, so that sessions cannot call one that names none.
    let sessions: Set<Session.Purpose>
    /// The limit of the body in bytes.
    let bodyLimit: Int
    let idempotency: Idempotency
    let errors: ErrorShape
    /// Refuses a request before its body is read; nil admits every request.
    let admit: (@Sendable (_ parameters: [String: String]) throws(GatewayError) -> Void)?
    /// True for a route that only programs and pages of this machine may call; ``LocalCallers`` decides.
    let isLocal: Bool
    /// True for a route that answers while the node is at its limit of concurrent work.
    let isAlwaysServed: Bool
    /// The allowed parameters of the query; nil where unknown ones are ignored.
    let queryNames: [String]?
    let description: Description
    /// Makes the page that a browser sees in the place of a refusal; nil for a refusal in the form of ``errors``.
    var refusalPage: (@Sendable (GatewayError, _ languages: [String], _ requestID: String) -> Answer)?
    let handle: @Sendable (Call) async throws(GatewayError) -> Answer

    /// - Parameters:
    ///   - id: the `operationId`.
    ///   - sessions: the purposes of the sessions that may call it; none unless it says so.
    ///   - tag: the part of the API; nil leaves the route out of the document.
    ///   - summary: a sentence without its full stop.
    ///   - parameters: the descriptions of path parameters that need one.
    ///   - outcome: the form of a successful answer.
    ///   - others: further answers that are no refusals in the route's own form.
    ///   - refusals: the refusals of this route alone.
    ///   - gone: the refusals that have status 410 here.
    ///   - isLocal: refuses callers and pages from elsewhere.
    ///   - admit: refuses a request before its body is read.
    init(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ access: Access,
        sessions: Set<Session.Purpose> = [], _ tag: Tag?, _ summary: String, note: String? = nil, query: [Query] = [],
        parameters: [String: String] = [:], body: Body? = nil,
        bodyLimit: Int = 256 << 10, answers outcome: Outcome, or others: [Other] = [], refuses refusals: [ErrorID] = [],
        gone: [ErrorID] = [], idempotency: Idempotency = .stored, isAlwaysServed: Bool = false,
        isLocal: Bool = false, errors: ErrorShape = .envelope,
        admit: (@Sendable (_ parameters: [String: String]) throws(GatewayError) -> Void)? = nil,
        handle: @escaping @Sendable (Call) async throws(GatewayError) -> Answer
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.access = access
        self.sessions = sessions
        self.bodyLimit = bodyLimit
        self.idempotency = idempotency
        self.errors = errors
        self.isAlwaysServed = isAlwaysServed
        self.isLocal = isLocal
        self.admit = admit
        self.handle = handle
        parameterNames = Self.parameterNames(of: path)
        queryNames = Self.isStrict(path) && tag != nil ? Self.queryNames(query, access) : nil
        description = Description(
            tag: tag, summary: summary, note: note, query: query, parameters: parameters, body: body, outcome: outcome,
            others: others, refusals: refusals, gone: gone)
    }
}

extension Route {
    private static func parameterNames(of path: String) -> [String] {
        path.split(separator: "/").compactMap { part in
            guard let start = part.firstIndex(of: "{"), let end = part.firstIndex(of: "}") else { return nil }
            return String(part[part.index(after: start)..<end])
        }
    }

    /// Returns the allowed parameters of the query; nil for a user's request without any, because caches and browsers
    /// add some.
    private static func queryNames(_ query: [Query], _ access: Access) -> [String]? {
        let names = query.map(\.name)
        if case .key = access { return names }
        return names.isEmpty ? nil : names
    }

    /// Returns true for everything under `/v1` except notifications, which have their providers' own formats.
    private static func takesJSON(_ path: String) -> Bool { path.hasPrefix("/v1/") && !isNotification(path) }
    private static func isNotification(_ path: String) -> Bool { path.hasPrefix("/v1/notify/") }
    private static func isStrict(_ path: String) -> Bool {
        takesJSON(path) && !path.hasPrefix("/v1/public/iap/") && !path.hasPrefix("/v1/purchase/")
    }

    /// True where the body is JSON in Paydesk's own form, under `/v1`.
    var takesJSON: Bool {
        if case .other? = description.body { return false }
        return Self.takesJSON(path)
    }

    /// True where providers send their notifications.
    var isNotification: Bool { Self.isNotification(path) }

    /// True where unknown members and parameters are refused: everywhere except in the calls of existing other clients
    /// (`docs/api.md` sections 6, 7 and 14), which may send more than they need.
    var isStrict: Bool { Self.isStrict(path) }

    /// The parameter with which a call writes nothing, and ignores its `Idempotency-Key`.
    static let dryRun = "dry_run"

    /// Returns whether a call with this query is a dry run.
    func isDryRun(_ query: [String: String]) -> Bool {
        query[Self.dryRun] == "true" && queryNames?.contains(Self.dryRun) == true
    }

    /// True where an `Idempotency-Key` has an effect.
    var honoursKeys: Bool {
        guard method == .post, idempotency != .ignored else { return false }
        if case .anyone = access { return false }
        return true
    }

    /// Returns whether a path, split at its slashes, belongs to this route.
    func fits(_ parts: [Substring]) -> Bool {
        let own = path.split(separator: "/")
        return own.count == parts.count && zip(own, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }

    /// Checks the names of the query's parameters.
    ///
    /// - Throws: `invalidRequest` with the first unknown name.
    func checkNames(of query: [String: String]) throws(GatewayError) {
        guard let queryNames else { return }
        for name in query.keys.sorted() where !queryNames.contains(name) {
            throw .unknownField(name, nearest: NearestName.of(name, among: queryNames))
        }
    }
}

extension Route.Query {
    static func query(_ name: String, _ shape: Shape, _ note: String, isRequired: Bool = false) -> Self {
        Self(name: name, shape: shape, note: note, isRequired: isRequired)
    }

    /// Returns the parameters of every list with pages.
    ///
    /// - Parameter cursor: the form of its `next_cursor`.
    static func page(_ cursor: Shape) -> [Self] {
        [
            query("limit", .integer(1...200), "How many items; 50 where it is left out."),
            query("cursor", cursor, "`next_cursor` of the page before."),
        ]
    }

    /// Returns the parameters of a list that is ordered by ids with this prefix.
    static func page(of prefix: String) -> [Self] { page(.cursor(prefix)) }
}

extension Route.Outcome {
    /// Makes the answer of a list with pages, newest first unless its operation says otherwise.
    static func page(_ item: Shape) -> Self {
        .data(.object(["items": .list(item), "next_cursor": .string.orNull]))
    }
}
