import Domain
public import FoundationEssentials

/// Calls of an account's service over HTTP, with what all providers' calls share: a log line where no answer came, and an
/// answer read as JSON.
public struct ServiceClient<Refusal: ServiceRefusal>: Sendable {
    private let service: String
    private let context: ProviderContext

    /// - Parameter service: how log lines name it, `paypal`.
    public init(_ service: String, context: ProviderContext) {
        self.service = service
        self.context = context
    }

    /// Sends a request once.
    ///
    /// - Parameter call: what is called, for the log and without anything secret: `POST v2/checkout/orders`.
    /// - Returns: the service's answer of whatever status.
    /// - Throws: `notSent`, or `unanswered` where the request may have arrived.
    public func send(_ request: OutgoingRequest, call: String) async throws(ServiceFailure<Refusal>) -> IncomingReply {
        do throws(HTTPTransportError) {
            return try await context.http.send(request)
        } catch {
            context.log.write(.warning, "\(service): no answer", ["call": call, "error": "\(error)"])
            throw error == .notSent ? .notSent : .unanswered
        }
    }

    /// Reads an answer's JSON, in which no name may come twice.
    ///
    /// - Throws: `unanswered` for anything else: what cannot be read is no answer.
    public func read<Value: Decodable>(
        _ reply: IncomingReply, as: Value.Type = Value.self
    ) throws(ServiceFailure<Refusal>) -> Value {
        guard let value = try? UnambiguousJSON.decode(Value.self, from: reply.body) else { throw .unanswered }
        return value
    }

    /// Writes a call's body as JSON: the names in their order and slashes as they are, so that the same content always has
    /// the same bytes.
    ///
    /// - Throws: `notSent` for content that JSON cannot say.
    public func body(_ content: some Encodable) throws(ServiceFailure<Refusal>) -> Data {
        guard let body = try? JSONText.encoded(content) else { throw .notSent }
        return body
    }
}

extension IncomingReply {
    /// True where the status is 200 to 299.
    public var isSuccess: Bool { (200...299).contains(status) }

    /// The value of the first header of this name, in whatever case; nil where there is none.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }
}
