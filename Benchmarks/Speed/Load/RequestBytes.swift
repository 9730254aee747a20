import NIOCore

/// Whole requests as bytes, made before anything is measured.
enum RequestBytes {
    static func get(_ path: String, port: UInt16, token: String? = nil, cookie: String? = nil) -> ByteBuffer {
        let more = cookie.map { "Cookie: \($0)\r\n" } ?? ""
        return ByteBuffer(string: "GET \(path) HTTP/1.1\r\n\(fields(port, token))\(more)\r\n")
    }

    /// - Parameter key: an `Idempotency-Key`.
    static func post(_ path: String, port: UInt16, token: String, body: String, key: String? = nil) -> ByteBuffer {
        let more = key.map { "Idempotency-Key: \($0)\r\n" } ?? ""
        let content = "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        return ByteBuffer(string: "POST \(path) HTTP/1.1\r\n\(fields(port, token))\(content)\(more)\r\n\(body)")
    }

    /// The request with which a payment service calls a notify URL.
    static func notification(
        _ path: String, port: UInt16, signature: (name: String, value: String), body: String
    ) -> ByteBuffer {
        let content =
            "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
            + "\(signature.name): \(signature.value)\r\n"
        return ByteBuffer(string: "POST \(path) HTTP/1.1\r\n\(fields(port, nil))\(content)\r\n\(body)")
    }

    private static func fields(_ port: UInt16, _ token: String?) -> String {
        "Host: 127.0.0.1:\(port)\r\n" + (token.map { "Authorization: Bearer \($0)\r\n" } ?? "")
    }
}
