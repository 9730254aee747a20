import NIOCore

/// Takes whole answers off a stream: a head with Content-Length, then as many bytes (RFC 9112 section 6.2).
enum ReplyReader {
    struct Reply {
        let status: Int
        let body: ByteBuffer
    }

    enum Fault: Error {
        /// The reader does not understand the head.
        case head
    }

    private static let contentLength = Array("\r\ncontent-length:".utf8)

    /// The first whole answer, removed from the buffer; nil while none is whole.
    static func take(_ buffer: inout ByteBuffer) throws -> Reply? {
        guard let head = buffer.withUnsafeReadableBytes({ HeadBytes.end($0) }) else { return nil }
        let parsed = buffer.withUnsafeReadableBytes { bytes in
            parse(UnsafeRawBufferPointer(rebasing: bytes[..<head]))
        }
        guard let (status, length) = parsed else { throw Fault.head }
        guard buffer.readableBytes >= head + length else { return nil }
        buffer.moveReaderIndex(forwardBy: head)
        guard let body = buffer.readSlice(length: length) else { return nil }
        return Reply(status: status, body: body)
    }

    private static func parse(_ head: UnsafeRawBufferPointer) -> (status: Int, length: Int)? {
        guard let status = HeadBytes.number(head, from: 9),
            let length = HeadBytes.number(after: contentLength, in: head)
        else { return nil }
        return (status, length)
    }
}
