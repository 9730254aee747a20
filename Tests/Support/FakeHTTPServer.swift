import Foundation
package import ProviderKit

/// An HTTP/1.1 server on 127.0.0.1 that answers the one request of each connection by a closure.
///
/// Tests use the server in place of a payment service, for clients that need a real address.
package final class FakeHTTPServer: Sendable {
    package typealias Answer = @Sendable (OutgoingRequest) -> IncomingReply

    private let listener: LoopbackListener
    private let answer: Answer

    package var port: UInt16 { listener.port }
    package var base: String { "http://127.0.0.1:\(port)" }

    package init(_ answer: @escaping Answer) throws {
        listener = try LoopbackListener()
        self.answer = answer
        let thread = Thread { [self] in
            while let connection = listener.accept() {
                Thread { [self] in serve(connection) }.start()
            }
        }
        thread.start()
    }

    package func stop() {
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        listener.close()
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var bytes = Data()
        while let part = Loopback.receive(connection) {
            bytes += part
            guard let request = Self.request(bytes) else { continue }
            let reply = answer(request)
            var head = "HTTP/1.1 \(reply.status) Reply\r\nConnection: close\r\n"
            if reply.status != 204 { head += "Content-Length: \(reply.body.count)\r\n" }
            for header in reply.headers { head += "\(header.name): \(header.value)\r\n" }
            _ = Loopback.send(connection, [UInt8]("\(head)\r\n".utf8) + reply.body)
            return
        }
    }

    /// The request; nil while it is not whole.
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
            body: Data(bytes[end.upperBound..<(end.upperBound + length)]))
    }
}
