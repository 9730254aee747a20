import Foundation
package import ProviderKit

/// Calls a process on this machine over HTTP.
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
        let lines = reply.head.components(separatedBy: "\r\n").dropFirst()
        return IncomingReply(
            status: reply.status,
            headers: lines.compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                return (name: line[..<colon].lowercased(), value: value)
            }, body: Data(reply.body.utf8))
    }
}
