import NIOCore

/// Cuts whole answers off a stream: a head with Content-Length, then so many bytes (RFC 9112 section 6.2).
enum ReplyReader {
    struct Reply {
        let status: Int
        let body: ByteBuffer
    }

    enum Fault: Error {
        /// The head is not one that this reader understands.
        case head
    }

    private static let contentLength = Array("\r\ncontent-length:".utf8)

    /// The first answer, taken from the buffer; nil while it is not whole.
    static func take(_ buffer: inout ByteBuffer) throws -> Reply? {
        guard let head = buffer.withUnsafeReadableBytes({ endOfHead($0) }) else { return nil }
        let parsed = buffer.withUnsafeReadableBytes { bytes in
            parse(UnsafeRawBufferPointer(rebasing: bytes[..<head]))
        }
        guard let (status, length) = parsed else { throw Fault.head }
        guard buffer.readableBytes >= head + length else { return nil }
        buffer.moveReaderIndex(forwardBy: head)
        guard let body = buffer.readSlice(length: length) else { return nil }
        return Reply(status: status, body: body)
    }

    /// How long the head is, its empty line included.
    private static func endOfHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 3
        while index < bytes.count {
            // The last byte of the four decides how far to go on.
            switch bytes[index] {
            case 0x0A:
                if bytes[index - 1] == 0x0D, bytes[index - 2] == 0x0A, bytes[index - 3] == 0x0D { return index + 1 }
                index += 2
            case 0x0D: index += 1
            default: index += 4
            }
        }
        return nil
    }

    private static func parse(_ head: UnsafeRawBufferPointer) -> (status: Int, length: Int)? {
        guard let status = number(head, from: 9), let place = find(contentLength, in: head),
            let length = number(head, from: place + contentLength.count)
        else { return nil }
        return (status, length)
    }

    /// The place of a text in lower case, whatever the case of the head.
    private static func find(_ text: [UInt8], in head: UnsafeRawBufferPointer) -> Int? {
        guard head.count > text.count else { return nil }
        return (0..<(head.count - text.count)).first { start in
            head[start] == text[0]
                && text.indices.allSatisfy { index in
                    let byte = head[start + index]
                    return (byte &- 0x41 < 26 ? byte | 0x20 : byte) == text[index]
                }
        }
    }

    private static func number(_ head: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index < head.count, head[index] == 0x20 { index += 1 }
        var value: Int?
        while index < head.count, head[index] &- 0x30 < 10, value ?? 0 < 1_000_000_000 {
            value = (value ?? 0) * 10 + Int(head[index] - 0x30)
            index += 1
        }
        return value
    }
}
