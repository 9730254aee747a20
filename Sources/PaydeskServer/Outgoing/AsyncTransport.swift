import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import ProviderKit

/// The real HTTP client: no redirects, bounded time and size.
struct AsyncTransport: HTTPTransport {
    let client: HTTPClient
    private let tls = OutgoingTLS()

    init() {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.idleTimeout = .seconds(30)
        // Calls are bounded by account. A bound by host would be a queue that the accounts of one provider share, where
        // those of one that hangs hold up the others'.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4_096
        // A refused connection is told at once, while it is known that nothing was sent: whoever calls can try elsewhere.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method)
        outgoing.headers = HTTPHeaders(request.headers.map { ($0.name, $0.value) })
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

    /// Bounds the whole call, its answer's body too, which the client's own deadline does not.
    ///
    /// A task that sleeps beside each call would leave a timer behind until the call's time is over, however soon it ended.
    private func within(
        _ limit: TimeAmount, _ call: @escaping @Sendable () async throws -> IncomingReply
    ) async throws -> IncomingReply {
        // The loop that runs the caller, where one does.
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

    /// Failures before the request was written; every other one may have taken effect.
    private static func wasNeverSent(_ error: any Error) -> Bool {
        if error is NIOConnectionError { return true }
        // Where the host is an address; an established connection is never refused.
        if let error = error as? IOError { return error.errnoCode == ECONNREFUSED }
        guard let error = error as? HTTPClientError else { return false }
        return [.connectTimeout, .invalidURL, .emptyHost, .emptyScheme, .tlsHandshakeTimeout].contains(error)
    }
}
