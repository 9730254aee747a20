import Foundation
import ProviderKit
import Synchronization
import TestSupport

/// An HTTP/1.1 server on 127.0.0.1 with one request on each connection, answered by a closure.
final class LoopbackServer: Sendable {
    typealias Answer = @Sendable (OutgoingRequest) -> IncomingReply

    struct Failure: Error {}

    let port: UInt16
    private let listener: Int32
    private let answer: Answer

    init(_ answer: @escaping Answer) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw Failure() }
        self.listener = listener
        self.answer = answer
        port = UInt16(bigEndian: address.sin_port)
        let thread = Thread { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread { [self] in serve(connection) }.start()
            }
        }
        thread.start()
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let request = Self.request(bytes) {
                let reply = answer(request)
                var head =
                    "HTTP/1.1 \(reply.status) Reply\r\nConnection: close\r\nContent-Length: \(reply.body.count)\r\n"
                for header in reply.headers { head += "\(header.name): \(header.value)\r\n" }
                let all = [UInt8]("\(head)\r\n".utf8) + reply.body
                _ = send(connection, all, all.count, Int32(MSG_NOSIGNAL))
                return
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            bytes += buffer.prefix(count)
        }
    }

    /// Returns the request, once it is complete.
    private static func request(_ bytes: Data) -> OutgoingRequest? {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (name: line[..<colon].lowercased(), value: value)
        }
        let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        let words = lines[0].split(separator: " ").map(String.init)
        guard words.count == 3, bytes.count >= end.upperBound + length else { return nil }
        return OutgoingRequest(
            method: words[0], url: "http://127.0.0.1\(words[1])", headers: headers,
            body: bytes[end.upperBound..<(end.upperBound + length)])
    }
}

/// A transport to a local process over HTTP.
struct LoopbackTransport: HTTPTransport {
    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        guard let url = URL(string: request.url), let port = url.port.flatMap({ UInt16(exactly: $0) }) else {
            throw .notSent
        }
        let target = url.path + (url.query.map { "?\($0)" } ?? "")
        let headers = Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first }
        let body = String(decoding: request.body, as: UTF8.self)
        guard let reply = await LoopbackHTTP.send(request.method, target, port: port, headers: headers, body: body)
        else {
            throw .outcomeUnknown
        }
        return IncomingReply(status: reply.status, body: Data(reply.body.utf8))
    }
}
