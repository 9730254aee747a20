import Foundation
import Synchronization

/// A port of 127.0.0.1 on which no process listens.
///
/// The ports lie below those that the kernel gives to connections and to listeners without a port of their own: the
/// kernel could otherwise give one away before its owner has started.
package enum FreePort {
    private static let range = UInt32(10_000)..<20_000
    private static let count = Atomic<UInt32>(UInt32(truncatingIfNeeded: getpid()) &* 61)

    package static func next() throws -> UInt16 {
        for _ in range {
            let number = count.wrappingAdd(1, ordering: .relaxed).newValue
            let port = UInt16(range.lowerBound + number % UInt32(range.count))
            guard let listener = try? LoopbackListener(port: port) else { continue }
            listener.close()
            return port
        }
        throw PostgresCluster.Failure(description: "no port of 127.0.0.1 is free")
    }
}

/// An HTTP/1.1 exchange with a process on this machine, on a connection of its own.
package enum LoopbackHTTP {
    package struct Reply: Sendable {
        package let status: Int
        package let head: String
        package let body: String
    }

    /// - Returns: nil when no process listens, or when the connection ended before the answer.
    package static func send(
        _ method: String, _ path: String, port: UInt16, headers: [String: String] = [:], body: String = ""
    ) async -> Reply? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: exchange(method, path, port, headers, body))
            }
        }
    }

    /// Sends a text, and returns the bytes that come until the other side closes the connection.
    package static func untilClosed(_ text: String, port: UInt16) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                guard let connection = Loopback.connect(port) else {
                    return continuation.resume(throwing: SpawnedProgram.Failure(description: "nobody listens"))
                }
                defer { close(connection) }
                var bytes: [UInt8] = []
                if Loopback.send(connection, Array(text.utf8)) {
                    while let part = Loopback.receive(connection) { bytes += part }
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    private static func exchange(
        _ method: String, _ path: String, _ port: UInt16, _ headers: [String: String], _ body: String
    ) -> Reply? {
        guard let connection = Loopback.connect(port) else { return nil }
        defer { close(connection) }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let standard = [
            "Host": "127.0.0.1:\(port)", "Connection": "close", "Content-Length": String(body.utf8.count),
            "Content-Type": "application/json",
        ]
        let lines = standard.merging(headers) { $1 }.map { "\($0.key): \($0.value)\r\n" }.joined()
        guard Loopback.send(connection, Array("\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body)".utf8)) else {
            return nil
        }
        var bytes: [UInt8] = []
        while let part = Loopback.receive(connection) { bytes += part }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n"), let status = text.split(separator: " ").dropFirst().first,
            let code = Int(status)
        else { return nil }
        return Reply(status: code, head: String(text[..<end.lowerBound]), body: String(text[end.upperBound...]))
    }
}
