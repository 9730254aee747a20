import Foundation

/// An HTTP/1.1 server on 127.0.0.1 whose connections stay open, with a thread for each.
struct ReceiverServer: Sendable {
    struct Message: Sendable {
        let path: String
        let id: String
        let body: Data
    }

    let port: UInt16
    var base: String { "http://127.0.0.1:\(port)" }

    /// - Parameter answer: the HTTP status of the answer; nil for a silence that lasts until the other side gives up.
    init(_ answer: @escaping @Sendable (Message) -> Int?) throws {
        let listener = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 1_024) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw Server.Failure(description: "nothing can listen for webhooks") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 { continue }
                Thread.detachNewThread { Self.serve(connection, answer) }
            }
        }
    }

    private static func serve(_ connection: Int32, _ answer: (Message) -> Int?) {
        defer { close(connection) }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            while let message = take(&bytes) {
                guard let status = answer(message) else { continue }
                let reply = Array("HTTP/1.1 \(status) Reply\r\nContent-Length: 0\r\n\r\n".utf8)
                guard send(connection, reply, reply.count, Int32(MSG_NOSIGNAL)) == reply.count else { return }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            bytes.append(contentsOf: buffer.prefix(count))
        }
    }

    /// The first whole message, removed from the bytes; nil while none is whole.
    private static func take(_ bytes: inout Data) -> Message? {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[bytes.startIndex..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        func header(_ name: String) -> String {
            let line = lines.dropFirst().first { $0.lowercased().hasPrefix(name + ":") }
            return line?.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) ?? ""
        }
        let length = Int(header("content-length")) ?? 0
        guard bytes.endIndex - end.upperBound >= length else { return nil }
        let body = Data(bytes[end.upperBound..<(end.upperBound + length)])
        bytes = Data(bytes[(end.upperBound + length)...])
        let path = lines.first?.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        return Message(path: path, id: header("webhook-id"), body: body)
    }
}
