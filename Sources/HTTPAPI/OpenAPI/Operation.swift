import Domain
import HTTPTypes

/// What a route takes and answers, in words and shapes; who may call it is its ``Endpoint``'s.
struct Operation: Sendable {
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

    let id: String
    let method: HTTPRequest.Method
    let path: String
    /// What it does, in a sentence without its full stop.
    let summary: String
    var note: String?
    var query: [Query]
    /// The path's parameters that need a word.
    var parameters: [String: String]
    var body: Body?
    let outcome: Outcome
    let others: [Other]
    /// The refusals that are this route's own; those of every route of its kind come with its endpoint.
    let refusals: [ErrorID]
    /// Refusals that are 410 here, because what was asked for is over.
    let gone: [ErrorID]

    init(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ summary: String, note: String? = nil,
        query: [Query] = [], parameters: [String: String] = [:], body: Body? = nil, answers outcome: Outcome,
        or others: [Other] = [], refuses refusals: [ErrorID] = [], gone: [ErrorID] = []
    ) {
        self.id = id
        self.method = method
        self.path = path
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

/// The operations of one part of the API.
struct OperationGroup: Sendable {
    let name: String
    let note: String
    let operations: [Operation]
    /// What Paydesk sends to an endpoint of the caller's.
    var message: Message?

    struct Message: Sendable {
        let id: String
        let summary: String
        let note: String
        let body: Shape
    }
}

extension Operation.Query {
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

extension Operation.Outcome {
    /// A list with pages, newest first unless its operation says otherwise.
    static func page(_ item: Shape) -> Self {
        .data(.object(["items": .list(item), "next_cursor": .string.orNull]))
    }
}
