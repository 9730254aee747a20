import Foundation
package import ProviderKit

/// Calls of a process on this machine over HTTP, as a provider makes them.
package struct LoopbackTransport: HTTPTransport {
    package init() {}

    package func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        let parts = request.url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count == 3, let port = parts[1].split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw .notSent
        }
        let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first }
        let reply = await LoopbackHTTP.send(
            request.method, "/\(parts[2])", port: port, headers: headers,
            body: String(decoding: request.body, as: UTF8.self))
        guard let reply else { throw .outcomeUnknown }
        return IncomingReply(status: reply.status, body: Data(reply.body.utf8))
    }
}
