import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird

/// One route: who may call it, what it takes and answers, in words and shapes, and what it does.
struct Route: Sendable {
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

    /// A parameter of the query.
    struct Query: Sendable {
        let name: String
        let shape: Shape
        let note: String
        var isRequired = false
    }

    /// What a success is.
    enum Outcome: Sendable {
        /// The `data` of the envelope.
        case data(Shape)
        /// The same with an `ETag`, and 304 without a body where it has not changed.
        case tagged(Shape)
        /// JSON without the envelope.
        case json(Shape)
        /// Something else without the envelope: its media type, and what it is.
        case other(String, String)
    }

    /// Another answer that is no refusal in the usual shape.
    struct Other: Sendable {
        let status: Int
        let note: String
        var mediaType: String?
        var shape: Shape?
    }

    /// What the body is.
    enum Body: Sendable {
        case json(Shape)
        /// Any media type.
        case other(String)
    }

    /// What the OpenAPI document says of a route; shared, because every request copies its route.
    final class Description: Sendable {
        /// The part of the API; nil for a route that is not in the document.
        let tag: Tag?
        /// A sentence without its full stop.
        let summary: String
        let note: String?
        let query: [Query]
        /// The path's parameters that need a word.
        let parameters: [String: String]
        let body: Body?
        let outcome: Outcome
        let others: [Other]
        /// The refusals that are this route's own; those of every route of its kind come with its other members.
        let refusals: [ErrorID]
        /// Refusals that are 410 here, because what was asked for is over.
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
    /// With `{name}` for each parameter, as in the OpenAPI document.
    let path: String
    /// The names between braces.
    let parameterNames: [String]
    let access: Access
    /// Bytes.
    let bodyLimit: Int
    let idempotency: Idempotency
    let errors: ErrorShape
    /// Refuses a request before its body is read; nil lets every one through.
    let admit: (@Sendable (_ parameters: [String: String]) throws(GatewayError) -> Void)?
    /// Answers even when the node is full.
    let isAlwaysServed: Bool
    /// The parameters of the query that it reads; nil where any others are passed over.
    let queryNames: [String]?
    let description: Description
    let handle: @Sendable (Call) async throws(GatewayError) -> Answer

    /// - Parameters:
    ///   - id: the `operationId`.
    ///   - tag: the part of the API; nil keeps the route out of the document.
    ///   - summary: what it does, in a sentence without its full stop.
    ///   - parameters: what the path's parameters are, where that needs a word.
    ///   - outcome: what a success is.
    ///   - others: other answers that are no refusals in the usual shape.
    ///   - refusals: those that are this route's own.
    ///   - gone: refusals that are 410 here.
    ///   - admit: refuses a request before its body is read.
    init(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ access: Access, _ tag: Tag?, _ summary: String,
        note: String? = nil, query: [Query] = [], parameters: [String: String] = [:], body: Body? = nil,
        bodyLimit: Int = 256 << 10, answers outcome: Outcome, or others: [Other] = [], refuses refusals: [ErrorID] = [],
        gone: [ErrorID] = [], idempotency: Idempotency = .stored, isAlwaysServed: Bool = false,
        errors: ErrorShape = .envelope,
        admit: (@Sendable (_ parameters: [String: String]) throws(GatewayError) -> Void)? = nil,
        handle: @escaping @Sendable (Call) async throws(GatewayError) -> Answer
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.access = access
        self.bodyLimit = bodyLimit
        self.idempotency = idempotency
        self.errors = errors
        self.isAlwaysServed = isAlwaysServed
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

    /// A user's reading that has no parameters takes any, as caches and browsers add some.
    private static func queryNames(_ query: [Query], _ access: Access) -> [String]? {
        let names = query.map(\.name)
        if case .key = access { return names }
        return names.isEmpty ? nil : names
    }

    /// Everything under `/v1` but notifications, which come in their providers' own forms.
    private static func takesJSON(_ path: String) -> Bool { path.hasPrefix("/v1/") && !isNotification(path) }
    private static func isNotification(_ path: String) -> Bool { path.hasPrefix("/v1/notify/") }
    private static func isStrict(_ path: String) -> Bool { takesJSON(path) && !path.hasPrefix("/v1/public/iap/") }

    /// Whether its body is JSON of ours, under `/v1`.
    var takesJSON: Bool { Self.takesJSON(path) }

    /// Whether providers send their notifications there.
    var isNotification: Bool { Self.isNotification(path) }

    /// Whether members and parameters that nothing reads are refused: everywhere but in the calls that other clients make
    /// already (`docs/api.md` sections 6 and 7), which may send more than they need.
    var isStrict: Bool { Self.isStrict(path) }

    /// Whether an `Idempotency-Key` counts.
    var honoursKeys: Bool {
        guard method == .post, idempotency != .ignored else { return false }
        if case .anyone = access { return false }
        return true
    }

    /// Whether a path, split at its slashes, is this route's.
    func fits(_ parts: [Substring]) -> Bool {
        let own = path.split(separator: "/")
        return own.count == parts.count && zip(own, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }

    /// - Throws: `invalidRequest` naming the first parameter that it does not know.
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

    /// The parameters of every list that has pages.
    ///
    /// - Parameter cursor: the form of its `next_cursor`.
    static func page(_ cursor: Shape) -> [Self] {
        [
            query("limit", .integer(1...200), "How many items; 50 where it is left out."),
            query("cursor", cursor, "`next_cursor` of the page before."),
        ]
    }

    /// The same of a list that goes by ids with this prefix.
    static func page(of prefix: String) -> [Self] { page(.cursor(prefix)) }
}

extension Route.Outcome {
    /// A list with pages, newest first unless its operation says otherwise.
    static func page(_ item: Shape) -> Self {
        .data(.object(["items": .list(item), "next_cursor": .string.orNull]))
    }
}
