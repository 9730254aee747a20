import Dispatch
import Foundation
import Synchronization

/// A client's connection to the server, kept open between requests, with a queue of its own.
///
/// A shared queue would run only as many requests at once as the machine has cores.
final class HTTPConnection: Sendable {
    struct Reply: Sendable {
        let status: Int
        let body: Data
    }

    private let port: UInt16
    /// The seconds for which it waits for bytes.
    private let patience: Int
    private let queue = DispatchQueue(label: "paydesk-faults.connection")
    private let socket = Mutex<Int32?>(nil)

    init(port: UInt16, patience: Int = 30) {
        self.port = port
        self.patience = patience
    }

    deinit { socket.withLock { descriptor in if let descriptor { close(descriptor) } } }

    /// - Returns: nil when the server does not listen, or when the connection ended before the whole answer.
    func send(_ request: Request) async -> Reply? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.exchange(request)) }
        }
    }

    private func exchange(_ request: Request) -> Reply? {
        socket.withLock { open in
            guard let descriptor = open ?? connect() else { return nil }
            open = nil
            let fields = request.headers.merging(
                ["Host": "127.0.0.1:\(port)", "Content-Length": String(request.body.utf8.count)]
            ) { $1 }
            let head = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            let text = "\(request.method) \(request.path) HTTP/1.1\r\n\(head)\r\n\(request.body)"
            guard write(Array(text.utf8), to: descriptor), let reply = read(from: descriptor) else {
                close(descriptor)
                return nil
            }
            open = descriptor
            return reply
        }
    }

    private func connect() -> Int32? {
        #if os(Linux)
            let descriptor = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
            let descriptor = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Foundation.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Writes all bytes; a closed connection is an error and not a signal that ends the process.
    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Foundation.send(
                    descriptor, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func read(from descriptor: Int32) -> Reply? {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let end = bytes.range(of: Data("\r\n\r\n".utf8)) {
                let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
                guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }),
                    let length = Self.contentLength(lines)
                else { return nil }
                if bytes.count - end.upperBound >= length {
                    return Reply(status: status, body: Data(bytes[end.upperBound...].prefix(length)))
                }
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes.append(contentsOf: buffer.prefix(count))
        }
    }

    private static func contentLength(_ lines: [Substring]) -> Int? {
        lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)) }
    }
}
