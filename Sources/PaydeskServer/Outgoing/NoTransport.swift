import ProviderKit

/// The transport of commands that compose the gateway but call no provider.
struct NoTransport: HTTPTransport {
    func send(_: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply { throw .notSent }
}
