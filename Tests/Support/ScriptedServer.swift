import Dispatch
import Foundation
import Synchronization

/// An HTTP server on 127.0.0.1 that answers every request with the same bytes, or never.
package final class ScriptedServer: Sendable {
    private struct State {
        var requests: [String] = []
        var connections = 0
        var sent = 0
        var open: Set<Int32> = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    package let port: UInt16
    private let answer: [String]
    private let listener: LoopbackListener
    private let state = Mutex(State())

    /// - Parameter answer: the pieces that are sent one after another; an empty list keeps the connection open in
    ///   silence.
    package init(_ answer: [String]) throws {
        self.answer = answer
        listener = try LoopbackListener()
        port = listener.port
        let thread = Thread { [self] in
            while let connection = listener.accept() {
                state.withLock { state in
                    state.connections += 1
                    state.open.insert(connection)
                }
                let serving = Thread { [self] in serve(connection) }
                serving.start()
            }
        }
        thread.start()
    }

    package var requests: [String] { state.withLock { $0.requests } }
    package var connections: Int { state.withLock { $0.connections } }
    package var sentBytes: Int { state.withLock { $0.sent } }

    /// Returns when no connection is open.
    package func end() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.open.isEmpty { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    package func stop() {
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        listener.close()
        state.withLock { state in
            for connection in state.open { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private func serve(_ connection: Int32) {
        var bytes: [UInt8] = []
        serving: while let part = Loopback.receive(connection) {
            bytes += part
            while let request = Self.takeRequest(&bytes) {
                state.withLock { $0.requests.append(request) }
                for piece in answer {
                    guard Loopback.send(connection, Array(piece.utf8)) else { break serving }
                    state.withLock { $0.sent += piece.utf8.count }
                }
            }
        }
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.open.remove(connection)
            close(connection)
            guard state.open.isEmpty else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Takes the first whole request off the bytes; bytes that are no POST request are taken as they are.
    private static func takeRequest(_ bytes: inout [UInt8]) -> String? {
        guard !bytes.isEmpty else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix("POST ") else {
            defer { bytes = [] }
            return text
        }
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let head = text[..<end.lowerBound]
        let length =
            head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).filter { $0 != " " }) } ?? 0
        let size = text[..<end.upperBound].utf8.count + length
        guard bytes.count >= size else { return nil }
        defer { bytes.removeFirst(size) }
        return String(decoding: bytes.prefix(size), as: UTF8.self)
    }
}
