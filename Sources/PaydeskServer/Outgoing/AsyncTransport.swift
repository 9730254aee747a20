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
            return try await Self.within(.milliseconds(request.timeoutMilliseconds)) { [client] in
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
    private static func within(
        _ limit: Duration, _ call: @escaping @Sendable () async throws -> IncomingReply
    ) async throws -> IncomingReply {
        try await withThrowingTaskGroup(of: IncomingReply.self) { group in
            group.addTask(operation: call)
            group.addTask {
                try await Task.sleep(for: limit)
                throw HTTPTransportError.outcomeUnknown
            }
            defer { group.cancelAll() }
            guard let reply = try await group.next() else { throw HTTPTransportError.outcomeUnknown }
            return reply
        }
    }

    /// Failures before the request was written; every other one may have taken effect.
    private static func wasNeverSent(_ error: any Error) -> Bool {
        if error is NIOConnectionError { return true }
        guard let error = error as? HTTPClientError else { return false }
        return [.connectTimeout, .invalidURL, .emptyHost, .emptyScheme, .tlsHandshakeTimeout].contains(error)
    }
}
