import AsyncHTTPClient
import Domain
import Foundation
import Gateway
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import ProviderKit

/// The real HTTP client: without redirects, with limits of time and size.
///
/// A call that is made for a request carries the trace of its caller.
struct AsyncTransport: HTTPTransport {
    let client: HTTPClient
    private let tls = OutgoingTLS()

    init() {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.idleTimeout = .seconds(30)
        // Calls are limited for each account. A limit for each host would be a queue that several accounts of one
        // provider share, in which a hanging account delays the others.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4_096
        // A refused connection is reported at once, while it is certain that nothing was sent, so that the caller can
        // try elsewhere.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method)
        outgoing.headers = HTTPHeaders(request.headers.map { ($0.name, $0.value) })
        if let trace = RequestTrace.current?.trace {
            outgoing.headers.replaceOrAdd(name: "traceparent", value: trace.traceparent(SystemDependencies.random))
        }
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(data: request.body)) }
        if let identity = request.identity {
            guard let configuration = try? tls.configuration(identity) else { throw .notSent }
            outgoing.tlsConfiguration = configuration
        }
        let call = outgoing
        do {
            return try await within(.milliseconds(request.timeoutMilliseconds)) { [client] in
                let response = try await client.execute(call, timeout: .milliseconds(request.timeoutMilliseconds))
                let body = try await response.body.collect(upTo: request.maxReplyBytes)
                return IncomingReply(
                    status: Int(response.status.code),
                    headers: response.headers.map { ($0.name.lowercased(), $0.value) }, body: Data(buffer: body))
            }
        } catch {
            throw Self.wasNeverSent(error) ? .notSent : .outcomeUnknown
        }
    }

    /// Limits the time of the whole call with the body of its answer, which the client's own deadline does not cover.
    ///
    /// A sleeping task beside each call would leave a timer until the limit, however early the call ended.
    private func within(
        _ limit: TimeAmount, _ call: @escaping @Sendable () async throws -> IncomingReply
    ) async throws -> IncomingReply {
        // The event loop of the caller, if it runs on one.
        let loop = client.eventLoopGroup.any()
        let running = Task(executorPreference: EventLoopExecutor(loop), operation: call)
        let alarm = loop.scheduleTask(in: limit) { running.cancel() }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            running.cancel()
        }
    }

    /// Returns whether the request was certainly not sent; after any other failure it may have taken effect.
    private static func wasNeverSent(_ error: any Error) -> Bool {
        if error is NIOConnectionError { return true }
        // For a host that is an address; an established connection is never refused.
        if let error = error as? IOError { return error.errnoCode == ECONNREFUSED }
        guard let error = error as? HTTPClientError else { return false }
        return [.connectTimeout, .invalidURL, .emptyHost, .emptyScheme, .tlsHandshakeTimeout].contains(error)
    }
}
